package calls

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"read_file": "read_file", "": "unknown_tool", "1 tool": "_1_tool", "-x": "_-x",
		"mcp.a/b": "mcp_a_b", "é": "__",
		strings.Repeat("n", 90): strings.Repeat("n", 64), "9" + strings.Repeat("n", 90): "_9" + strings.Repeat("n", 62),
	} {
		if got := Name(name); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
}

func TestIDsAreTakenOnce(t *testing.T) {
	ids := IDs{}
	for _, c := range [][3]string{
		{"a", "x", "a"}, {"a", "x", "x"}, {"", "x", "x_2"}, {"a b", "y", "y"}, {"é", "y", "y_2"},
		{strings.Repeat("l", 41), "z", "z"}, {strings.Repeat("l", 40), "z", strings.Repeat("l", 40)},
	} {
		if got := ids.Take(c[0], c[1]); got != c[2] {
			t.Errorf("%q, or %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestPairs(t *testing.T) {
	var p Pairs
	add := func(id, name string) { p.Add(id, name) }
	result := func(id, name string, call int, match Match) {
		t.Helper()
		if n, m := p.Result(id, name); n != call || m != match {
			t.Errorf("the result %q of %q is of call %d (%d), want %d (%d)", id, name, n, m, call, match)
		}
	}

	result("a", "ls", -1, None)
	add("a", "ls")
	add("a", "cat")
	add("", "my tool")
	result("", "my_tool", 2, Answer)
	result("", "rm", -1, None)
	result("a", "", 0, Answer)
	result("", "", 1, Answer)
	result("a", "", 1, Second)

	add("b", "ls")
	p.GiveUp()
	result("", "ls", -1, None)
	add("b", "cat")
	result("b", "", 4, Answer)
	result("b", "", 3, Late)
	result("b", "", 4, Second)
	if !p.Known("a") || p.Known("c") || p.Name(4) != "cat" {
		t.Error("the calls are not known")
	}
}
