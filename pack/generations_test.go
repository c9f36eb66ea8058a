package pack

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
)

// What stands behind the boundary stays byte for byte through minor compactions, and a provider's cache keeps it.
func TestMinorCompactionsKeepTheCompactedPast(t *testing.T) {
	minor, major := 0, 0
	for _, limit := range suite.Pick(t, []int{2500, 5000}, []int{2500, 4000, 5000, 8000, 12000}) {
		l := codingLog(limit / 40)
		var c Compiler
		var before *Build
		for n := 1; n <= l.Len(); n++ {
			b, err := c.Compile(inputOf(l.Prefix(n), limit))
			if err != nil {
				t.Fatal(err)
			}
			if b.Tokens > limit {
				t.Fatalf("%d tokens at %d", b.Tokens, limit)
			}
			if p := before; p != nil && b.Compactions > p.Compactions {
				same := p.Major != "" && p.Major == b.Major
				tighter := strings.Contains(b.EpochReason+p.EpochReason, "tighter")
				if same != strings.Contains(b.EpochReason, "minor") && !tighter && !strings.Contains(b.EpochReason, "turn_end") && !strings.Contains(b.EpochReason, "shorter_results") {
					t.Fatalf("%d records: major compaction %q after %q, but %s", n, b.Major, p.Major, b.EpochReason)
				}
				if same {
					minor++
				} else {
					major++
				}
				if same && !bytes.HasPrefix(b.Markdown, p.Markdown[:p.Past]) {
					t.Fatalf("%d records: the compacted past changed at a minor compaction:\n%s\n---\n%s", n, p.Markdown[:p.Past], b.Markdown)
				}
			}
			before = b
		}
		cold, err := compile(inputOf(l, limit))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(cold.Markdown, before.Markdown) || cold.Epoch != before.Epoch || cold.Major != before.Major {
			t.Fatalf("a cold build differs:\n%s\n---\n%s", before.Markdown, cold.Markdown)
		}
	}
	if minor == 0 || major == 0 {
		t.Errorf("%d minor and %d major compactions", minor, major)
	}
}
