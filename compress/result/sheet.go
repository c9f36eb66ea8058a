package result

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// sheet is the lines of a result and which of them are shown.
type sheet struct {
	r     *result
	lines []string
	glued []bool // it is a part of a line that goes on with the next one
	shown []bool
	alike []bool // it repeats a pattern: it is counted and not shown; nil: no line is
	more  []int  // how many lines like it are not lines of the sheet
	costs []int  // tokens of a line; 0: not known yet
	about []int  // what a line weighs, likewise
	left  int    // tokens that may still be shown

	covered map[uint64]bool // identifiers and words that are shown
	order   []int           // lines in the order in which they were shown
	parts   map[int]int     // of lines that are shown in part: the bytes
	waiting gains           // lines that the last cover did not show
	noted   func()          // sets more, where it is not nil
}

// Lines longer than longLine bytes are taken apart into pieces of at most longPiece bytes.
const (
	longLine  = 400
	longPiece = 160
)

// gap stands for lines that are not shown.
const gap = "…\n"

const gapCost = 2 // tokens

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
	s.shown, s.more, s.costs, s.about = make([]bool, n), make([]int, n), make([]int, n), make([]int, n)
	s.left = r.limit.Tokens - r.limit.of(compress.LeftOut(strings.Count(r.text, "\n")+1, r.bytes, r.path)) - gapCost
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

// cost returns the tokens of line i, without gaps around it.
func (s *sheet) cost(i int) int {
	if s.costs[i] == 0 {
		s.costs[i] = s.r.limit.of(s.lines[i] + "\n")
	}
	return s.costs[i]
}

// weight returns what line i weighs, which is cheaper than its cost and near it.
func (s *sheet) weight(i int) int {
	if s.about[i] == 0 {
		s.about[i] = ctxabi.Weight(s.lines[i]) + 1
	}
	return s.about[i]
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
	if s.repeats(i) {
		return false
	}
	gaps := s.gaps(i) * gapCost
	if gaps >= s.left || s.cost(i)+gaps > s.left {
		return false
	}
	s.left -= s.cost(i) + gaps
	s.shown[i] = true
	s.order = append(s.order, i)
	eachFeature(s.lines[i], func(f uint64, _ float64) { s.covered[f] = true })
	return true
}

// repeats reports whether line i is only counted.
func (s *sheet) repeats(i int) bool { return s.alike != nil && s.alike[i] }

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
