package pack

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// weights draws a history for its weights: groups of calls with results, requests and answers, from a word to far above any share.
func weights(t *rapid.T) *memLog {
	l := newLog()
	type m = map[string]any
	size := rapid.OneOf(rapid.IntRange(1, 60), rapid.IntRange(1, 60), rapid.IntRange(60, 700), rapid.IntRange(700, 9000))
	add := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		l.Append(b)
	}
	for i := range rapid.IntRange(20, 120).Draw(t, "turns") {
		switch rapid.IntRange(0, 5).Draw(t, "turn") {
		case 0:
			add(m{"role": "user", "content": weighing(size.Draw(t, "request"))})
		case 1, 2:
			add(m{"role": "assistant", "content": weighing(size.Draw(t, "answer"))})
		default:
			var calls []m
			n := rapid.SampledFrom([]int{1, 1, 1, 2, 3, 12}).Draw(t, "calls")
			for k := range n {
				calls = append(calls, m{"id": fmt.Sprintf("c%d-%d", i, k), "name": "bash", "arguments": "{}"})
			}
			add(m{"role": "assistant", "content": nil, "tool_calls": calls})
			for k := range n {
				add(m{"role": "tool", "tool_call_id": fmt.Sprintf("c%d-%d", i, k), "content": weighing(size.Draw(t, "result"))})
			}
		}
	}
	return l
}

// A compaction for want of room happens only when there is none, and frees the least gain against the journal as it would be without it:
// and so does the one at a turn's end, whatever the weights are, at every budget and however tight the fold.
func TestCompactionsFreeTheLeastGain(t *testing.T) {
	pure(t)
	all := 0
	rapid.Check(t, func(t *rapid.T) {
		l := weights(t)
		f := &fold{rules: rulesOf(rapid.SampledFrom([]int{1000, 4000, 8000, 16000, 32000}).Draw(t, "budget"), rapid.IntRange(0, promiseStep).Draw(t, "step"))}
		for n := 1; n <= l.Len(); n++ {
			without := *f
			without.starts, without.requests = slices.Clone(f.starts), slices.Clone(f.requests)
			without.rules.minGain = math.MaxInt32
			without.add(l.At(n))
			before := f.compactions
			f.add(l.At(n))
			if without.compactions > before {
				t.Fatal("the other fold compacts, too: the test shows nothing")
			}
			if f.compactions == before {
				if f.weight() != without.weight() {
					t.Fatalf("record %d: it weighs %d, and %d without a compaction that there was not", n, f.weight(), without.weight())
				}
				continue
			}
			all++
			gain, least := without.weight()-f.weight(), max(0, f.rules.room-f.keptRecords(f.starts[0]))*f.rules.minGain/1000
			if gain <= 0 || gain < least {
				t.Fatalf("compaction %d at record %d frees %d of %d, the least is %d", f.compactions, n, gain, f.rules.room, least)
			}
			if f.moved == byTurn {
				if f.boundary() != without.boundary() || f.compactions != before+1 {
					t.Fatalf("the end of a turn at record %d moved the boundary, or was %d compactions", n, f.compactions-before)
				}
				continue
			}
			if without.weight() <= f.rules.room {
				t.Fatalf("compaction %d at record %d: there was room, %d of %d", f.compactions, n, without.weight(), f.rules.room)
			}
			if f.compactions != before+1 || f.moved != byRoom {
				t.Fatalf("one record brought %d compactions: %s", f.compactions-before, f.moved)
			}
		}
	})
	if all < 100 {
		t.Errorf("only %d compactions", all)
	}
}
