package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
)

// conversation is what the records stand below, in every pack.
const conversation = "# Context Block: conversation\n"

// window is a method that chooses anew each time.
type window struct {
	*chooser
	choose func(c *chooser, n int)
}

func (w *window) Pack(n int) (Pack, error) {
	w.begin(n)
	w.choose(w.chooser, n)
	return w.pack(), nil
}

// chooser shows records of a session within a budget. All baselines keep the leading system records, as
// agents do, up to a quarter of the budget.
type chooser struct {
	s       *Session
	counter *tokens.Counter
	budget  int
	indexes []*compress.Index // of each record
	stubs   map[int]piece     // of masked results
	cuts    map[[2]int]piece  // of records that were shortened to a room

	room  int // what is left
	shown map[int]piece
	lead  int // the leading records
}

type piece struct {
	text   string
	tokens int
}

func newChooser(s *Session, c *tokens.Counter, budget int) *chooser {
	return &chooser{s: s, counter: c, budget: budget, stubs: map[int]piece{}, cuts: map[[2]int]piece{}}
}

func (c *chooser) begin(n int) {
	c.room = c.budget - c.counter.Count(conversation)
	c.shown, c.lead = map[int]piece{}, 0
	left := c.budget / 4
	for line := 1; line <= n; line++ {
		if role := c.s.said[line-1].Role; role != ctxabi.System && role != ctxabi.Developer {
			break
		}
		c.lead = line
		left -= c.cut(line, left)
	}
}

// whole is a record in full.
func (c *chooser) whole(line int) piece { return piece{c.s.texts[line-1], c.s.tokens[line-1]} }

// put shows a piece of a record if there is room for it, and says so.
func (c *chooser) put(line int, p piece) bool {
	if _, there := c.shown[line]; there {
		return true
	}
	if p.tokens > c.room {
		return false
	}
	c.shown[line] = p
	c.room -= p.tokens
	return true
}

// leastCut is the least room, in tokens, in which the ends of a record are worth showing.
const leastCut = 64

// cut shows a record, or its head and tail, within room; it gives what that took.
func (c *chooser) cut(line, room int) int {
	if _, there := c.shown[line]; there {
		return 0
	}
	before := c.room
	room = min(room, c.room)
	p := c.whole(line)
	if p.tokens > room {
		if room < leastCut {
			return 0
		}
		p = c.shortened(line, room)
	}
	c.put(line, p)
	return before - c.room
}

// shortened is the head and tail of a record within room.
func (c *chooser) shortened(line, room int) piece {
	key := [2]int{line, room}
	p, ok := c.cuts[key]
	for body := room - 24; !ok; body -= body/8 + 1 { // bodies are weights, which are estimates
		if body < 16 {
			p = piece{tokens: 1 << 30} // only its path would fit
			break
		}
		text := c.s.headTail(line, body)
		p = piece{text, c.counter.CountCached(text)}
		ok = p.tokens <= room
	}
	c.cuts[key] = p
	return p
}

// newest shows the newest records up to n, as long as they fit in room, and cuts the first that does not.
func (c *chooser) newest(n, room int, form func(line int) piece) {
	for line := n; line > c.lead; line-- {
		if _, there := c.shown[line]; there {
			continue
		}
		p := form(line)
		if p.tokens > room || !c.put(line, p) {
			if p == c.whole(line) {
				c.cut(line, room)
			}
			return
		}
		room -= p.tokens
	}
}

func (c *chooser) lastN(n int) { c.newest(n, c.room, c.whole) }

func (c *chooser) headTail(n int) {
	half := c.room / 2
	for line := c.lead + 1; line <= n; line++ {
		if c.s.tokens[line-1] > half {
			c.cut(line, half)
			break
		}
		c.put(line, c.whole(line))
		half -= c.s.tokens[line-1]
	}
	c.newest(n, c.room, c.whole)
}

func (c *chooser) firstUser(n int) {
	for line := c.lead + 1; line <= n; line++ {
		if c.s.said[line-1].Role == ctxabi.User {
			c.cut(line, c.budget/4)
			break
		}
	}
	c.newest(n, c.room, c.whole)
}

// maskedBefore is how many of the newest tool results observation masking shows.
const maskedBefore = 10

func (c *chooser) masked(n int) {
	results, first := 0, n+1 // the first result that is shown
	for line := n; line > c.lead && results < maskedBefore; line-- {
		if c.s.isResult(line) {
			results++
			first = line
		}
	}
	c.newest(n, c.room, func(line int) piece {
		if line >= first || !c.s.isResult(line) {
			return c.whole(line)
		}
		p, ok := c.stubs[line]
		if !ok {
			heading, _, _ := strings.Cut(c.s.texts[line-1], "\n")
			p.text = fmt.Sprintf("%s\n[output left out, all of it in %s/%d.txt]\n", heading, ctxabi.LineDir, line)
			p.tokens = c.counter.Count(p.text)
			if p.tokens >= c.s.tokens[line-1] {
				p = c.whole(line)
			}
			c.stubs[line] = p
		}
		return p
	})
}

// queryFrom is how many of the newest records say what is looked for.
const queryFrom = 3

func (c *chooser) ranked(n int) {
	half := c.room / 2
	c.newest(n, half, c.whole)
	for len(c.indexes) < n {
		c.indexes = append(c.indexes, compress.NewIndex(c.s.texts[len(c.indexes):len(c.indexes)+1]))
	}
	query := strings.Join(c.s.texts[max(c.lead, n-queryFrom):n], "\n")
	for _, hit := range compress.JoinIndexes(c.indexes[:n]...).Rank(query) {
		if c.room < leastCut {
			break
		}
		if line := hit.Doc + 1; line > c.lead {
			c.put(line, c.whole(line))
		}
	}
}

// pack writes what is shown, in order.
func (c *chooser) pack() Pack {
	lines := make([]int, 0, len(c.shown))
	for line := range c.shown {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	var b strings.Builder
	b.WriteString(conversation)
	for _, line := range lines {
		b.WriteString(c.shown[line].text)
	}
	text := b.String()
	return Pack{Text: text, Tokens: c.counter.CountParts(text)}
}
