package excerpt

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
)

// Numbers of excerpts.
const (
	wholeBytes   = 3840 // texts up to this length are shown whole where they have room
	wholeResult  = 1200 // likewise, results
	passageBytes = 240  // of a line and those around it
	MaxSeeds     = 24   // lines that an excerpt begins from
	MaxGlance    = 3    // likewise, of what belongs to a hit
	maxMisses    = 8    // of them that have no room, until no more are tried
	maxAround    = 3    // of them that are shown with the lines around them
	nearLabel    = 4    // lines up to which it stands with all between
	labelLines   = 64   // lines up to which a row of numbers has its label
)

// Room is what an excerpt may take: so many tokens, or up to most for its first line.
type Room struct {
	Tokens, Most int
	Seeds        int // lines with words of the query, at most
	Count        func(string) int
}

func (r *Room) holds(s string, tokens int) bool {
	return len(s) <= 16*tokens && r.Count(s) <= tokens
}

// Whole returns what the record says, and whether that is short enough to be shown whole.
func (d *Record) Whole(r Room) (text string, ok bool) {
	most := wholeBytes
	if d.Result {
		most = wholeResult
	}
	text = strings.TrimRight(d.Said, "\n")
	return text, text == "" || len(text) <= most && r.holds(text, r.Tokens)
}

// Excerpt returns the lines of the record that say most to the query, verbatim and whole, in their order,
// with … where something is left out. A result has with them the line that tells how it ended, and a row
// of numbers the nearest words above it.
func (s *Sight) Excerpt(r Room) string {
	p := picker{Sight: s, Room: r, chosen: make([]bool, len(s.lines))}
	p.pick()
	for len(p.order) > 0 {
		shown := s.show(p.chosen)
		if r.holds(shown, p.Tokens) {
			return shown
		}
		last := len(p.order) - 1
		p.chosen[p.order[last]] = false
		p.order = p.order[:last]
	}
	return s.clipped(r)
}

// picker chooses the lines of an excerpt.
type picker struct {
	*Sight
	Room
	chosen []bool
	order  []int // lines, in the order in which they were chosen
	used   int   // tokens
	has    uint64
}

// pick chooses line by line: those with the most of what is not there yet, then what stands around them.
func (p *picker) pick() {
	seeds, scores := p.seeds()
	ending, seen := p.ending(), 0
	if len(seeds) == 0 {
		p.opening(ending)
		return
	}
	top, said := scores[seeds[0]], map[string]bool{}
	for misses := 0; len(seeds) > 0 && misses < maxMisses && seen < p.Seeds; {
		best, bestGain := 0, -1.0
		for k, i := range seeds {
			if gain := p.sum(p.lines[i].has&^p.has) + scores[i]/4; gain > bestGain {
				best, bestGain = k, gain
			}
		}
		i, first := seeds[best], len(p.order) == 0
		seeds = slices.Delete(seeds, best, best+1)
		if p.chosen[i] || p.lines[i].has&^p.has == 0 && 2*scores[i] < top || said[p.line(i)] {
			continue
		}
		said[p.line(i)] = true
		if !p.add(i) {
			misses++
			continue
		}
		p.label(i)
		if first && ending >= 0 {
			p.add(ending)
		}
		if seen++; seen <= maxAround {
			p.around(i, passageBytes)
		}
	}
	p.bridge()
}

// bridge chooses a line that alone is missing between two that are chosen.
func (p *picker) bridge() {
	for i := 1; i+1 < len(p.lines); i++ {
		if p.chosen[i-1] && p.chosen[i+1] && p.lines[i].to-p.lines[i].from <= passageBytes/2 {
			p.add(i)
		}
	}
}

// opening chooses lines where none has a word of the query: how it ended, and how it begins.
func (p *picker) opening(ending int) {
	if ending >= 0 {
		p.add(ending)
		p.label(ending)
	}
	for i := range p.lines {
		if !p.chosen[i] && !p.add(i) {
			break
		}
	}
}

// seeds returns the best lines that have terms of the query, best first, and the scores of all.
func (p *picker) seeds() (seeds []int, scores []float64) {
	scores = make([]float64, len(p.lines))
	for i, l := range p.lines {
		if l.has != 0 {
			scores[i] = p.sum(l.has) + p.exactIn(p.line(i), l.has)
			seeds = append(seeds, i)
		}
	}
	slices.SortStableFunc(seeds, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return seeds[:min(len(seeds), 2*MaxSeeds)], scores
}

// endLines is how many lines at each end of a result are looked at for one that tells how it ended.
const endLines = 200

// ending returns the line of a result that tells how it ended; of equal ones the last. It is -1 if none does.
func (p *picker) ending() int {
	best, told := -1, 0
	for i := range p.lines {
		if !p.d.Ends || i >= endLines && i < len(p.lines)-endLines {
			continue
		}
		if v := compress.Tells(p.line(i)); v > 4 && v >= told {
			best, told = i, v
		}
	}
	return best
}

// add chooses a line if it has room; the first one may take more.
func (p *picker) add(i int) bool {
	if p.chosen[i] {
		return true
	}
	limit := p.Tokens
	if len(p.order) == 0 {
		limit = max(limit, p.Most)
	}
	line := p.line(i)
	if len(line) > 16*(limit-p.used) {
		return false
	}
	cost := p.Count(line) + 1
	if p.used+cost > limit {
		return false
	}
	p.Tokens = max(p.Tokens, min(limit, p.used+cost+4)) // a first line that is longer than its share, and what stands for the rest
	p.chosen[i], p.used, p.has = true, p.used+cost, p.has|p.lines[i].has
	p.order = append(p.order, i)
	return true
}

// around chooses the lines next to line i, up to so many bytes with it.
func (p *picker) around(i, size int) {
	from, to := i, i
	for grown := true; grown; {
		grown = false
		if to+1 < len(p.lines) && p.lines[to+1].to-p.lines[from].from <= size && p.add(to+1) {
			to, grown = to+1, true
		}
		if from > 0 && p.lines[to].to-p.lines[from-1].from <= size && p.add(from-1) {
			from, grown = from-1, true
		}
	}
}

// label chooses the nearest line with words above a line that has next to none.
func (p *picker) label(i int) {
	if !bare(p.line(i)) {
		return
	}
	for k := i - 1; k >= 0 && k >= i-labelLines; k-- {
		if p.chosen[k] && !bare(p.line(k)) {
			return
		}
		if !bare(p.line(k)) {
			for p.add(k); k+1 < i && i-k <= nearLabel; k++ {
				p.add(k + 1)
			}
			return
		}
	}
}

// bare reports whether a line has numbers and no word of three letters.
func bare(line string) bool {
	letters, digits := 0, false
	for _, c := range line {
		switch {
		case unicode.IsLetter(c):
			if letters++; letters == 3 {
				return false
			}
		default:
			letters = 0
			digits = digits || unicode.IsDigit(c)
		}
	}
	return digits
}

// show writes the chosen lines, and what is between neighbours.
func (s *Sight) show(chosen []bool) string {
	var b strings.Builder
	end, some := 0, false
	for i, l := range s.lines {
		if !chosen[i] {
			continue
		}
		from := l.from
		for from > end && (s.text[from-1] == ' ' || s.text[from-1] == '\t') {
			from--
		}
		if from > 0 && s.text[from-1] != '\n' {
			from = l.from // a piece of a line
		}
		switch between := s.text[end:from]; {
		case blank(between):
			b.WriteString(between)
		case !some:
			b.WriteString("…\n")
		default:
			b.WriteString("\n…\n")
		}
		b.WriteString(s.text[from:l.to])
		end, some = l.to, true
	}
	if !blank(s.text[end:]) {
		b.WriteString("\n…")
	}
	return strings.Trim(b.String(), "\n")
}

// blank reports whether a text between two lines says nothing: blanks and line ends, as an argument of a
// call writes them, too.
func blank(s string) bool {
	for s = strings.TrimSpace(s); len(s) >= 2 && s[0] == '\\' && strings.IndexByte("nrt", s[1]) >= 0; {
		s = strings.TrimSpace(s[2:])
	}
	return s == ""
}

// clipped returns a part of the best line, from the first word on that the query asks for.
func (s *Sight) clipped(r Room) string {
	best, score := textLine{to: min(len(s.text), passageBytes)}, -1.0 // data and no text
	for _, l := range s.lines {
		if w := s.sum(l.has); w > score {
			best, score = l, w
		}
	}
	part := strings.ToValidUTF8(s.text[best.from:best.to], "")
	at := 0
	if best.has == 0 {
		at = 1
	}
	EachWord(part, func(from, to int) bool {
		compress.Terms(part[from:to], func(t uint64) {
			if at == 0 && slices.Contains(s.q.Terms, t) {
				at = max(at, from+1)
			}
		})
		return at == 0
	})
	before := ""
	if at > 1 {
		part, before = part[at-1:], "…"
	}
	part = strings.ToValidUTF8(part[:min(len(part), 5*r.Tokens)], "")
	for len(part) > 8 && !r.holds(before+part+"…", r.Tokens) {
		part = strings.ToValidUTF8(part[:len(part)*3/4], "")
	}
	return before + part + "…"
}

// EachWord calls yield with the runs of letters and digits of a text until it returns false.
func EachWord(text string, yield func(from, to int) bool) {
	for at := 0; at < len(text); {
		from := strings.IndexFunc(text[at:], inWord)
		if from < 0 {
			return
		}
		from += at
		to := len(text)
		if n := strings.IndexFunc(text[from:], func(c rune) bool { return !inWord(c) }); n >= 0 {
			to = from + n
		}
		if !yield(from, to) {
			return
		}
		at = to
	}
}

func inWord(c rune) bool { return unicode.In(c, unicode.L, unicode.M, unicode.N) }
