package compress

import (
	"cmp"
	"container/heap"
	"slices"
)

// Source is a text of the history. KeyLines derives the weight of words from all sources and
// selects units of those that are not Shown.
type Source struct {
	Digest *Digest // made by the same vocabulary
	Age    int     // in records, 0 for the newest; the texts of a record are adjacent and have one age
	Tool   bool    // output of a tool; words of other texts weigh saidWorth times as much

	// User marks text of the user. One new pair of words is enough to select a unit of it, and
	// minGain does not apply.
	User bool
	// Shown marks a text that the prompt already contains.
	Shown bool
	// Gone reports whether the line with this number of the vocabulary is outdated. If Gone is
	// nil, no line is.
	Gone func(number int32) bool
}

// KeyLine is a selected unit of a source.
type KeyLine struct {
	Source int    // index into the sources
	Line   int    // index of the unit in the source
	Text   string // the unit in one line of up to maxQuote bytes
}

// Parameters of [Vocabulary.KeyLines].
const (
	halfLife     = 120  // age in records at which a word counts half
	dampening    = 0.7  // exponent of the sum over the records that contain a word
	plainShare   = 0.15 // weight of a plain word relative to an identifier
	saidWorth    = 4    // factor for words outside of tool output
	chosenWorth  = 20   // divisor for the words of a selected unit
	shownWorth   = 40   // divisor for the words of the covered texts
	minGain      = 8    // minimum gain per token, in 1/1024 of an identifier
	plainWorth   = 4    // divisor for the gain of code, data, and output
	newShare     = 30   // minimum percentage of new word pairs in a unit
	lineOverhead = 4    // tokens per line in addition to its text
	nextOverhead = 1    // likewise, for a line that continues a run
	maxMisses    = 24   // consecutive misses of the budget that end the selection
	maxRun       = 5    // maximum number of adjacent units per candidate
	runShare     = 70   // minimum gain per token of an adjacent unit, in percent of the candidate's
)

// KeyLines selects units of sources to quote, within a budget of room tokens, and returns them in
// the order of sources. It selects greedily by gain per token, where the gain of a unit is the sum
// of the weights of its words. An identifier weighs (sum of 0.5^(age/120))^0.7 over the records
// that contain it; records outside of tool output count four times, and a plain word weighs 15 % of
// that. If several sources contain the same line, KeyLines selects the last occurrence.
//
// A selected unit brings in the units named by [Unit.Under], and adjacent units with a similar gain
// per token. Words of covered texts and of selected units lose most of their weight. KeyLines skips
// near-duplicates of both; covered lists texts that the prompt shows in addition to the sources.
//
// cost returns the tokens of lines that are added together; left is the remaining budget. If cost
// exceeds left, KeyLines omits these lines and tries the next candidate. After maxMisses
// consecutive omissions, it stops.
func (v *Vocabulary) KeyLines(sources []Source, covered []string, room int,
	cost func(lines []KeyLine, left int) int) []KeyLine {
	p := v.newPicker(sources, covered)
	var out []KeyLine
	misses := 0
	lineAt := func(at place) KeyLine {
		return KeyLine{Source: int(at.source), Line: int(at.line),
			Text: quoteOf(sources[at.source].Digest.text, p.at(at))}
	}
	selected := map[place]bool{}
	take := func(at place) bool {
		together := []place{at}
		for under := p.at(at).under; under > 0; {
			above := place{at.source, under - 1}
			if under = p.at(above).under; !selected[above] && !p.taken[p.at(above).number] {
				together = slices.Insert(together, 0, above)
			}
		}
		lines := make([]KeyLine, 0, 2)
		for _, one := range together {
			lines = append(lines, lineAt(one))
		}
		n := cost(lines, room)
		p.taken[p.at(at).number] = true // also after a miss, so that it is not tried again
		if n > room {
			misses++
			return false
		}
		misses = 0
		room -= n
		for i, one := range together {
			p.taken[p.at(one).number] = true
			selected[one] = true
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
			before, gainBefore := p.adjacent(from, -1)
			after, gainAfter := p.adjacent(to, +1)
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

// place locates a unit by the index of its source and its index in the digest.
type place struct{ source, line int32 }

// candidate is a unit in the heap of the picker.
type candidate struct {
	place
	tokens int64 // estimate
	gain   int64 // upper bound: the gain at the last evaluation
}

// candidates is a heap. Its first element has the highest gain per token.
type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, k int) { c[i], c[k] = c[k], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }

func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

func (c candidates) Less(i, k int) bool {
	a, b := &c[i], &c[k]
	return cmp.Or(cmp.Compare(b.gain*a.tokens, a.gain*b.tokens), cmp.Compare(b.source, a.source),
		cmp.Compare(a.line, b.line)) < 0
}

// picker returns the candidates of a selection in the order of their gain per token.
type picker struct {
	sources []Source
	weights []int64         // by word, in 1/1024 of an identifier
	plain   []bool          // by word; false for identifiers
	covered []bool          // by word; true if a covered text or a selected unit contains it
	pairs   map[uint64]bool // word pairs of covered texts and selected units
	taken   []bool          // by line
	last    []place         // last occurrence by line; place.line is -1 if there is none
	heap    candidates
}

func (v *Vocabulary) newPicker(sources []Source, covered []string) *picker {
	p := &picker{sources: sources, weights: v.weigh(sources)}
	p.taken, p.last = make([]bool, len(v.lines)), make([]place, len(v.lines))
	p.plain, p.covered, p.pairs = v.plain, make([]bool, len(v.plain)), map[uint64]bool{}

	for _, text := range covered {
		EachLine(text, func(_ int, line string) {
			if n, ok := v.lines[Hash(Unnumbered(line))]; ok {
				p.taken[n] = true
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
			if l.last > l.uses && !p.taken[l.number] && (s.Gone == nil || !s.Gone(l.number)) {
				if p.last[l.number].line < 0 {
					count++
				}
				p.last[l.number] = place{int32(i), int32(k)}
			}
		}
	}

	p.heap = make(candidates, 0, count)
	for i := range sources {
		if sources[i].Shown {
			continue
		}
		for k := range sources[i].Digest.lines {
			at := place{int32(i), int32(k)}
			l := p.at(at)
			if !l.candidate || p.last[l.number] != at {
				continue
			}
			if c := (candidate{place: at, tokens: int64(l.tokens) + lineOverhead, gain: p.gain(l, at.source)}); c.gain > 0 {
				p.heap = append(p.heap, c)
			}
		}
	}
	heap.Init(&p.heap)
	return p
}

func (p *picker) at(at place) *digestLine { return &p.sources[at.source].Digest.lines[at.line] }

func (p *picker) gain(l *digestLine, source int32) (sum int64) {
	for _, w := range p.sources[source].Digest.uses[l.uses:l.last] {
		sum += p.weights[w]
	}
	if l.plain {
		sum /= plainWorth
		if !p.sources[source].Tool { // code in a message weighs no more than code in tool output
			sum /= saidWorth
		}
	}
	return sum
}

// isNew reports whether a unit contains an identifier or enough word pairs that neither the covered
// texts nor the selected units contain. newShare is the required percentage of pairs; for text of
// the user, one pair is enough.
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

// eachWordPair calls emit with a hash of each pair of adjacent words in line.
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

// adjacent returns the unit at distance step from another one, and its gain per token in 1/1024. If
// the unit does not exist or cannot be selected, the line of the result is -1.
func (p *picker) adjacent(at place, step int32) (place, int64) {
	lines := p.sources[at.source].Digest.lines
	next := place{at.source, at.line + step}
	if next.line < 0 || int(next.line) >= len(lines) {
		return place{line: -1}, 0
	}
	l := &lines[next.line]
	if l.lead || p.taken[l.number] || p.last[l.number].line < 0 || !p.isNew(next) {
		return place{line: -1}, 0
	}
	return next, p.gain(l, at.source) * 1024 / int64(l.tokens+nextOverhead)
}

// next removes the best candidate from the heap and returns it; ok is false if no candidate has a
// gain. It evaluates only the top of the heap, since gains never grow.
func (p *picker) next() (c candidate, ok bool) {
	for len(p.heap) > 0 {
		c := &p.heap[0]
		now := int64(0)
		l := p.at(c.place)
		if !p.taken[l.number] {
			now = p.gain(l, c.source)
		}
		if now > 0 && now != c.gain {
			c.gain = now
			heap.Fix(&p.heap, 0)
			continue
		}
		best := heap.Pop(&p.heap).(candidate)
		if now > 0 && p.isNew(best.place) {
			return best, true
		}
	}
	return c, false
}
