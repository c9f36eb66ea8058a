package result

import (
	"cmp"
	"container/heap"
	"slices"
)

// heldMost bounds how many lines are compared with each other.
const heldMost = 4096

// cover shows those candidates that say the most that is not shown yet, for what they take,
// within share of what is left. weight scales what a line is worth; nil: 1.
func (s *sheet) cover(candidates []int, share float64, weight func(i int) float64) {
	floor := s.left - int(float64(s.left)*share)
	candidates = s.thin(candidates)
	counts := map[uint64]int{} // in how many candidates a feature is
	for _, i := range candidates {
		eachFeature(s.lines[i], func(f uint64, _ float64) { counts[f]++ })
	}
	gain := func(i int) float64 {
		sum := 0.0
		seen := [32]uint64{}
		n := 0
		eachFeature(s.lines[i], func(f uint64, w float64) {
			if s.covered[f] || slices.Contains(seen[:n], f) {
				return
			}
			if n < len(seen) {
				seen[n] = f
				n++
			}
			if counts[f] > 1 {
				w *= repeated(counts[f])
			}
			sum += w
		})
		if weight != nil {
			sum *= weight(i)
		}
		return sum / float64(s.weight(i)+2)
	}
	var h gains
	for _, i := range candidates {
		if g := gain(i); !s.shown[i] && g > 0 {
			h = append(h, gained{i, g})
		}
	}
	if len(h) > heldMost {
		slices.SortFunc(h, func(a, b gained) int {
			return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.line, b.line))
		})
		h = h[:heldMost]
	}
	heap.Init(&h)
	s.waiting = s.waiting[:0]
	for misses := 0; h.Len() > 0 && s.left > floor && misses < 64; {
		if g := gain(h[0].line); g < h[0].gain {
			if g <= 0 {
				heap.Pop(&h)
			} else {
				h[0].gain = g
				heap.Fix(&h, 0)
			}
			continue
		}
		best := heap.Pop(&h).(gained)
		if s.left-s.cost(best.line) < floor || !s.show(best.line) {
			s.waiting = append(s.waiting, best)
			misses++
		}
	}
	s.waiting = append(s.waiting, h...)
}

// thinnedFrom is the number of lines from which on only one of each make is looked at.
const thinnedFrom = 16 * heldMost

// thin returns, of very many candidates, the first of each make, and of too many makes every so
// many.
func (s *sheet) thin(candidates []int) []int {
	if len(candidates) <= thinnedFrom {
		return candidates
	}
	seen := map[uint64]bool{}
	var out []int
	for _, i := range candidates {
		if m := makeOf(s.lines[i]); !seen[m] {
			seen[m] = true
			out = append(out, i)
		}
	}
	if step := len(out)/thinnedFrom + 1; step > 1 {
		n := 0
		for i := 0; i < len(out); i += step {
			out[n] = out[i]
			n++
		}
		out = out[:n]
	}
	return out
}

type gained struct {
	line int
	gain float64
}

type gains []gained

func (h gains) Len() int { return len(h) }
func (h gains) Less(i, j int) bool {
	return h[i].gain > h[j].gain || h[i].gain == h[j].gain && h[i].line < h[j].line
}
func (h gains) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *gains) Push(x any)   { *h = append(*h, x.(gained)) }
func (h *gains) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
