package eval

import (
	"fmt"
	"math"
	"testing"
)

func TestParseStretches(t *testing.T) {
	for name, want := range map[string]Stretches{"odd": OddStretches, "even": EvenStretches} {
		if got, err := ParseStretches(name); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "all", "Odd"} {
		if _, err := ParseStretches(name); err == nil {
			t.Errorf("%q is a half", name)
		}
	}
}

// Each call is in one half, twenty in a row in the same, the next twenty in the other.
func TestStretchesAlternate(t *testing.T) {
	s := numbered(t, 20)
	for k := range 200 {
		odd, even := OddStretches.hasCall(s, k), EvenStretches.hasCall(s, k)
		if odd == even || !AllStretches.hasCall(s, k) {
			t.Fatalf("call %d is odd: %v, even: %v", k, odd, even)
		}
		if k > 0 && (odd == OddStretches.hasCall(s, k-1)) != (k%stretchCalls != 0) {
			t.Errorf("a stretch ends at call %d", k)
		}
	}
}

// Short sessions are on both sides, whatever their number.
func TestShortSessionsAreInBothHalves(t *testing.T) {
	odd := 0
	for i := range 100 {
		if OddStretches.hasCall(&Session{Set: "desk", Name: fmt.Sprintf("task%02d", i)}, 3) {
			odd++
		}
	}
	if odd < 30 || odd > 70 {
		t.Errorf("%d of 100 sessions are odd", odd)
	}
}

// What the two halves count makes up the whole: cuts, calls, compactions and outputs.
func TestTheHalvesAreTheWhole(t *testing.T) {
	sessions := example(t)
	run := func(half Stretches) (Row, []Outputs) {
		r := mustRun(t, sessions, Options{Budgets: []int{4000}, Jobs: 1, Alone: true, Stretches: half})
		if r.Stretches != half {
			t.Errorf("the result is of %q, want %q", r.Stretches, half)
		}
		return r.Rows[0], r.Outputs
	}
	all, outputs := run(AllStretches)
	odd, oddOutputs := run(OddStretches)
	even, evenOutputs := run(EvenStretches)
	for what, n := range map[string][3]int{
		"cuts":        {all.Cuts, odd.Cuts, even.Cuts},
		"calls":       {all.Calls, odd.Calls, even.Calls},
		"compactions": {all.Compactions, odd.Compactions, even.Compactions},
		"outputs":     {outputs[0].Outputs, oddOutputs[0].Outputs, evenOutputs[0].Outputs},
	} {
		if n[0] != n[1]+n[2] || n[1] == 0 || n[2] == 0 {
			t.Errorf("%s: %d, in the halves %d and %d", what, n[0], n[1], n[2])
		}
	}
	// Each of the three is rounded.
	if a, o, e := tokensOf(all), tokensOf(odd), tokensOf(even); math.Abs(a-o-e) > 2 || o < 1 || e < 1 {
		t.Errorf("calls cost %.0f tokens, in the halves %.0f and %.0f", a, o, e)
	}
}

// tokensOf returns what all calls of a row cost, in tokens.
func tokensOf(r Row) float64 { return r.Figures[Effective].Mean * float64(r.Calls) }

func TestQuestionsOfTheHalves(t *testing.T) {
	s := numbered(t, 60)
	for i := range 7 {
		s.Questions = append(s.Questions, Question{Question: fmt.Sprintf("What is in box %d?", i), Evidence: []int{i + 4}})
	}
	count := func(half Stretches) int {
		r := mustRun(t, []*Session{s}, Options{Budgets: []int{600}, Jobs: 1, Alone: true, Only: []Figure{EvR}, Stretches: half})
		return r.Sessions[0].Rows[0].Figures[EvR].N
	}
	if all, odd, even := count(AllStretches), count(OddStretches), count(EvenStretches); all != 7 || odd+even != 7 || max(odd, even) != 4 {
		t.Errorf("%d questions, %d odd and %d even ones", all, odd, even)
	}
}
