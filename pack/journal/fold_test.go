package journal

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// testRules are those of the default recipe without any files.
func testRules(budget, step int) Rules {
	r := recipe.Default()
	k := slices.IndexFunc(r.Sources, func(s recipe.Source) bool { return s.Type == recipe.TypeJournal })
	footer := min(max(200, budget/20), budget/8)
	return PolicyOf(r, &r.Sources[k]).Rules(Space{Limit: budget, Room: budget - footer}, step)
}

// When the live part begins with a request, the one before it is over and is not kept.
func TestNoOldRequestBeforeANewOne(t *testing.T) {
	l := packtest.LogOf()
	for i := range 60 {
		l.Append(packtest.Message("user", fmt.Sprintf("Request %d: %s", i, packtest.Weighing(60))))
	}
	f := NewMemo().Fold(l, testRules(1500, 0))
	if f.Compactions == 0 {
		t.Fatal("no compaction")
	}
	if first, user := f.keptUsers(1, f.starts[0]); first != 1 || user != 0 {
		t.Errorf("kept %d and %d, want 1 and none", first, user)
	}
}

// Each compaction frees the least gain.
func TestCompactionsAreRare(t *testing.T) {
	l := packtest.LongLog(3000)
	f := &Fold{Rules: testRules(8000, 0)}
	last := 0
	for n := 1; n <= l.Len(); n++ {
		before, weight := f.Compactions, f.weight()
		f.add(l.At(n))
		if f.Compactions == before {
			continue
		}
		if freed := weight - f.weight(); freed < f.Rules.room*f.Rules.minGain/1000 {
			t.Errorf("compaction %d at record %d freed %d of %d", f.Compactions, n, freed, f.Rules.room)
		}
		if last > 0 && n-last < 15 {
			t.Errorf("compactions at %d and %d", last, n)
		}
		last = n
	}
	if f.Compactions < 5 {
		t.Errorf("only %d compactions", f.Compactions)
	}
}

// Calls and results of events are a group: a boundary never parts them while both are live.
func TestEventGroupsStayTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := packtest.WholeHistory(t)
		m := &record.Merged{Messages: h.Messages, Events: h.Events, Tools: h.Tools}
		f := &Fold{Rules: testRules(rapid.IntRange(400, 4000).Draw(t, "budget"), 0)}
		for n := 1; n <= m.Len(); n++ {
			moved := f.Compactions
			f.add(m.At(n))
			if f.Compactions == moved {
				continue
			}
			for at := f.Boundary(); at <= n; at++ {
				if call := int(m.At(at).CallOf); call > 0 && call < f.Boundary() && call >= f.Previous {
					t.Fatalf("boundary %d parts call %d from its result %d", f.Boundary(), call, at)
				}
			}
		}
	})
}

// A boundary never falls between a call and its results that had come when it moved.
func TestBoundaryKeepsGroupsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := packtest.Messages(t)
		budget := rapid.IntRange(400, 4000).Draw(t, "budget")
		f := &Fold{Rules: testRules(budget, rapid.IntRange(0, 14).Draw(t, "step"))}
		for n := 1; n <= l.Len(); n++ {
			moved := f.Compactions
			f.add(l.At(n))
			if f.Compactions == moved {
				continue
			}
			boundary := f.Boundary()
			for line := boundary; line <= n; line++ {
				if call := int(l.At(line).CallOf); call > 0 && call < boundary && call >= f.Previous {
					t.Fatalf("boundary %d parts call %d from its result %d", boundary, call, line)
				}
			}
		}
	})
}

// In a turn of many calls what is older than the last eight counts as older: the next compaction shortens it.
func TestInALongTurnOldResultsTakeLess(t *testing.T) {
	f := &Fold{Rules: testRules(64000, 0)}
	l := packtest.LogOf(string(packtest.Message("user", "Have a look at all parts.")))
	packtest.Called(l, 0, 3, 300)
	packtest.Called(l, 3, 40, 60)
	for n := 1; n <= l.Len(); n++ {
		before := f.Compactions
		f.add(l.At(n))
		large := 0
		for _, o := range f.odd {
			if o.line >= f.Boundary() && o.rule.shown(o.weight) > ToolMost {
				large++
			}
		}
		switch {
		case f.Compactions > before:
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
	packtest.Pure(t)
	rapid.Check(t, func(t *rapid.T) {
		l := packtest.Weights(t)
		rules := testRules(rapid.SampledFrom([]int{4000, 8000, 32000, 200000}).Draw(t, "budget"), 0)
		f := &Fold{Rules: rules}
		turn := 0
		for n := 1; n <= l.Len(); n++ {
			before := f.Compactions
			f.add(l.At(n))
			if f.Compactions > before {
				turn = f.turn()
			}
			for _, o := range f.odd {
				if o.line >= f.Boundary() && o.line < turn && min(o.weight, o.rule.shown(o.weight)) > ToolMost {
					t.Fatalf("record %d shows %d of the result %d of a turn that is over", n, o.rule.shown(o.weight), o.line)
				}
			}
			shown := f.Lead.shown
			for line := f.Lead.N + 1; line <= n; line++ {
				weight := int(l.At(line).Weight)
				rule := f.Rules.share(l.At(line))
				if k, ok := f.oddAt(line); ok {
					rule = f.odd[k].rule
				} else if line < f.Boundary() {
					shown = -1 // what it was is forgotten
					break
				}
				shown += f.scaled(rule.shown(weight))
			}
			if shown >= 0 && f.Boundary() == 1 && shown != f.shown {
				t.Fatalf("record %d: %d is shown, the fold says %d", n, shown, f.shown)
			}
		}
	})
}

// A compaction for want of room happens only when there is none, and frees the least gain against the journal as it would be without it:
// and so does the one at a turn's end, whatever the weights are, at every budget and however tight the fold.
func TestCompactionsFreeTheLeastGain(t *testing.T) {
	packtest.Pure(t)
	all := 0
	rapid.Check(t, func(t *rapid.T) {
		l := packtest.Weights(t)
		f := &Fold{Rules: testRules(rapid.SampledFrom([]int{1000, 4000, 8000, 16000, 32000}).Draw(t, "budget"), rapid.IntRange(0, PromiseStep).Draw(t, "step"))}
		for n := 1; n <= l.Len(); n++ {
			without := *f
			without.starts, without.Requests = slices.Clone(f.starts), slices.Clone(f.Requests)
			without.Rules.minGain = math.MaxInt32
			without.add(l.At(n))
			before := f.Compactions
			f.add(l.At(n))
			if without.Compactions > before {
				t.Fatal("the other fold compacts, too: the test shows nothing")
			}
			if f.Compactions == before {
				if f.weight() != without.weight() {
					t.Fatalf("record %d: it weighs %d, and %d without a compaction that there was not", n, f.weight(), without.weight())
				}
				continue
			}
			all++
			gain, least := without.weight()-f.weight(), max(0, f.Rules.room-f.keptRecords(1, f.starts[0]))*f.Rules.minGain/1000
			if gain <= 0 || gain < least {
				t.Fatalf("compaction %d at record %d frees %d of %d, the least is %d", f.Compactions, n, gain, f.Rules.room, least)
			}
			if f.Moved == byTurn || f.Moved == byShares {
				if f.Boundary() != without.Boundary() || f.Compactions != before+1 {
					t.Fatalf("shorter results at record %d moved the boundary, or was %d compactions", n, f.Compactions-before)
				}
				continue
			}
			if without.weight() <= f.Rules.room {
				t.Fatalf("compaction %d at record %d: there was room, %d of %d", f.Compactions, n, without.weight(), f.Rules.room)
			}
			if f.Compactions != before+1 || f.Moved != byRoom {
				t.Fatalf("one record brought %d compactions: %s", f.Compactions-before, f.Moved)
			}
		}
	})
	if all < 100 {
		t.Errorf("only %d compactions", all)
	}
}
