package blocks

import (
	"fmt"
	"strings"
)

// NewestRows returns the newest rows of a text with one row per line that fit, in their order,
// below a line that counts the missing ones and names path:
//
//	[12 older rows left out, all of them in context/facts.jsonl]
//
// A row is whole or missing; one that is too long does not keep out older ones. fits reports
// whether a text is within the limit. The result is "" if not even the first line fits.
func NewestRows(text, path string, fits func(string) bool) string {
	rows := strings.SplitAfter(strings.TrimRight(text, "\n")+"\n", "\n")
	rows = rows[:len(rows)-1]
	shown := func(chosen []string) string {
		missing := len(rows) - len(chosen)
		what := "older rows"
		if missing == 1 {
			what = "older row"
		}
		return fmt.Sprintf("[%d %s left out, all of them in %s]\n", missing, what, path) + strings.Join(chosen, "")
	}

	if !fits(shown(nil)) {
		return ""
	}
	var chosen []string
	misses := 0
	for i := len(rows) - 1; i >= 0 && misses < maxRowMisses; i-- {
		if more := append([]string{rows[i]}, chosen...); fits(shown(more)) {
			chosen = more
		} else {
			misses++
		}
	}
	return shown(chosen)
}

// maxRowMisses is the number of rows that may not fit before NewestRows tries no older one.
const maxRowMisses = 8

// FirstLines returns the first lines of a text that fit, above a line that counts the missing ones
// and names path; "" if no line fits.
func FirstLines(text, path string, fits func(string) bool) string {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n")+"\n", "\n")
	lines = lines[:len(lines)-1]
	shown := func(n int) string {
		what := "more lines"
		if len(lines)-n == 1 {
			what = "more line"
		}
		return strings.Join(lines[:n], "") + fmt.Sprintf("[%d %s, all of them in %s]\n", len(lines)-n, what, path)
	}
	n := mostThat(len(lines)-1, func(n int) bool { return fits(shown(n)) })
	if n == 0 {
		return ""
	}
	return shown(n)
}
