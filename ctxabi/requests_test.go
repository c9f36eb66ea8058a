package ctxabi

import "testing"

func TestAppendRequest(t *testing.T) {
	for _, c := range []struct {
		m    Message
		want string
	}{
		{Message{Text: "Fix it."}, "- [7] Fix it. · context/line/7.txt\n"},
		{Message{Text: "\n\nFix it.\r\nAnd test."}, "- [7] Fix it. · context/line/7.txt\n"},
		{Message{Images: 1}, "- [7] (no text) · context/line/7.txt\n"},
		{Message{Results: []Result{{Text: "ok"}}}, ""},
		{Message{Text: "Go on.", Results: []Result{{Text: "ok"}}}, "- [7] Go on. · context/line/7.txt\n"},
	} {
		if got := string(AppendRequest(nil, 7, &c.m)); got != c.want {
			t.Errorf("%+v: %q, want %q", c.m, got, c.want)
		}
	}
}
