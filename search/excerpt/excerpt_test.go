package excerpt

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// An excerpt has whole lines: the best, what tells how it ended, the words above a row of numbers.
func TestExcerpt(t *testing.T) {
	noise := strings.Repeat("a line of much output that nobody asked for\n", 60)
	long := "the zebra " + strings.Repeat("runs and ", 60) + "ends here"
	for _, c := range []struct {
		name   string
		d      Record
		query  string
		tokens int
		want   string
	}{
		{"a short text stands whole", Record{Said: "one\nzebra\nthree\n"}, "zebra", 100, "one\nzebra\nthree"},
		{"a long line is not cut", Record{Said: noise + long + "\n" + noise}, "zebra", 400, "…\n" + long + "\n…"},
		{"nor is it where it exceeds its share", Record{Said: noise + long + "\n" + noise}, "zebra", 60, "…\n" + long + "\n…"},
		{"it begins with the word where it has no room at all", Record{Said: noise + strings.Repeat("run on, ", 150) + "the zebra is last\n" + noise}, "zebra", 12, "…zebra is last…"},
		{"how a command ended", Record{Result: true, Ends: true, Said: noise + "zebra.go\n" + noise + "3 passed, 1 failed\n" + noise}, "zebra", 40,
			"…\na line of much output that nobody asked for\nzebra.go\na line of much output that nobody asked for\n…\n3 passed, 1 failed\n…"},
		{"a file does not end like that", Record{Result: true, Said: noise + "zebra.go\n" + noise + "if err != failed {\n" + noise}, "zebra", 40,
			"…\na line of much output that nobody asked for\nzebra.go\na line of much output that nobody asked for\na line of much output that nobody asked for\n…"},
		{"the heading of a row of numbers", Record{Result: true, Ends: true, Said: noise + "errors by day\n386 | 389 | 397\n12 | 4711 | 8\n" + noise}, "4711", 30,
			"…\nerrors by day\n386 | 389 | 397\n12 | 4711 | 8\n…"},
		{"lines of an argument", Record{Said: "edit {\"new\":\"" + strings.Repeat(`\tother := call(of, many, words)\n`, 60) + `\tzebra := 1\n\tquagga := 2\n` + strings.Repeat(`\tother := call(of, many, words)\n`, 60) + "\"}\n"}, "zebra quagga", 20,
			"…\n" + `\tzebra := 1\n\tquagga := 2` + "\n…"},
		{"the same line once", Record{Said: strings.Repeat("the zebra waits\n"+noise, 5)}, "zebra", 30, "the zebra waits\na line of much output that nobody asked for\na line of much output that nobody asked for\n…"},
	} {
		c.d.Escaped = strings.Contains(c.d.Said, `\n`)
		var q Query
		compress.Terms(c.query, func(term uint64) {
			q.Terms, q.Worth = append(q.Terms, term), append(q.Worth, compress.Worth(100, 2+len(q.Terms)))
		})
		of := Room{c.tokens, 4 * c.tokens, MaxSeeds, func(s string) int { return ctxabi.Weight(s) }}
		got, whole := c.d.Whole(of)
		if !whole {
			got = Look(c.d, &q, 8<<20).Excerpt(of)
		}
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
