package blocks

import "testing"

func TestFoldTodo(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"- [x] a\n- [ ] b\n", "- [x] a\n- [ ] b\n"},
		{"# Plan\n- [x] a\n- [x] b\n- [ ] c\n", "# Plan\n- [x] 2 done, last: b (todo.md)\n- [ ] c\n"},
		{"- [ ] a\n- [x] b\n  with a note\n\n  and one more\n- [ ] c\n- [X] d", "- [ ] a\n- [x] 2 done, last: d (todo.md)\n- [ ] c\n"},
		{"- [x] a\n  - [ ] inside\n  - [x] done inside\n- [ ] b\n", "  - [x] 2 done, last: done inside (todo.md)\n  - [ ] inside\n- [ ] b\n"},
		{"* [x] a\n* [x] b\nSome words.\n", "- [x] 2 done, last: b (todo.md)\nSome words.\n"},
	} {
		if got := FoldTodo(c.text, "todo.md"); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}
