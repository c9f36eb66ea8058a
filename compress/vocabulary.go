package compress

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Vocabulary numbers the words and the lines of the texts of one history, so that what key lines
// need to know of a text is a few numbers. Numbers do not count: what [KeyLines] chooses does not
// depend on them. The zero value is ready. It must not be used by several goroutines at once.
type Vocabulary struct {
	words map[uint64]int32
	lines map[uint64]int32
	plain []bool // by the number of a word: it is no identifier
}

// Len returns how many words and lines it knows.
func (v *Vocabulary) Len() int { return len(v.words) + len(v.lines) }

// word returns the number of a word.
func (v *Vocabulary) word(w string, kind WordKind) int32 {
	n := numberOf(&v.words, Hash(w))
	if int(n) == len(v.plain) {
		v.plain = append(v.plain, kind == PlainWord)
	}
	return n
}

// line returns the number of a line.
func (v *Vocabulary) line(line string) int32 { return numberOf(&v.lines, Hash(Unnumbered(line))) }

// numberOf returns the number of a hash; new hashes are numbered from the size of the map on.
func numberOf(numbers *map[uint64]int32, hash uint64) int32 {
	n, ok := (*numbers)[hash]
	if !ok {
		if *numbers == nil {
			*numbers = map[uint64]int32{}
		}
		n = int32(len(*numbers))
		(*numbers)[hash] = n
	}
	return n
}

// Unit is the smallest part of a text that [Vocabulary.KeyLines] selects: a sentence, a list
// item, a table row, or a line of code or output.
type Unit struct {
	From, To int // byte range in the text

	// Under is 1 + the index of an earlier unit that this one needs as context, such as a table
	// header or the introduction of a list. 0 means none.
	Under int
	Plain bool // code, data, or output; its gain is divided by plainWorth
	Lead  bool // selected only as the context of another unit
}

// lineUnits returns each line of a text as a unit; see [EachLine].
func lineUnits(text string) (units []Unit) {
	at := 0
	EachLine(text, func(_ int, line string) {
		at += strings.Index(text[at:], line)
		units = append(units, Unit{From: at, To: at + len(line)})
		at += len(line)
	})
	return units
}

// maxQuote is the maximum length of a quote in bytes. [Clip] shortens longer units.
const maxQuote = 480

// quoteOf returns the text of a unit as one line of up to maxQuote bytes.
func quoteOf(text string, l *digestLine) string {
	quote := text[l.from:l.to]
	if strings.ContainsAny(quote, "\n\r\v\f\u0085\u2028\u2029") {
		quote = strings.Join(strings.Fields(strings.ReplaceAll(quote, "\n>", "\n")), " ")
	}
	return Clip(quote, maxQuote)
}

// Digest is a text with its units and their words, as numbers of a [Vocabulary]. It is immutable.
type Digest struct {
	text  string
	lines []digestLine
	uses  []int32 // distinct words of each unit; a unit owns uses[l.uses:l.last]
	words []int32 // distinct words of the text
}

// digestLine is a [Unit] in a digest.
type digestLine struct {
	from, to   int32
	under      int32
	number     int32 // line number in the vocabulary; equal lines have equal numbers
	uses, last int32 // range in Digest.uses
	tokens     int32 // estimate for the quote alone
	plain      bool
	lead       bool
	candidate  bool // may start a run; other units are only added to one
}

// Size estimates the memory of d in bytes.
func (d *Digest) Size() int {
	return len(d.text) + 36*len(d.lines) + 4*(len(d.uses)+len(d.words)) + 96
}

// Text returns the whole text.
func (d *Digest) Text() string { return d.text }

// Numbers returns the line number of each unit in the vocabulary, in order.
func (d *Digest) Numbers() []int32 {
	out := make([]int32, len(d.lines))
	for i := range d.lines {
		out[i] = d.lines[i].number
	}
	return out
}

// Line returns the text of a unit in one line.
func (d *Digest) Line(unit int) string { return quoteOf(d.text, &d.lines[unit]) }

// serial is the number of lines of the same form from which Digest ignores their counters.
const serial = 8

// Digest adds the words and lines of a text to v and returns its digest. units must be sorted by
// From. If units is nil, each line is a unit.
func (v *Vocabulary) Digest(text string, units ...Unit) *Digest {
	if units == nil {
		units = lineUnits(text)
	}
	d := &Digest{text: text, lines: make([]digestLine, 0, len(units))}
	forms := map[uint64]int{}
	for _, u := range units {
		forms[form(text[u.From:u.To])]++
	}
	seen := map[int32]bool{}
	for _, u := range units {
		l := digestLine{from: int32(u.From), to: int32(u.To), under: int32(u.Under), uses: int32(len(d.uses)),
			plain: u.Plain, lead: u.Lead}
		line := quoteOf(text, &l)
		l.number, l.tokens = v.line(line), int32(ctxabi.Weight(line))
		plain, identifiers := 0, 0
		counted := forms[form(text[u.From:u.To])] >= serial
		EachWord(line, func(w string, kind WordKind) {
			if kind == OtherWord || counted && kind == IdentifierWord && isCounter(w) {
				return
			}
			if kind == PlainWord {
				plain++
			} else {
				identifiers++
			}
			k := v.word(w, kind)
			if !slices.Contains(d.uses[l.uses:], k) {
				d.uses = append(d.uses, k)
			}
			if !seen[k] {
				seen[k] = true
				d.words = append(d.words, k)
			}
		})
		l.last = int32(len(d.uses))
		spaced := strings.IndexFunc(line, unicode.IsSpace) >= 0
		if !spaced { // a single word has no context, unless its script has no spaces
			identifiers, plain = 0, plain-minPairs+2
		}
		l.candidate = !u.Lead && (identifiers > 0 || plain > 1)
		d.lines = append(d.lines, l)
	}
	return d
}

// minPairs is the number of character pairs from which a line without spaces is a candidate.
const minPairs = 4

// form is a hash of a line with one digit in the place of each number.
func form(line string) uint64 {
	h, number := uint64(14695981039346656037), false
	for i := 0; i < len(line); i++ {
		c := line[i]
		if classes[c]&digitByte != 0 {
			if number {
				continue
			}
			c, number = '0', true
		} else {
			number = false
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// isCounter reports whether a word is a number, a time or an address: digits, and no letters but
// those of hexadecimal numbers.
func isCounter(w string) bool {
	digits := 0
	for i := 0; i < len(w); i++ {
		switch c := w[i]; {
		case '0' <= c && c <= '9':
			digits++
		case strings.IndexByte("abcdefABCDEFxTZ.:-/#,", c) < 0:
			return false
		}
	}
	return digits > 0
}

// Unnumbered removes the line number that a file viewer printed before a line.
func Unnumbered(line string) string {
	if rest, ok := cutNumber(line); ok {
		return strings.TrimSpace(rest)
	}
	return line
}

// cutNumber removes a leading number of up to seven digits and its separator. If line has none, ok
// is false and rest is line.
func cutNumber(line string) (rest string, ok bool) {
	digits := 0
	for digits < len(line) && digits < 7 && '0' <= line[digits] && line[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits == len(line) {
		return line, false
	}
	for _, mark := range []string{"→", "\t", "|", ":\t", ": ", ":"} {
		if rest, ok := strings.CutPrefix(line[digits:], mark); ok {
			return rest, true
		}
	}
	return line, false
}

// WithoutNumbers removes the line numbers that a file viewer printed. It returns text unchanged if
// it has fewer than two lines or less than 80 % of them are numbered.
func WithoutNumbers(text string) string {
	var b strings.Builder
	lines, numbered := 0, 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
		rest, ok := cutNumber(strings.TrimLeft(line, " "))
		if ok {
			numbered++
			line = rest
		}
		b.WriteString(line)
	}
	if lines < 2 || numbered*5 < lines*4 {
		return text
	}
	return b.String()
}

// worths are what a record of each age gives to a word, in 1/65536.
var worths = func() (all [worthAges]int64) {
	for age := range all {
		all[age] = int64(math.Round(float64(math.Exp2(-float64(age)/halfLife) * 65536)))
	}
	return all
}()

const worthAges = 16 * halfLife

// weigh returns the weights of all words, in 1/1024.
func (v *Vocabulary) weigh(sources []Source) []int64 {
	sums, last := make([]int64, len(v.plain)), make([]int32, len(v.plain))
	for i := range sources {
		s := &sources[i]
		worth := worths[min(max(s.Age, 0), worthAges-1)]
		if !s.Tool {
			worth *= saidWorth
		}
		for _, w := range s.Digest.words {
			if last[w] != int32(s.Age)+1 { // a record can have several texts
				last[w], sums[w] = int32(s.Age)+1, sums[w]+worth
			}
		}
	}
	for w, sum := range sums {
		if sum == 0 {
			continue
		}
		weight := float64(math.Pow(float64(sum)/65536, dampening) * 1024)
		if v.plain[w] {
			weight = float64(weight * plainShare)
		}
		sums[w] = max(1, int64(weight))
	}
	return sums
}
