package pack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/journal"
)

// resultsShown counts the results in a pack that are whole, those that are not, and the tokens of the largest.
func resultsShown(t *testing.T, b *Build) (whole, cut, most int) {
	t.Helper()
	c, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range strings.Split(string(b.Markdown), "\n## ") {
		if !strings.Contains(record[:min(len(record), 60)], " tool probe") {
			continue
		}
		if most = max(most, c.Count(record)); strings.Contains(record, "left out, all of it in context/line/") {
			cut++
		} else {
			whole++
		}
	}
	return whole, cut, most
}

// A large result stands whole while its turn goes on and there is room; when the turn is over it takes 3,000 tokens at most, at any budget.
func TestResultsOfATurnThatIsOverTakeLess(t *testing.T) {
	for _, c := range []struct{ budget, calls, lines int }{{32000, 5, 260}, {64000, 4, 300}, {200000, 4, 900}} {
		budget := c.budget
		l := logOf(string(message("user", "Have a look at all parts.")))
		called(l, 0, c.calls, c.lines)
		before := mustCompile(t, inputOf(l, budget))
		if whole, _, most := resultsShown(t, before); whole == 0 || most <= journal.ToolMost {
			t.Fatalf("%d: %d results are whole, the largest of %d tokens, while the turn goes on", budget, whole, most)
		}
		l.Append(message("user", "Thank you. Now something else."))
		after := mustCompile(t, inputOf(l, budget))
		if whole, cut, most := resultsShown(t, after); cut == 0 || most > journal.ToolMost {
			t.Errorf("%d: %d results are whole and %d cut, the largest of %d tokens, when the turn is over", budget, whole, cut, most)
		}
		if p := parseJSON(t, after); p.Compactions != 1 || p.EpochReason != fmt.Sprintf("turn_end when messages:%d arrived", 2*c.calls+2) || len(p.Omitted) > 0 {
			t.Errorf("%d: %d compactions, %s, %d left out", budget, p.Compactions, p.EpochReason, len(p.Omitted))
		}
		l.Append(message("assistant", "Yes?"))
		if next := mustCompile(t, inputOf(l, budget)); next.Epoch != after.Epoch || !strings.HasPrefix(string(next.Markdown), string(after.Markdown[:after.Prefix])) {
			t.Errorf("%d: the record after the compaction changes what stands before it", budget)
		}
	}
}

// What would be freed at a turn's end is too little: it stays as it is, and with it the prefix.
func TestAShortHistoryKeepsItsLargeResults(t *testing.T) {
	l := logOf(string(message("user", "Have a look.")))
	called(l, 0, 2, 300)
	before := mustCompile(t, inputOf(l, 200000))
	l.Append(message("user", "Thank you. Now something else."))
	after := mustCompile(t, inputOf(l, 200000))
	if whole, cut, most := resultsShown(t, after); whole != 2 || cut > 0 || most <= journal.ToolMost {
		t.Errorf("%d whole, %d cut, %d tokens", whole, cut, most)
	}
	if before.Epoch != after.Epoch || !strings.HasPrefix(string(after.Markdown), string(before.Markdown[:before.Prefix])) {
		t.Errorf("%s and then %s", before.Epoch, after.Epoch)
	}
}

// A result of up to a quarter of the free tokens is shown whole; a larger one gets a tenth of them and keeps it while its turn goes on.
func TestALargeResultLeavesFreeTokens(t *testing.T) {
	for budget, least := range map[int]int{8000: 600, 16000: 1400, 32000: 2800} {
		l := logOf(string(message("user", "Now only one file is left, read it in full.")))
		called(l, 0, 1, 900)
		arrived := mustCompile(t, inputOf(l, budget))
		if _, cut, most := resultsShown(t, arrived); cut != 1 || most < least || most > budget/8 {
			t.Errorf("%d: %d tokens of the result are shown, not %d or more", budget, most, least)
		}
		l.Append(message("assistant", "I have read it. The limits are set in its last part."))
		if after := mustCompile(t, inputOf(l, budget)); !strings.HasPrefix(string(after.Markdown), string(arrived.Markdown[:arrived.Prefix])) {
			t.Errorf("%d: the result stands otherwise one record later", budget)
		}
	}
	l := logOf(string(message("user", "Read the short file.")))
	called(l, 0, 1, 70)
	if whole, _, most := resultsShown(t, mustCompile(t, inputOf(l, 8000))); whole != 1 || most < 1000 {
		t.Errorf("%d results are whole, the largest of %d tokens", whole, most)
	}
}

// Files that one turn reads get shares that fit beside each other: no compaction, and each shows its head and outline.
func TestFilesOfOneTurnShareTokens(t *testing.T) {
	for _, budget := range []int{4000, 8000, 16000, 32000} {
		l := logOf(string(message("user", "Where is the append-only rule enforced?")))
		var b *Build
		for i := range 9 {
			var text strings.Builder
			fmt.Fprintf(&text, "# Part %d\n\nThis part explains rule R%d.\n", i, i)
			for k := range 250 {
				fmt.Fprintf(&text, "\n## Topic %d.%d\n\nThe store keeps topic %d of part %d; 212 passed, %d failed, nothing was lost.\n", i, k, k, i, k)
			}
			name := fmt.Sprintf("docs/part%d.md", i)
			answered(l, name, "read_file", fmt.Sprintf(`{"path":%q}`, name), text.String())
			b = mustCompile(t, inputOf(l, budget))
		}
		if p := parseJSON(t, b); p.Compactions != 0 {
			t.Errorf("%d: %d compactions inside the turn", budget, p.Compactions)
		}
		for i := range 9 {
			if md := string(b.Markdown); !strings.Contains(md, fmt.Sprintf("# Part %d\n", i)) || strings.Count(md, fmt.Sprintf("## Topic %d.", i)) < 3 {
				t.Errorf("%d: file %d lacks its head or its outline", budget, i)
			}
		}
	}
}

// Results that have free tokens when they arrive take less before the turn that they belong to is compacted.
func TestSharesShrinkBeforeATurnIsCompacted(t *testing.T) {
	l := logOf(string(message("user", "Have a look at all parts.")))
	n := 0
	for ; n < 40; n++ {
		called(l, n, 1, 70)
		if b := mustCompile(t, inputOf(l, 8000)); parseJSON(t, b).Compactions > 0 {
			p := parseJSON(t, b)
			if !strings.HasPrefix(p.EpochReason, "shorter_results when ") || len(p.Omitted) > 0 {
				t.Errorf("the first compaction: %s, %d left out", p.EpochReason, len(p.Omitted))
			}
			return
		}
	}
	t.Error("there was no compaction")
}
