package result

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// sheet is the lines of a text and which of them are shown.
type sheet struct {
	r     *result
	lines []string
	glued []bool // the line continues in the next one
	shown []bool
	like  []int  // first line of the pattern that a line repeats; nil if lines are not counted
	alike []bool // the line is counted and not shown
	costs []int  // tokens of a line; 0: not known yet
	left  int    // tokens that are free

	covered map[uint64]bool // features of the shown lines
	order   []int           // shown lines, in the order of their selection
	waiting gains           // lines for which the last cover had no tokens
}

// Longer lines are split into pieces, in bytes.
const (
	longLine  = 400
	longPiece = 120
)

const (
	gap        = "…\n" // replaces lines that are not shown
	gapCost    = 2     // tokens
	fullFrom   = 33    // one part in fullFrom of the limit may stay free
	fillRounds = 4
	shortGap   = 5       // lines; a shorter gap between shown lines is filled first
	maxMisses  = 64      // lines that may not fit before a selection ends
	maxCompare = 4096    // lines that cover compares
	maxCovered = 1 << 16 // candidates of cover; of more, an even selection is read
)

// newSheet returns the sheet of a text with no line shown. ok is false if the limit cannot hold the
// note and some text.
func (r *result) newSheet(text string) (s *sheet, ok bool) {
	s = &sheet{r: r, covered: map[uint64]bool{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for len(line) > longLine {
			n := pieceOf(line)
			s.lines, s.glued = append(s.lines, line[:n]), append(s.glued, true)
			line = line[n:]
		}
		s.lines, s.glued = append(s.lines, line), append(s.glued, false)
	}
	n := len(s.lines)
	s.shown, s.alike, s.costs = make([]bool, n), make([]bool, n), make([]int, n)
	s.left = r.limit.Tokens - r.limit.of(compress.LeftOut(strings.Count(r.text, "\n")+1, r.bytes, r.path)) - gapCost
	return s, n > 0 && s.left > 0
}

// pieceOf returns the length of the first piece of a long line. It ends after a blank or a mark
// where it can.
func pieceOf(line string) int {
	if at := strings.LastIndexAny(line[longPiece/2:longPiece], " \t,;>})]&"); at >= 0 {
		return longPiece/2 + at + 1
	}
	n := longPiece
	for n > longPiece-utf8.UTFMax && !utf8.RuneStart(line[n]) {
		n--
	}
	return n
}

// cost returns the tokens of line i, without gaps around it.
func (s *sheet) cost(i int) int {
	if s.costs[i] == 0 {
		s.costs[i] = s.r.limit.of(s.lines[i] + "\n")
	}
	return s.costs[i]
}

// show shows line i if the free tokens suffice, and reports whether it is shown.
func (s *sheet) show(i int) bool {
	if i < 0 || i >= len(s.lines) || s.shown[i] || s.alike[i] {
		return i >= 0 && i < len(s.lines) && s.shown[i]
	}
	gaps := 1
	if i == 0 || s.shown[i-1] {
		gaps--
	}
	if i == len(s.lines)-1 || s.shown[i+1] {
		gaps--
	}
	if n := s.cost(i) + gaps*gapCost; n > s.left {
		return false
	} else {
		s.left -= n
	}
	s.shown[i] = true
	s.order = append(s.order, i)
	eachFeature(s.lines[i], func(f uint64, _ float64) { s.covered[f] = true })
	return true
}

// showAll shows the lines from from to before to, backwards if to is less, as long as they fit in
// share of the free tokens.
func (s *sheet) showAll(from, to int, share float64) {
	floor := s.left - int(float64(s.left)*share)
	step := 1
	if to < from {
		from, to, step = from-1, to-1, -1
	}
	for i := from; i != to; i += step {
		if !s.alike[i] && (s.left-s.cost(i) < floor || !s.show(i)) {
			return
		}
	}
}

// novelty returns the share of the features of line i that no shown line has; 0 for a line without
// features.
func (s *sheet) novelty(i int) float64 {
	all, fresh := 0.0, 0.0
	eachFeature(s.lines[i], func(f uint64, w float64) {
		all += w
		if !s.covered[f] {
			fresh += w
		}
	})
	if all == 0 {
		return 0
	}
	return fresh / all
}

// all returns the lines that are not blank, each content once.
func (s *sheet) all() []int {
	out := make([]int, 0, len(s.lines))
	seen := map[uint64]bool{}
	for i, line := range s.lines {
		if line = strings.TrimSpace(line); len(line) > 2 && !s.alike[i] && !seen[compress.Hash(line)] {
			seen[compress.Hash(line)] = true
			out = append(out, i)
		}
	}
	return out
}

// cover shows the candidates that add the most features per token, within share of the free tokens.
// weight scales the gain of a line; nil is 1.
func (s *sheet) cover(candidates []int, share float64, weight func(i int) float64) {
	floor := s.left - int(float64(s.left)*share)
	counts := map[uint64]int{} // candidates with a feature
	var h gains
	gain := func(i int) float64 {
		sum := 0.0
		var seen []uint64
		eachFeature(s.lines[i], func(f uint64, w float64) {
			if !s.covered[f] && !slices.Contains(seen, f) {
				seen = append(seen, f)
				sum += w * repeated(counts[f])
			}
		})
		if weight != nil {
			sum *= weight(i)
		}
		return sum / float64(ctxabi.Weight(s.lines[i])+3)
	}
	step := len(candidates)/maxCovered + 1
	for k := 0; k < len(candidates); k += step {
		eachFeature(s.lines[candidates[k]], func(f uint64, _ float64) { counts[f]++ })
	}
	for k := 0; k < len(candidates); k += step {
		if i := candidates[k]; !s.shown[i] && !s.alike[i] {
			if g := gain(i); g > 0 {
				h = append(h, gained{i, g})
			}
		}
	}

	if len(h) > maxCompare {
		slices.SortFunc(h, func(a, b gained) int { return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.line, b.line)) })
		h = h[:maxCompare]
	}
	heap.Init(&h)
	s.waiting = s.waiting[:0]
	for misses := 0; h.Len() > 0 && s.left > floor && misses < maxMisses; {
		best := h.next(gain)
		if best.gain <= 0 {
			break
		}
		if s.left-s.cost(best.line) < floor || !s.show(best.line) {
			s.waiting = append(s.waiting, best)
			misses++
		}
	}
	s.waiting = append(s.waiting, h...)
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

// next removes the line with the largest gain, by the gains of now.
func (h *gains) next(gain func(i int) float64) gained {
	for {
		top := &(*h)[0]
		if g := gain(top.line); g >= top.gain {
			return heap.Pop(h).(gained)
		} else {
			top.gain = g
		}
		heap.Fix(h, 0)
	}
}

// write returns before, the shown lines, and the note. ok is false if no line is shown. It uses up
// free tokens, and hides the last lines of a text above the limit.
func (s *sheet) write(before string) (short string, ok bool) {
	for round, full := 0, false; ; round++ {
		short, ok = s.text(before)
		s.left = s.r.limit.Tokens - s.r.limit.of(short)
		switch {
		case s.left < 0 && len(s.order) > 1:
			for full = true; s.left < 0 && len(s.order) > 1; {
				last := s.order[len(s.order)-1]
				s.order = s.order[:len(s.order)-1]
				s.shown[last] = false
				s.left += s.cost(last)
			}
		case !ok || full || round >= fillRounds || s.left*fullFrom < s.r.limit.Tokens || !s.grow():
			return short, ok
		}
	}
}

// grow shows more lines and reports whether there were any: those that wait, short gaps between
// shown lines, and then the rest from the start.
func (s *sheet) grow() bool {
	n := len(s.order)
	for _, g := range s.waiting {
		s.show(g.line)
	}
	for i := 1; i < len(s.lines); i++ {
		if s.shown[i-1] && slices.Contains(s.shown[i:min(len(s.lines), i+shortGap)], true) {
			s.show(i)
		}
	}
	misses := 0
	for _, i := range s.all() {
		if s.left <= gapCost || misses == maxMisses {
			break
		}
		if !s.shown[i] && !s.show(i) {
			misses++
		}
	}
	return len(s.order) > n
}

// text returns what write returns, for the lines that are shown now.
func (s *sheet) text(before string) (short string, ok bool) {
	var b strings.Builder
	b.WriteString(before)
	lines, bytes := 0, 0
	open := "" // mark of the code fence that is open
	more := s.counts()
	for i, line := range s.lines {
		if !s.shown[i] {
			if i == 0 || s.shown[i-1] {
				if i > 0 && s.glued[i-1] {
					b.WriteByte('\n')
				}
				b.WriteString(gap)
			}
			continue
		}
		ok = true
		b.WriteString(line)
		bytes += len(line)
		if i == 0 || !s.glued[i-1] {
			open = compress.FenceAfter(open, strings.TrimSpace(line))
		}
		if s.glued[i] {
			continue
		}
		b.WriteByte('\n')
		bytes++
		lines++
		if more[i] > 0 {
			fmt.Fprintf(&b, "[and %d more like it]\n", more[i])
		}
	}
	if open != "" {
		b.WriteString(open + "\n")
	}
	total := strings.Count(s.r.text, "\n")
	if !strings.HasSuffix(s.r.text, "\n") {
		total++
	}
	b.WriteString(compress.LeftOut(max(0, total-lines), max(0, s.r.bytes-bytes), s.r.path))
	return b.String(), ok
}
