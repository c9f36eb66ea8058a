package pack

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/tokens"
)

// parts is a tool's output of so many lines that no other one has.
func parts(name string, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%s_%d is in module %s/%d.go and weighs %d grams\n", name, i, name, i*7, i*i)
	}
	return b.String()
}

// called appends calls of a tool with their results.
func called(l *memLog, from, n, lines int) {
	for i := from; i < from+n; i++ {
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","name":"probe","arguments":"{}"}]}`, i)))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, i, parts(fmt.Sprintf("part%d", i), lines))))
	}
}

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
		if whole, _, most := resultsShown(t, before); whole == 0 || most <= toolMost {
			t.Fatalf("%d: %d results are whole, the largest of %d tokens, while the turn goes on", budget, whole, most)
		}
		l.Append(message("user", "Thank you. Now something else."))
		after := mustCompile(t, inputOf(l, budget))
		if whole, cut, most := resultsShown(t, after); cut == 0 || most > toolMost {
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
	if whole, cut, most := resultsShown(t, after); whole != 2 || cut > 0 || most <= toolMost {
		t.Errorf("%d whole, %d cut, %d tokens", whole, cut, most)
	}
	if before.Epoch != after.Epoch || !strings.HasPrefix(string(after.Markdown), string(before.Markdown[:before.Prefix])) {
		t.Errorf("%s and then %s", before.Epoch, after.Epoch)
	}
}

// In a turn of many calls what is older than the last eight counts as older: the next compaction shortens it.
func TestInALongTurnOldResultsTakeLess(t *testing.T) {
	f := &fold{rules: rulesOf(64000, 0)}
	l := logOf(string(message("user", "Have a look at all parts.")))
	called(l, 0, 3, 300)
	called(l, 3, 40, 60)
	for n := 1; n <= l.Len(); n++ {
		before := f.compactions
		f.add(l.At(n))
		large := 0
		for _, o := range f.odd {
			if o.line >= f.boundary() && o.rule.shown(o.weight) > toolMost {
				large++
			}
		}
		switch {
		case f.compactions > before:
			if large > 0 {
				t.Errorf("record %d brought a compaction, and %d results from before the last eight are large", n, large)
			}
			return
		case n > 8 && large == 0:
			t.Fatalf("record %d: nothing is large before the compaction", n)
		}
	}
	t.Error("no compaction")
}

// Whatever the history: from one compaction to the next the results of turns that were over at the last one take 3,000 tokens at most, and the sums
// of the fold are those of its shares.
func TestAgedResultsFollowFromTheRecords(t *testing.T) {
	pure(t)
	rapid.Check(t, func(t *rapid.T) {
		l := weights(t)
		rules := rulesOf(rapid.SampledFrom([]int{4000, 8000, 32000, 200000}).Draw(t, "budget"), 0)
		f := &fold{rules: rules}
		turn := 0
		for n := 1; n <= l.Len(); n++ {
			before := f.compactions
			f.add(l.At(n))
			if f.compactions > before {
				turn = f.turn()
			}
			for _, o := range f.odd {
				if o.line >= f.boundary() && o.line < turn && min(o.weight, o.rule.shown(o.weight)) > toolMost {
					t.Fatalf("record %d shows %d of the result %d of a turn that is over", n, o.rule.shown(o.weight), o.line)
				}
			}
			shown := f.lead.shown
			for line := f.lead.n + 1; line <= n; line++ {
				weight := int(l.At(line).Weight)
				rule := f.rules.share(l.At(line))
				if k, ok := f.oddAt(line); ok {
					rule = f.odd[k].rule
				} else if line < f.boundary() {
					shown = -1 // what it was is forgotten
					break
				}
				shown += f.scaled(rule.shown(weight))
			}
			if shown >= 0 && f.boundary() == 1 && shown != f.shown {
				t.Fatalf("record %d: %d is shown, the fold says %d", n, shown, f.shown)
			}
		}
	})
}
