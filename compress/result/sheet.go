package result

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
)

// sheet is the lines of a result and which of them are shown.
type sheet struct {
	r     *result
	lines []string
	glued []bool // it is a part of a line that goes on with the next one
	shown []bool
	more  []int    // how many lines like it are not lines of the sheet
	above []string // a line of our own before it, with its end
	costs []int    // 0: not known yet
	left  int      // what may still be shown, in the limit's unit

	covered map[uint64]bool // identifiers and words that are shown
}

// Lines longer than longLine bytes are taken apart into pieces of at most longPiece bytes.
const (
	longLine  = 400
	longPiece = 160
)

// gap stands for lines that are not shown.
const gap = "…\n"

// newSheet returns the sheet of a text with no line shown; ok is false if the limit has no room
// for a note and some text.
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
	s.shown, s.more, s.costs, s.above = make([]bool, n), make([]int, n), make([]int, n), make([]string, n)
	s.left = r.limit.Tokens - r.limit.of(compress.LeftOut(strings.Count(r.text, "\n")+1, r.bytes, r.path)) - r.limit.of(gap) - 3
	if strings.Contains(text, "```") || strings.Contains(text, "~~~") { // one that is open may have to be closed
		s.left -= 4
	}
	return s, n > 0 && s.left > 0
}

// pieceOf returns where a long line is cut: behind a blank or a mark of the second half of a
// piece, else between characters.
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

// cost returns what line i takes, without gaps around it.
func (s *sheet) cost(i int) int {
	if s.costs[i] == 0 {
		s.costs[i] = s.r.limit.of(s.lines[i]+"\n") + s.r.limit.of(s.above[i])
		if s.more[i] > 0 {
			s.costs[i] += s.r.limit.of(again(s.more[i]))
		}
	}
	return s.costs[i]
}

// gaps returns by how many gaps the sheet has more when line i is shown.
func (s *sheet) gaps(i int) int {
	n := 1
	if i == 0 || s.shown[i-1] {
		n--
	}
	if i == len(s.lines)-1 || s.shown[i+1] {
		n--
	}
	return n
}

// show shows line i if there is room for it, and reports whether it is shown.
func (s *sheet) show(i int) bool {
	if i < 0 || i >= len(s.lines) || s.shown[i] {
		return i >= 0 && i < len(s.lines)
	}
	cost := s.cost(i) + s.gaps(i)*s.r.limit.of(gap)
	if cost > s.left {
		return false
	}
	s.left -= cost
	s.shown[i] = true
	eachFeature(s.lines[i], func(f uint64, _ float64) { s.covered[f] = true })
	return true
}

// showAll shows the lines from from to before to, backwards if to is less, as long as they fit
// and take no more than share of what is left.
func (s *sheet) showAll(from, to int, share float64) {
	floor := s.left - int(float64(s.left)*share)
	step := 1
	if to < from {
		from, to, step = from-1, to-1, -1
	}
	for i := from; i != to; i += step {
		if s.left-s.cost(i) < floor || !s.show(i) {
			return
		}
	}
}

// novelty returns the share of what line i is about that is not shown yet; 0 for a line about
// nothing.
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
		return sum / float64(s.cost(i)+2)
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
		i := heap.Pop(&h).(gained).line
		if s.left-s.cost(i) < floor || !s.show(i) {
			misses++
		}
	}
}

// fill shows what lies between shown lines as far as the room goes, the shortest gaps first.
func (s *sheet) fill() {
	for size := 1; size <= 4; size++ {
		for i := 0; i < len(s.lines); i++ {
			if s.shown[i] || i > 0 && !s.shown[i-1] {
				continue
			}
			n := 1
			for n <= size && i+n < len(s.lines) && !s.shown[i+n] {
				n++
			}
			if n == size && i+n < len(s.lines) {
				for k := range n {
					s.show(i + k)
				}
			}
		}
	}
}

// rest shows lines from the first on that were not worth it before, where there is room.
func (s *sheet) rest() {
	s.fill()
	for i, misses := 0, 0; i < len(s.lines) && s.left > 0 && misses < 8; i++ {
		if !s.show(i) {
			misses++
		}
	}
}

// all returns the lines of the sheet that are not blank and stand nowhere before.
func (s *sheet) all() []int {
	out := make([]int, 0, len(s.lines))
	seen := map[uint64]bool{}
	for i, line := range s.lines {
		trimmed := strings.TrimSpace(line)
		if len(trimmed) < 3 {
			continue
		}
		if h := compress.Hash(trimmed); !seen[h] {
			seen[h] = true
			out = append(out, i)
		}
	}
	return out
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
		if m := mask(s.lines[i]); !seen[m] {
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

// again returns the line for n others like the one before it.
func again(n int) string { return fmt.Sprintf("[and %d more like it]\n", n) }

// write returns what is shown, behind before, and the note for what is not; ok is false if no
// line is shown.
func (s *sheet) write(before string) (short string, ok bool) {
	var b strings.Builder
	b.WriteString(before)
	lines, bytes := 0, 0
	open := "" // the mark of a code fence that is open
	for i, line := range s.lines {
		if !s.shown[i] {
			if i == 0 || s.shown[i-1] {
				if b.Len() > 0 && !strings.HasSuffix(b.String()[b.Len()-1:], "\n") {
					b.WriteByte('\n')
				}
				b.WriteString(gap)
			}
			continue
		}
		ok = true
		b.WriteString(s.above[i])
		b.WriteString(line)
		bytes += len(line)
		if i == 0 || !s.glued[i-1] {
			open = compress.FenceAfter(open, strings.TrimSpace(line))
		}
		if s.glued[i] && s.shown[i+1] {
			continue
		}
		b.WriteByte('\n')
		if !s.glued[i] {
			bytes++
			lines++
		}
		if s.more[i] > 0 {
			b.WriteString(again(s.more[i]))
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

// inTurn shows lines in their order, or where they do not fit every so many of them.
func (s *sheet) inTurn(lines []int, share float64) {
	total := 0
	for _, i := range lines {
		total += s.cost(i) + 3
	}
	room := int(float64(s.left) * share)
	step := 1
	if total > room {
		step = total/max(1, room) + 1
	}
	floor := s.left - room
	for k := 0; k < len(lines); k += step {
		if s.left-s.cost(lines[k]) >= floor {
			s.show(lines[k])
		}
	}
}
