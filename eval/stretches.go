package eval

import (
	"fmt"
	"hash/fnv"
)

// Stretches names the half of the sessions that is measured, so that one can tune on the one half and
// judge by the other.
type Stretches string

// The halves. Of a session, every other stretch belongs to each.
const (
	AllStretches  Stretches = ""
	OddStretches  Stretches = "odd"
	EvenStretches Stretches = "even"
)

// stretchCalls is how many consecutive calls of the model make a stretch.
const stretchCalls = 20

// ParseStretches returns the half of a name, "odd" or "even"; it returns an error for any other.
func ParseStretches(name string) (Stretches, error) {
	switch half := Stretches(name); half {
	case OddStretches, EvenStretches:
		return half, nil
	}
	return "", fmt.Errorf("%q is no half of the stretches; it is odd or even", name)
}

// has reports whether part k of a session, from 0, belongs to the half. Which half has the first part depends on the
// names of the session and its set, so that sessions of one part are on both sides.
func (h Stretches) has(s *Session, k int) bool {
	if h == AllStretches {
		return true
	}
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%s/%s", s.Set, s.Name)
	sum32 := sum.Sum32()
	odd := (int(sum32>>16^sum32)&1+k)%2 == 0
	return odd == (h == OddStretches)
}

// hasCall reports whether call k of the model in a session, from 0, belongs to the half.
func (h Stretches) hasCall(s *Session, k int) bool { return h.has(s, k/stretchCalls) }

// callsBefore returns for each number of records, from 0, how many messages of the agent are among them.
func (s *Session) callsBefore() []int {
	out := make([]int, s.Messages.Len()+1)
	for line := 1; line < len(out); line++ {
		out[line] = out[line-1]
		if s.isAgent(line) {
			out[line]++
		}
	}
	return out
}

// inStretch reports whether the call that follows n records belongs to the half that is measured.
func (r *replay) inStretch(n int) bool {
	return r.options.Stretches == AllStretches || r.options.Stretches.hasCall(r.s, r.calls[n])
}

// beforeStretch reports whether the call that follows n records is the last one before a stretch of the half: the first
// pack of that stretch is compared with its pack.
func (r *replay) beforeStretch(n int) bool {
	return r.options.Stretches != AllStretches && r.options.Stretches.hasCall(r.s, r.calls[n]+1)
}
