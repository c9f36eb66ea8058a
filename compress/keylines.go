package compress

import (
	"container/heap"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Source is one record of a history from which key lines are chosen, or that is read to judge them.
type Source struct {
	Text string
	Age  int  // in records: 0 for the newest
	Tool bool // a tool's output; what people and models say counts four times as much
	// Shown: it stands in the prompt anyway. It says what matters, and gives no lines.
	Shown bool
}

// KeyLine is one line of a source, without blanks at its ends.
type KeyLine struct {
	Source int // index of the source
	Line   int // in it, from 0
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
	lineOverhead = 4    // tokens that a line takes beside its text
	maxMisses    = 24   // lines in a row that do not fit: the room is used up
)

// KeyLines chooses lines of sources that repeat what may be needed later and is not shown, for
// at most room tokens by cost. It chooses greedily, by the weight of the words that are not
// covered yet per token. The weight of an identifier is the sum, over the records that hold it,
// of 0.5^(age/120), four times that where it stands outside of a tool's output, to the power of
// 0.7; a plain word has a fraction of it. A covered word weighs little, but not nothing: where
// there is room, another line with it stands there, too.
//
// covered are texts that are shown beside the sources. cost is called with a line and the room
// that is left; if it returns more than that, the line is left out. The lines come in the order
// of their sources. A line that occurs several times is taken from the last record that has it.
func KeyLines(sources []Source, covered []string, room int, cost func(line KeyLine, left int) int) []KeyLine {
	p := newPicker(sources, covered)
	var out []KeyLine
	misses := 0
	for room > 0 && misses < maxMisses {
		c := p.next()
		if c == nil {
			break
		}
		n := cost(c.KeyLine, room)
		if n > room {
			misses++
			continue
		}
		misses = 0
		room -= n
		p.cover(c.words)
		out = append(out, c.KeyLine)
	}
	slices.SortFunc(out, func(a, b KeyLine) int {
		if a.Source != b.Source {
			return a.Source - b.Source
		}
		return a.Line - b.Line
	})
	return out
}

// candidate is a line that may be chosen.
type candidate struct {
	KeyLine
	words  []int32 // distinct
	tokens int64   // about
	gain   int64   // when it was looked at last
}

// picker chooses candidates one after another.
type picker struct {
	numbers map[uint64]int32 // of words
	weights []int64          // by number, in 1/1024
	heap    []*candidate
}

// wordUse is what is known of a word while sources are read.
type wordUse struct {
	sum  float64
	last int // the source that was counted last, from 1
	kind WordKind
}

func newPicker(sources []Source, covered []string) *picker {
	p := &picker{numbers: map[uint64]int32{}}
	var uses []wordUse
	number := func(w string, kind WordKind) int32 {
		id := Hash(w)
		n, ok := p.numbers[id]
		if !ok {
			n = int32(len(uses))
			p.numbers[id] = n
			uses = append(uses, wordUse{kind: kind})
		}
		return n
	}
	byText := map[uint64]*candidate{}
	var all []*candidate
	var words []int32 // of one line
	for i, s := range sources {
		worth := math.Exp2(-float64(s.Age) / halfLife)
		if !s.Tool {
			worth = float64(saidWorth * worth)
		}
		EachLine(s.Text, func(n int, line string) {
			words = words[:0]
			EachWord(line, func(w string, kind WordKind) {
				if kind == OtherWord {
					return
				}
				k := number(w, kind)
				if u := &uses[k]; u.last != i+1 {
					u.sum, u.last = u.sum+worth, i+1
				}
				words = append(words, k)
			})
			if s.Shown || len(words) == 0 || strings.IndexFunc(line, unicode.IsSpace) < 0 {
				return // a line of one word says nothing of it
			}
			at := KeyLine{Source: i, Line: n, Text: line}
			id := Hash(line)
			if same := byText[id]; same != nil {
				same.KeyLine = at
				return
			}
			slices.Sort(words)
			c := &candidate{KeyLine: at, words: slices.Clone(slices.Compact(words)), tokens: int64(ctxabi.Weight(line) + lineOverhead)}
			byText[id] = c
			all = append(all, c)
		})
	}
	p.weights = make([]int64, len(uses))
	for i, u := range uses {
		w := math.Pow(u.sum, dampening) * 1024
		if u.kind == PlainWord {
			w = float64(w * plainShare)
		}
		p.weights[i] = max(1, int64(w))
	}
	shown := make([]bool, len(uses))
	for _, text := range covered {
		EachLine(text, func(_ int, line string) {
			if same := byText[Hash(line)]; same != nil {
				same.tokens = 0 // it stands there already
			}
			EachWord(line, func(w string, _ WordKind) {
				if n, ok := p.numbers[Hash(w)]; ok && !shown[n] {
					shown[n] = true
					p.weights[n] /= shownWorth
				}
			})
		})
	}
	for _, c := range all {
		if c.tokens == 0 {
			continue
		}
		if c.gain = p.gain(c); c.gain > 0 {
			p.heap = append(p.heap, c)
		}
	}
	heap.Init(p)
	return p
}

func (p *picker) gain(c *candidate) (sum int64) {
	for _, w := range c.words {
		sum += p.weights[w]
	}
	return sum
}

func (p *picker) cover(words []int32) {
	for _, w := range words {
		p.weights[w] /= chosenWorth
	}
}

// next removes the best candidate from the heap and returns it; nil if none gains anything. What
// a candidate gains never grows.
func (p *picker) next() *candidate {
	for len(p.heap) > 0 {
		c := p.heap[0]
		now := p.gain(c)
		if now == c.gain {
			heap.Pop(p)
			if now == 0 {
				return nil
			}
			return c
		}
		if c.gain = now; now == 0 {
			heap.Pop(p)
		} else {
			heap.Fix(p, 0)
		}
	}
	return nil
}

func (p *picker) Len() int { return len(p.heap) }

func (p *picker) Less(i, j int) bool {
	a, b := p.heap[i], p.heap[j]
	if x, y := a.gain*b.tokens, b.gain*a.tokens; x != y {
		return x > y
	}
	if a.Source != b.Source {
		return a.Source > b.Source
	}
	return a.Line < b.Line
}

func (p *picker) Swap(i, j int) { p.heap[i], p.heap[j] = p.heap[j], p.heap[i] }

func (p *picker) Push(x any) { p.heap = append(p.heap, x.(*candidate)) }

func (p *picker) Pop() any {
	last := len(p.heap) - 1
	c := p.heap[last]
	p.heap = p.heap[:last]
	return c
}
