package blocks

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestChildrenText(t *testing.T) {
	long := strings.Repeat("A sentence of the result.\n", 40)
	done := func(name, text string) ChildNow {
		return ChildNow{ChildResult: ChildResult{Name: name, Who: "rev/" + name, Status: "done", Finished: true, Text: text, Bytes: len(text)}}
	}
	within := func(bytes int) func(string) bool { return func(s string) bool { return len(s) <= bytes } }
	folded := done("old", "Nothing to object.\nNot much.\n")
	folded.Folded = true
	brought := done("b", "Short.")
	brought.Brought = "y.go (file)\n"
	big := done("big", long)
	big.Bytes = 1 << 20
	for _, c := range []struct {
		what     string
		children []ChildNow
		fits     func(string) bool
		want     string
	}{
		{"none", nil, nil, ""},
		{"whole", []ChildNow{done("a", "Two bugs.\r\n# one\n"), {ChildResult: ChildResult{Name: "b", Status: "pending"}}, folded}, nil,
			"- a: done, rev/a, context/child/a/result.md\n> Two bugs.\n> # one\n- b: pending\n- old: done, rev/old, context/child/old/result.md: Nothing to object.\n"},
		{"what they brought", []ChildNow{{ChildResult: ChildResult{Name: "a", Status: "active", Brought: "x.go (file): the retry\ncontext/child/a/artifact/t.log\n"}}, brought}, nil,
			"- a: active\nbrought: x.go (file): the retry; context/child/a/artifact/t.log\n- b: done, rev/b, context/child/b/result.md\nbrought: y.go (file)\n> Short.\n"},
		{"what they brought has no room", []ChildNow{brought}, within(50), "- b: done, rev/b, context/child/b/result.md\n"},
		{"a short one beside a long one", []ChildNow{done("a", long), done("b", "Short.")}, within(400),
			"- a: done, rev/a, context/child/a/result.md\n> A sentence of the result.\n> A sentence of the result.\n> A sentence of the result.\n> A sentence of the result.\n> A sentence of the result.\n> A sentence of the result.\n> A sentence of the result.\n> A sentence of the result.\n> [32 lines, 831 bytes left out, all of it in context/child/a/result.md]\n- b: done, rev/b, context/child/b/result.md\n> Short.\n"},
		{"lines only", []ChildNow{done("a", long), done("b", long)}, within(100),
			"- a: done, rev/a, context/child/a/result.md\n- b: done, rev/b, context/child/b/result.md\n"},
		{"not all lines", []ChildNow{done("a", long), done("b", long), done("c", long)}, within(100),
			"- a: done, rev/a, context/child/a/result.md\n[2 more in context/child]\n"},
		{"no room", []ChildNow{done("a", long)}, within(20), ""},
		{"more than is looked at", []ChildNow{big}, nil,
			"- big: done, rev/big, context/child/big/result.md\n> " + strings.ReplaceAll(long, "\n", "\n> ") + fmt.Sprintf("[%d bytes more: context/child/big/result.md]\n", 1<<20-len(long))},
	} {
		sel := ChildrenText(c.children, c.fits)
		if sel.Text != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, sel.Text, c.want)
		}
		parts := ""
		for i, p := range sel.Parts {
			if parts += p.Text; p.Path != c.children[i].path() {
				t.Errorf("%s: part %d is of %s", c.what, i, p.Path)
			}
		}
		if parts != sel.Text {
			t.Errorf("%s: the parts are not the text: %q", c.what, parts)
		}
	}
}

// What fits says holds for the text, whatever the children.
func TestChildrenTextKeepsToItsRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var children []ChildNow
		for i := range rapid.IntRange(0, 6).Draw(t, "children") {
			text := rapid.StringMatching(`([a-z# \x60]{0,30}\n?){0,30}`).Draw(t, "text")
			children = append(children, ChildNow{ChildResult: ChildResult{Name: fmt.Sprint("c", i), Who: "x", Status: "done", Finished: true, Text: text,
				Bytes: len(text) + rapid.IntRange(0, 1).Draw(t, "more")}, Folded: rapid.Bool().Draw(t, "folded")})
		}
		room := rapid.IntRange(0, 1500).Draw(t, "room")
		sel := ChildrenText(children, func(s string) bool { return len(s) <= room })
		if len(sel.Text) > room || sel.Text != "" && !strings.HasSuffix(sel.Text, "\n") {
			t.Fatalf("%d bytes in a room of %d: %q", len(sel.Text), room, sel.Text)
		}
		for _, p := range sel.Parts {
			if !strings.Contains(sel.Text, p.Text) {
				t.Fatalf("a part that is not there: %q", p.Text)
			}
		}
	})
}
