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
	for _, c := range []struct{ budget, calls, lines int }{{32000, 3, 260}, {64000, 4, 300}, {200000, 4, 900}} {
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

// A result that was to be read in full stands as far as half of the free room goes, and not at the size of a
// result that comes when there is none.
func TestALargeResultTakesTheFreeRoom(t *testing.T) {
	for budget, least := range map[int]int{8000: 1700, 16000: 3500, 32000: 7000} {
		l := logOf(string(message("user", "Now only one file is left, read it in full.")))
		called(l, 0, 1, 900)
		arrived := mustCompile(t, inputOf(l, budget))
		if _, _, most := resultsShown(t, arrived); most < least || most > budget/4+100 {
			t.Errorf("%d: %d tokens of the result are shown, not %d or more", budget, most, least)
		}
		l.Append(message("assistant", "I have read it. The limits are set in its last part."))
		l.Append(message("user", "Then change the limits there."))
		if after := mustCompile(t, inputOf(l, budget)); !strings.HasPrefix(string(after.Markdown), string(arrived.Markdown[:arrived.Prefix])) && least < journal.ToolMost {
			t.Errorf("%d: two records later the result stands otherwise", budget)
		} else if _, _, most := resultsShown(t, after); most < min(least, journal.ToolMost*9/10) {
			t.Errorf("%d: two records later %d tokens of the result are shown", budget, most)
		}
	}
}
