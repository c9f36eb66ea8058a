package recall

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

const (
	// Heading begins the block.
	Heading = record.BlockHeading + "recall\nParts of old records that may matter now, whole in " + ctxabi.LineDir + "/<number>.txt:\n"

	// Least is the number of tokens below which recall is not worth its heading.
	Least = 60
)

// Limits of queries and of records that are read.
const (
	requestBytes  = 2000 // of the request
	newestRecords = 4    // newest records that are part of the query beside the request
	newestBytes   = 750  // at each end of one of them

	leastRecords  = 16  // best records that are read
	mostRecords   = 160 // likewise, for a large room
	passageTokens = 40  // estimated tokens of a passage; one more record is read for each that has room
	leastTokens   = 12  // of a passage

	searchStep = 8 // records that an agent appends between two searches
)

// Shares of scores. A share of the best score decides how much of a unit is shown.
const (
	clearShare   = 0.4 // from here on with its other half and its surroundings
	answerShare  = 0.2 // below, a unit is not shown
	besideShare  = 0.3 // part of the best neighbor's score that counts for a unit
	contentShare = 0.5 // factor for long arguments of a call
	meanUnit     = 24  // terms of a unit, estimated
)

// Sizes in bytes.
const (
	shortTurn = 360  // a record up to this size is shown whole at once
	wholeTurn = 1600 // likewise, if there are tokens left
	nearGap   = 200  // largest gap between two shown parts of a record that is shown, too
)

// Query describes what old records are recalled for, and what the pack shows without them.
type Query struct {
	Memo    *Memo
	History record.Records
	Counter *tokens.Counter
	Fold    *journal.Fold
	Parts   []journal.Part // of the journal
	Shown   []string       // other texts of the pack
	Current string         // the last request of the user, and the open to-dos
	Todo    string         // the agent's to-do list, or ""
}

// Passage is a part of an old record as a pack shows it.
type Passage struct {
	Address record.Address
	Text    string // framed
	Tokens  int
	Cut     bool // the record contains more
}

// Passages chooses passages of up to room tokens and returns them in the order of the records. It
// returns an error if an index cannot be read, or the error of the memo's context.
func (q *Query) Passages(room int) ([]Passage, error) {
	r, err := q.ranking(min(mostRecords, leastRecords+room/passageTokens))
	if err != nil {
		return nil, err
	}
	c := newChooser(q, r, room)
	units := c.chooseAll(r.units, clearShare)
	c.showAround()
	c.widen()
	c.chooseAll(units, answerShare)

	var out []Passage
	slices.SortFunc(c.order, func(a, b *turn) int { return a.at - b.at })
	for _, t := range c.order {
		for _, p := range t.shown {
			out = append(out, q.passage(t, p))
		}
	}
	return out, nil
}

// ranking is the result of a search: the best records, and their units by score.
type ranking struct {
	query string
	n     int // records searched
	most  int // best records read

	turns map[int]*turn     // records that were read, by place
	units []unit            // best first, of equal ones the newest first
	words map[string]string // of lines, as wordsOf returns them
}

// ranking searches for the request or, while the agent works on it, for what it said last. An agent
// at work makes many packs, so there is one search for each searchStep records.
func (q *Query) ranking(most int) (*ranking, error) {
	n := max(q.Fold.Last.Line, q.Fold.N-q.Fold.N%searchStep)
	if !slices.ContainsFunc(q.Parts, func(p journal.Part) bool { return !p.Omitted }) {
		n = q.Fold.N // the pack shows no newer records
	}
	r := &ranking{query: q.textUpTo(n), n: n, most: most, turns: map[int]*turn{}, words: map[string]string{}}
	var before map[int]*turn
	if last := q.Memo.ranking; last != nil {
		if last.query == r.query && last.n == n && last.most == most {
			return last, nil
		}
		before = last.turns
	}
	terms, best, err := q.Memo.Terms.find(q.Memo.Context, q.History, n, termsOf(r.query), most)
	if err != nil {
		return nil, err
	}
	for _, found := range best {
		for at := max(1, found-1); at <= min(n, found+1); at++ {
			if t := before[at]; t != nil && t.speaker != "" {
				r.turns[at] = t // most records are found again
			}
			r.turn(q.History, at)
		}
	}
	r.rank(terms)
	q.Memo.ranking = r
	for _, t := range r.turns {
		if t.speaker == "" { // unreadable, so that the next pack tries again
			q.Memo.ranking = nil
		}
	}
	return r, nil
}

// textUpTo returns the text that is looked for: the request and, while the agent works on it, what
// the newest of the first n records say, without their calls.
func (q *Query) textUpTo(n int) string {
	texts := []string{compress.Clip(q.Current, requestBytes)}
	for at := n; at > max(q.Fold.Last.Line, n-newestRecords); at-- {
		if r, err := record.WordsOf(q.History, at); err == nil {
			text, _ := journal.BothEnds(r.Text, newestBytes)
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// turn reads the record at a place once. It returns nil if there is no such record.
func (r *ranking) turn(m record.Records, at int) *turn {
	if at < 1 || at > r.n {
		return nil
	}
	t, known := r.turns[at]
	if !known {
		t = readTurn(m, at)
		r.turns[at] = t
	}
	return t
}

// rank ranks the units of all turns. A unit gets a part of the score of its best neighbor.
func (r *ranking) rank(terms []asked) {
	for _, t := range r.turns {
		t.score(terms)
	}
	best := func(at int) float64 {
		if t := r.turns[at]; t != nil {
			return t.best
		}
		return 0
	}
	for at, t := range r.turns {
		around := max(best(at-1), best(at+1))
		for i, u := range t.units {
			if u.score == 0 && len(t.units) > 2 {
				continue
			}
			near := around
			if i > 0 {
				near = max(near, t.units[i-1].score)
			}
			if i+1 < len(t.units) {
				near = max(near, t.units[i+1].score)
			}
			if u.score += float64(besideShare * near); u.score > 0 {
				r.units = append(r.units, u)
			}
		}
	}
	slices.SortFunc(r.units, func(x, y unit) int {
		return cmp.Or(cmp.Compare(y.score, x.score), y.turn.at-x.turn.at, x.From-y.From)
	})
}

// termsOf returns the first distinct terms of a text, at most maxAsked.
func termsOf(text string) (terms []asked) {
	known := map[uint64]bool{}
	compress.Terms(text, func(t uint64) {
		if !known[t] && len(terms) < maxAsked {
			known[t] = true
			terms = append(terms, asked{term: t})
		}
	})
	return terms
}

// passage returns a part of a record with its heading.
func (q *Query) passage(t *turn, part compress.Passage) Passage {
	p := Passage{Address: record.AddressOf(q.History, t.at)}
	content := t.text[part.From:part.To]
	p.Cut = !t.whole || strings.TrimSpace(t.text) != content

	var b strings.Builder
	fmt.Fprintf(&b, "## %s%s (recalled)\n", p.Address, t.speaker)
	content = ctxabi.Escape(content)
	record.WriteContent(&b, content, record.NeedsFence(content))
	p.Text = b.String()
	p.Tokens = q.Counter.CountCached(p.Text)
	return p
}

// chooseAll shows units while their scores reach a share of the best score of all, and returns the
// rest. Clear answers are shown with their other half.
func (c *chooser) chooseAll(units []unit, share float64) (rest []unit) {
	for len(units) > 0 && units[0].score >= float64(c.best*share) && c.room >= leastTokens {
		if c.best == 0 && !c.whole[units[0].turn.at] {
			c.best = units[0].score
		}
		if c.choose(units[0]) && share >= clearShare {
			c.pair(units[0].turn)
		}
		units = units[1:]
	}
	return units
}
