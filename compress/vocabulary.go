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

// Digest is what key lines need to know of one text. It does not change.
type Digest struct {
	text  string
	lines []digestLine
	uses  []int32 // the words of the lines, one line after another, each once in its line
	words []int32 // all of them, each once
}

// digestLine is one line of a text.
type digestLine struct {
	from, to   int32 // its bytes
	n          int32 // its number, from 0
	number     int32 // of what it says, in the vocabulary
	uses, last int32 // its words
	tokens     int32 // about, without what stands before it
	speaks     bool  // it may be chosen by itself, not only beside another one
}

// Size returns about how many bytes of memory d takes.
func (d *Digest) Size() int {
	return len(d.text) + 32*len(d.lines) + 4*(len(d.uses)+len(d.words)) + 96
}

// Text returns the text that d is of.
func (d *Digest) Text() string { return d.text }

// Numbers returns the numbers of the lines of d in its vocabulary.
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

// Digest reads a text.
func (v *Vocabulary) Digest(text string) *Digest {
	d := &Digest{text: text}
	forms := map[uint64]int{}
	at := 0
	EachLine(text, func(_ int, line string) { forms[form(line)]++ })
	seen := map[int32]bool{}
	var words []string // of one line
	var kinds []WordKind
	EachLine(text, func(n int, line string) {
		words, kinds = words[:0], kinds[:0]
		plain, identifiers := 0, 0
		counted := forms[form(line)] >= serial
		EachWord(line, func(w string, kind WordKind) {
			if kind == OtherWord || counted && kind == IdentifierWord && isCounter(w) {
				return
			}
			if words, kinds = append(words, w), append(kinds, kind); kind == PlainWord {
				plain++
			} else {
				identifiers++
			}
		})
		at += strings.Index(text[at:], line)
		l := digestLine{from: int32(at), to: int32(at + len(line)), n: int32(n), number: v.line(line), uses: int32(len(d.uses)), tokens: int32(ctxabi.Weight(line))}
		at += len(line)
		for i, w := range words {
			k := v.word(w, kinds[i])
			if !contains(d.uses[l.uses:], k) {
				d.uses = append(d.uses, k)
			}
			if !seen[k] {
				seen[k] = true
				d.words = append(d.words, k)
			}
		}
		l.last = int32(len(d.uses))
		l.speaks = (identifiers > 0 || plain > 1) && strings.IndexFunc(line, unicode.IsSpace) >= 0 // a line of one word says nothing of it
		d.lines = append(d.lines, l)
	})
	return d
}

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
	digits := 0
	for digits < len(line) && digits < 7 && '0' <= line[digits] && line[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits == len(line) {
		return line
	}
	rest := line[digits:]
	for _, mark := range []string{"→", "\t", "|", ":\t", ": ", ":"} {
		if after, ok := strings.CutPrefix(rest, mark); ok {
			return strings.TrimSpace(after)
		}
	}
	return line
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
