package journal

import (
	"slices"
	"strings"
	"testing"
)

func TestLinesOfSections(t *testing.T) {
	text := "## Goal\n- Build it.\n## Tried\n- The first rope broke.\n```sh\n# Facts\nrun --all\n```\n  - A second rope held.\n" +
		"**Facts**\n- Port 8443.\n# Notes\n- Nothing.\n"
	if got := linesOf(text, []string{"tried"}); !slices.Equal(got, []string{"- The first rope broke.", "- A second rope held."}) {
		t.Errorf("the lines of Tried are %q", got)
	}
	if got := linesOf(text, []string{"facts"}); !slices.Equal(got, []string{"- Port 8443."}) {
		t.Errorf("the lines of Facts are %q", got)
	}
	long := "## Facts\n" + strings.Repeat("- One more fact about the bridge.\n", 10*maxLines)
	if got := linesOf(long, []string{"facts"}); len(got) != maxLines {
		t.Errorf("%d lines of a long section", len(got))
	}
}

func TestKnownLines(t *testing.T) {
	k := linesKnown("- The highest permitted load of trucks is 55 tons.\n- Inspectors measure every span twice.\n")
	for line, want := range map[string]bool{
		"- The highest permitted load of trucks is 40 tons.": true, // revised
		"- Every span: inspectors measure twice.":            true, // repeated
		"- Use rope.": true, // too short
		"- The crane failed because its hook bent; a new one fits": false,
	} {
		if got := k.has(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
