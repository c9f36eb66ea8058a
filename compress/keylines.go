package compress

import "slices"

// Source is one text of a history from which key lines are chosen, or that is read to judge them.
type Source struct {
	Digest *Digest // by the vocabulary of the choice
	Age    int     // in records: 0 for the newest; texts of one record have the same, and stand side by side
	Tool   bool    // a tool's output; text of people and models counts four times as much
	// User: the text of the user is quoted although little of it is new.
	User bool
	// Shown: it stands in the prompt anyway. It says what matters, and gives no lines.
	Shown bool
	// Gone reports whether the line of a number does not hold any more; nil: all do.
	Gone func(number int32) bool
}

// KeyLine is one line of a source, without blanks at its ends.
type KeyLine struct {
	Source int // index of the source
	Line   int // index of the unit in it
	Text   string
}

// Numbers of [KeyLines].
const (
	halfLife     = 120  // after so many records a word matters half as much
	dampening    = 0.7  // the power of the sum over all records that hold it
	plainShare   = 0.15 // of a plain word's weight against an identifier's
	saidWorth    = 4    // of what people and models say, against a tool's output
	chosenWorth  = 20   // a word that a chosen line has weighs so many times less
	shownWorth   = 40   // and one that is shown beside the sources
	minGain      = 8    // that a unit gains a token at least, in 1/1024 of an identifier
	plainWorth   = 4    // a unit of code, data, or output gains so many times less
	newShare     = 30   // hundredths of the word pairs of a unit that are neither shown nor chosen before
	lineOverhead = 4    // tokens that a line takes beside its text
	nextOverhead = 1    // and one that goes on with the line before
	maxMisses    = 24   // lines in a row that do not fit: the room is used up
	maxRun       = 5    // lines that are chosen together
	runShare     = 70   // hundredths of what the first of a run gains a token that another one gains at least
)

// KeyLines chooses units of sources that repeat what may be needed later and is not shown, for
// at most room tokens by cost. It chooses greedily, by the weight of the words that are not
// covered yet per token. The weight of an identifier is the sum, over the records that hold it,
// of 0.5^(age/120), four times that where it stands outside of a tool's output, to the power of
// 0.7; a plain word has a fraction of it. A covered word weighs little, and a unit of which little
// is new is not chosen. Units beside a chosen one are taken with it, as long as they gain enough by
// themselves; the unit under which it stands is always taken with it.
//
// covered are texts that are shown beside the sources. cost is called with lines that are taken
// together and the tokens that are left; if it returns more than that, they are omitted. The lines
// come in the order of their sources. A line that occurs several times is taken from the last
// record that has it.
func (v *Vocabulary) KeyLines(sources []Source, covered []string, room int,
	cost func(lines []KeyLine, left int) int) []KeyLine {
	p := v.newPicker(sources, covered)
	var out []KeyLine
	misses := 0
	lineAt := func(at place) KeyLine {
		return KeyLine{Source: int(at.source), Line: int(at.line),
			Text: quoteOf(sources[at.source].Digest.text, p.at(at))}
	}
	taking := map[place]bool{} // units taken already
	take := func(at place) bool {
		together := []place{at}
		for under := p.at(at).under; under > 0; {
			above := place{at.source, under - 1}
			if under = p.at(above).under; !taking[above] && p.state[p.at(above).number] != taken {
				together = slices.Insert(together, 0, above)
			}
		}
		lines := make([]KeyLine, 0, 2)
		for _, one := range together {
			lines = append(lines, lineAt(one))
		}
		n := cost(lines, room)
		p.state[p.at(at).number] = taken // or of no use
		if n > room {
			misses++
			return false
		}
		misses = 0
		room -= n
		for i, one := range together {
			p.state[p.at(one).number] = taken
			taking[one] = true
			p.cover(one)
			out = append(out, lines[i])
		}
		return true
	}
	for room > 0 && misses < maxMisses {
		c, ok := p.next()
		if !ok {
			break
		}
		if c.gain < minGain*c.tokens && !sources[c.source].User || !take(c.place) {
			continue
		}
		from, to := c.place, c.place
		for run := 1; run < maxRun && room > 0; run++ {
			before, gainBefore := p.beside(from, -1)
			after, gainAfter := p.beside(to, +1)
			next := after
			if before.line >= 0 && (after.line < 0 || gainBefore > gainAfter) {
				next, gainAfter = before, gainBefore
			}
			// Both gains are per token, in 1/1024.
			if next.line < 0 || gainAfter*100 < c.gain*1024/c.tokens*runShare || !take(next) {
				break
			}
			if next.line < from.line {
				from = next
			} else {
				to = next
			}
		}
	}
	slices.SortFunc(out, func(a, b KeyLine) int {
		if a.Source != b.Source {
			return a.Source - b.Source
		}
		return a.Line - b.Line
	})
	return out
}

// place is a line of a source, by its index in the source's digest.
type place struct{ source, line int32 }

// candidate is a line that may be chosen first.
type candidate struct {
	place
	tokens int64 // about
	gain   int64 // when it was looked at last
}

// How a line stands, by its number.
const (
	open uint8 = iota
	taken
)

// picker chooses candidates one after another.
type picker struct {
	sources []Source
	weights []int64         // of words by number, in 1/1024
	plain   []bool          // of words by number: it is no identifier
	covered []bool          // of words by number: it is shown or chosen
	pairs   map[uint64]bool // of adjacent words that are shown or chosen
	state   []uint8         // of lines by number
	last    []place         // where each line stands last, by number; line -1: nowhere
	heap    []candidate
}

func (v *Vocabulary) newPicker(sources []Source, covered []string) *picker {
	p := &picker{sources: sources, weights: v.weigh(sources), state: make([]uint8, len(v.lines)), last: make([]place, len(v.lines))}
	p.plain, p.covered, p.pairs = v.plain, make([]bool, len(v.plain)), map[uint64]bool{}
	for _, text := range covered {
		EachLine(text, func(_ int, line string) {
			if n, ok := v.lines[Hash(Unnumbered(line))]; ok {
				p.state[n] = taken // it stands there already
			}
			EachWord(line, func(w string, _ WordKind) {
				if n, ok := v.words[Hash(w)]; ok && !p.covered[n] {
					p.covered[n] = true
					p.weights[n] /= shownWorth
				}
			})
			eachWordPair(line, func(pair uint64) { p.pairs[pair] = true })
		})
	}
	for n := range p.last {
		p.last[n].line = -1
	}
	count := 0
	for i := range sources {
		s := &sources[i]
		if s.Shown {
			continue
		}
		for k := range s.Digest.lines {
			l := &s.Digest.lines[k]
			if l.last > l.uses && p.state[l.number] == open && (s.Gone == nil || !s.Gone(l.number)) {
				if p.last[l.number].line < 0 {
					count++
				}
				p.last[l.number] = place{int32(i), int32(k)}
			}
		}
	}
	p.heap = make([]candidate, 0, count)
	for i := range sources {
		if sources[i].Shown {
			continue
		}
		for k := range sources[i].Digest.lines {
			at := place{int32(i), int32(k)}
			l := p.at(at)
			if !l.speaks || p.last[l.number] != at {
				continue
			}
			if c := (candidate{place: at, tokens: int64(l.tokens) + lineOverhead, gain: p.gain(l, at.source)}); c.gain > 0 {
				p.heap = append(p.heap, c)
			}
		}
	}
	for i := len(p.heap)/2 - 1; i >= 0; i-- {
		p.sift(i)
	}
	return p
}

func (p *picker) at(at place) *digestLine { return &p.sources[at.source].Digest.lines[at.line] }

func (p *picker) gain(l *digestLine, source int32) (sum int64) {
	for _, w := range p.sources[source].Digest.uses[l.uses:l.last] {
		sum += p.weights[w]
	}
	if l.plain {
		sum /= plainWorth
		if !p.sources[source].Tool { // whoever wrote it
			sum /= saidWorth
		}
	}
	return sum
}

// isNew reports whether a unit is no near-duplicate of what is shown or chosen: it has an
// identifier, or enough pairs of adjacent words, that are not.
func (p *picker) isNew(at place) bool {
	l, d := p.at(at), p.sources[at.source].Digest
	for _, w := range d.uses[l.uses:l.last] {
		if !p.plain[w] && !p.covered[w] {
			return true
		}
	}
	all, fresh := 0, 0
	eachWordPair(quoteOf(d.text, l), func(pair uint64) {
		if all++; !p.pairs[pair] {
			fresh++
		}
	})
	if p.sources[at.source].User {
		return fresh > 0 || all == 0
	}
	return fresh*100 >= all*newShare
}

// eachWordPair calls emit with a hash of each two adjacent words of a line.
func eachWordPair(line string, emit func(pair uint64)) {
	last := uint64(0)
	EachWord(line, func(w string, _ WordKind) {
		h := Hash(w)
		if last != 0 {
			emit(last*31 + h)
		}
		last = h
	})
}

func (p *picker) cover(at place) {
	l := p.at(at)
	d := p.sources[at.source].Digest
	for _, w := range d.uses[l.uses:l.last] {
		p.weights[w] /= chosenWorth
		p.covered[w] = true
	}
	eachWordPair(quoteOf(d.text, l), func(pair uint64) { p.pairs[pair] = true })
}

// beside returns the line beside another one, and what it gains a token in 1/1024; its line is -1
// where there is none that may be taken.
func (p *picker) beside(at place, step int32) (place, int64) {
	lines := p.sources[at.source].Digest.lines
	next := place{at.source, at.line + step}
	if next.line < 0 || int(next.line) >= len(lines) {
		return place{line: -1}, 0
	}
	l := &lines[next.line]
	if l.lead || p.state[l.number] == taken || p.last[l.number].line < 0 || !p.isNew(next) {
		return place{line: -1}, 0
	}
	return next, p.gain(l, at.source) * 1024 / int64(l.tokens+nextOverhead)
}

// next removes the best candidate from the heap and returns it; ok is false if none gains anything.
// What a candidate gains never grows.
func (p *picker) next() (c candidate, ok bool) {
	for len(p.heap) > 0 {
		c := &p.heap[0]
		now := int64(0)
		l := p.at(c.place)
		if p.state[l.number] == open {
			now = p.gain(l, c.source)
		}
		if now > 0 && now != c.gain {
			c.gain = now
			p.sift(0)
			continue
		}
		best := *c
		end := len(p.heap) - 1
		p.heap[0] = p.heap[end]
		p.heap = p.heap[:end]
		p.sift(0)
		if now > 0 && p.isNew(best.place) {
			return best, true
		}
	}
	return c, false
}

func (p *picker) less(a, b *candidate) bool {
	if x, y := a.gain*b.tokens, b.gain*a.tokens; x != y {
		return x > y
	}
	if a.source != b.source {
		return a.source > b.source
	}
	return a.line < b.line
}

// sift moves a candidate down to where it belongs.
func (p *picker) sift(i int) {
	for {
		best := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(p.heap); child++ {
			if p.less(&p.heap[child], &p.heap[best]) {
				best = child
			}
		}
		if best == i {
			return
		}
		p.heap[i], p.heap[best] = p.heap[best], p.heap[i]
		i = best
	}
}
