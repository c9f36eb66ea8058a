package excerpt

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// MaxTerms is how many terms a query has at most.
const MaxTerms = 64

// Query is what is looked for in a record.
type Query struct {
	Terms []uint64  // distinct, at most MaxTerms
	Worth []float64 // of the terms
	Exact []Exact   // texts that count more where they stand verbatim
}

// Exact is a text that is looked for verbatim.
type Exact struct {
	Text  string
	Words []uint64
}

// Record is a record that is looked at.
type Record struct {
	Said    string // as it is shown
	Escaped bool   // strings of JSON are in it, with their escapes
	Calls   int    // where the calls begin in Said that it makes; its length if it makes none
	Result  bool   // it is what a tool answered
	Ends    bool   // it tells how something went: a result, and not of lines of files
}

// textLine is a line of a record, or a piece of a very long one.
type textLine struct {
	from, to int
	terms    int    // in it
	has      uint64 // the query's terms in it, by their places
}

// Sight is what a record has of a query, line by line.
type Sight struct {
	Has uint64 // the query's terms in any line, by their places

	q     *Query
	d     Record
	text  string
	lines []textLine
}

// Look reads the lines of a record, of its first most bytes.
func Look(d Record, q *Query, most int) *Sight {
	s := &Sight{q: q, d: d, text: strings.TrimRight(d.Said, "\n")}
	s.d.Calls = min(d.Calls, len(s.text))
	head := s.text[:min(len(s.text), most)]
	passages := compress.Passages(head, 1)
	s.lines = make([]textLine, len(passages))
	for i, p := range passages {
		l := &s.lines[i]
		l.from, l.to = p.From, p.To
		l.terms, l.has = q.termsOf(s.read(i))
		s.Has |= l.has
	}
	return s
}

// read returns line i as it is read for terms.
func (s *Sight) read(i int) string {
	if s.d.Escaped {
		return Unescape(s.line(i))
	}
	return s.line(i)
}

// termsOf returns the number of a text's terms, and which of the query's are among them.
func (q *Query) termsOf(text string) (n int, has uint64) {
	compress.Terms(text, func(t uint64) {
		n++
		for i, wanted := range q.Terms {
			if t == wanted {
				has |= 1 << i
			}
		}
	})
	return n, has
}

// line returns the text of line i.
func (s *Sight) line(i int) string { return s.text[s.lines[i].from:s.lines[i].to] }

// Worth returns what the terms are worth together that the record has.
func (s *Sight) Worth() float64 { return s.sum(s.Has) }

// sum returns what some terms are worth together.
func (s *Sight) sum(has uint64) (w float64) {
	for ; has != 0; has &= has - 1 {
		w += s.q.Worth[bits.TrailingZeros64(has)]
	}
	return w
}

// exactIn returns what the phrases and identifiers of the query are worth that stand in a line.
func (s *Sight) exactIn(line string, has uint64) (w float64) {
	for _, x := range s.q.Exact {
		if has == 0 || !strings.Contains(line, x.Text) {
			continue
		}
		for i, t := range s.q.Terms {
			if slices.Contains(x.Words, t) {
				w += s.q.Worth[i]
			}
		}
	}
	return w
}

// windowBytes is how long a passage is that is ranked as if it were a record.
const windowBytes = 480

// BestWindow returns the highest score (BM25) that a passage of the record has as a record of its own
// among those that have mean terms.
func (s *Sight) BestWindow(mean float64) (best float64) {
	var counts [MaxTerms]int
	for i := range s.lines {
		if s.lines[i].has == 0 {
			continue
		}
		clear(counts[:])
		all, length, next := uint64(0), 0, i // length: terms of the lines in front of next
		for k := i; k < len(s.lines) && (k == i || s.lines[k].to-s.lines[i].from <= windowBytes); k++ {
			l := &s.lines[k]
			if l.has == 0 {
				continue
			}
			all |= l.has
			for ; next <= k; next++ {
				length += s.lines[next].terms
			}
			for has := l.has; has != 0; has &= has - 1 {
				counts[bits.TrailingZeros64(has)]++
			}
			score := 0.0
			for has := all; has != 0; has &= has - 1 {
				t := bits.TrailingZeros64(has)
				score += compress.Gain(s.q.Worth[t], counts[t], length, mean)
			}
			best = max(best, score)
		}
	}
	return best
}

// shortTalk is up to how many bytes of words before a call only announce it.
const shortTalk = 200

// Marks returns the lines that answer the query, and of calls the strings in their arguments, as distinct
// numbers in their order: two have the same one if they differ in digits and blanks alone and have the same
// terms of the query. Words that announce a call do not count where the call has terms of the query.
func (s *Sight) Marks() (out []uint64) {
	from := 0
	if s.d.Calls <= shortTalk && slices.ContainsFunc(s.lines, func(l textLine) bool { return l.from >= s.d.Calls && l.has != 0 }) {
		from = s.d.Calls
	}
	for i := range s.lines {
		l := &s.lines[i]
		if l.has == 0 || l.from < from {
			continue
		}
		if l.from < s.d.Calls || s.d.Calls == len(s.text) {
			out = append(out, mark(s.line(i))^l.has)
			continue
		}
		for value := range strings.SplitSeq(s.line(i), `"`) {
			if _, has := s.q.termsOf(Unescape(value)); has != 0 {
				out = append(out, mark(value)^has)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mark returns a number for a line but for its digits and blanks.
func mark(line string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	digits, blank := false, false
	for i := range len(line) {
		c := line[i]
		isDigit, isBlank := '0' <= c && c <= '9', c == ' ' || c == '\t'
		switch {
		case isDigit && !digits:
			h = (h ^ '0') * prime
		case isBlank && !blank:
			h = (h ^ ' ') * prime
		case !isDigit && !isBlank:
			h = (h ^ uint64(c)) * prime
		}
		digits, blank = isDigit, isBlank
	}
	return h
}

// Alike reports whether two records answer with the same lines, but for a third of them. a and b are their
// marks.
func Alike(a, b []uint64) bool {
	both := 0
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i] < b[k]:
			i++
		case a[i] > b[k]:
			k++
		default:
			both, i, k = both+1, i+1, k+1
		}
	}
	return both > 0 && 3*both >= 2*(len(a)+len(b)-both)
}
