package compress

import (
	"math"
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
	id := Hash(w)
	n, ok := v.words[id]
	if !ok {
		if v.words == nil {
			v.words = map[uint64]int32{}
		}
		n = int32(len(v.plain))
		v.words[id] = n
		v.plain = append(v.plain, kind == PlainWord)
	}
	return n
}

// line returns the number of a line.
func (v *Vocabulary) line(line string) int32 {
	id := Hash(Unnumbered(line))
	n, ok := v.lines[id]
	if !ok {
		if v.lines == nil {
			v.lines = map[uint64]int32{}
		}
		n = int32(len(v.lines))
		v.lines[id] = n
	}
	return n
}

// Unit is a part of a text that can be quoted by itself: a sentence, an item of a list, a row of a
// table, a line of code or of a log.
type Unit struct {
	From, To int  // bytes of the text
	Under    int  // 1 + the index of the unit without which it misleads: a table's header, the line that introduces a list; 0: none
	Plain    bool // code, data, or printed output: it is quoted after text for readers
	Lead     bool // it is quoted only with a unit that is under it
}

// lineUnits returns the lines of a text as units.
func lineUnits(text string) (units []Unit) {
	at := 0
	EachLine(text, func(_ int, line string) {
		at += strings.Index(text[at:], line)
		units = append(units, Unit{From: at, To: at + len(line)})
		at += len(line)
	})
	return units
}

// maxQuote is the length in bytes up to which a unit is quoted whole.
const maxQuote = 480

// quoteOf returns the quote of a unit: one line, with … where it is cut.
func quoteOf(text string, l *digestLine) string {
	quote := text[l.from:l.to]
	if strings.ContainsAny(quote, "\n\r\v\f\u0085\u2028\u2029") {
		quote = strings.Join(strings.Fields(strings.ReplaceAll(quote, "\n>", "\n")), " ")
	}
	return Clip(quote, maxQuote)
}

// Digest is what key lines need to know of one text. It does not change.
type Digest struct {
	text  string
	lines []digestLine // its units
	uses  []int32      // the words of the units, one unit after another, each once in its unit
	words []int32      // all of them, each once
}

// digestLine is one unit of a text.
type digestLine struct {
	from, to   int32 // its bytes
	under      int32 // see Unit
	number     int32 // of what it says, in the vocabulary
	uses, last int32 // its words
	tokens     int32 // about, without what precedes it
	plain      bool  // see Unit
	lead       bool  // likewise
	speaks     bool  // it may be chosen by itself, not only beside another one
}

// Size returns about how many bytes of memory d takes.
func (d *Digest) Size() int {
	return len(d.text) + 36*len(d.lines) + 4*(len(d.uses)+len(d.words)) + 96
}

// Text returns the text that d is of.
func (d *Digest) Text() string { return d.text }

// Numbers returns the numbers of the units of d in its vocabulary.
func (d *Digest) Numbers() []int32 {
	out := make([]int32, len(d.lines))
	for i := range d.lines {
		out[i] = d.lines[i].number
	}
	return out
}

// serial is how many lines of one form a text has at least when what is counted up in them earns
// nothing.
const serial = 8

// Digest reads a text. units are its parts that can be quoted, in its order; without any, each
// line is a unit.
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
			if !contains(d.uses[l.uses:], k) {
				d.uses = append(d.uses, k)
			}
			if !seen[k] {
				seen[k] = true
				d.words = append(d.words, k)
			}
		})
		l.last = int32(len(d.uses))
		spaced := strings.IndexFunc(line, unicode.IsSpace) >= 0
		if !spaced { // a line of one word says nothing of it
			identifiers, plain = 0, plain-minPairs+2
		}
		l.speaks = !u.Lead && (identifiers > 0 || plain > 1)
		d.lines = append(d.lines, l)
	}
	return d
}

// minPairs is the number of pairs of characters from which a line without spaces says something.
const minPairs = 4

func contains(list []int32, n int32) bool {
	for _, k := range list {
		if k == n {
			return true
		}
	}
	return false
}

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

// Unnumbered returns a line without the number that tools which show files put before it.
func Unnumbered(line string) string {
	if rest, ok := cutNumber(line); ok {
		return strings.TrimSpace(rest)
	}
	return line
}

// cutNumber takes the number that a tool put before a line off it.
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

// WithoutNumbers returns a text without the numbers that a tool put before its lines; a text of
// which most lines have none as it is.
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
