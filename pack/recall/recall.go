package recall

import (
	"cmp"
	"fmt"
	"maps"
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

// Limits of what is looked for and of what is read.
const (
	requestBytes  = 2000 // of the request
	newestRecords = 4    // records after the request whose texts are part of the query
	newestBytes   = 750  // at each end of one of them

	leastRecords  = 16  // best records that are read
	mostRecords   = 160 // likewise, for a large room
	passageTokens = 40  // estimated tokens of a passage; one more record is read for each that has room
	besideRecords = 32  // best records whose neighbors are read, too
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

	turns map[int]*turn // records that were read, by place
	units []unit        // best first, of equal ones the newest first
}

// ranking searches for the request or, while the agent works on it, for what it said last. An agent
// at work makes many packs, so there is one search for each searchStep records.
func (q *Query) ranking(most int) (*ranking, error) {
	n := max(q.Fold.Last.Line, q.Fold.N-q.Fold.N%searchStep)
	if !slices.ContainsFunc(q.Parts, func(p journal.Part) bool { return !p.Omitted }) {
		n = q.Fold.N // the pack shows no newer records
	}
	r := &ranking{query: q.textUpTo(n), n: n, most: most, turns: map[int]*turn{}}
	if last := q.Memo.ranking; last != nil && last.query == r.query && last.n == n && last.most == most {
		return last, nil
	}
	f, err := q.Memo.Terms.find(q.Memo.Context, q.History, n, termsOf(r.query), most)
	if err != nil {
		return nil, err
	}
	for i, at := range f.places {
		near := 0
		if i < besideRecords {
			near = 1
		}
		for at := max(1, at-near); at <= min(n, at+near); at++ {
			r.turn(q.History, at)
		}
	}
	r.rank(f.terms)
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

// chooser chooses the parts of ranked records that a pack shows.
type chooser struct {
	*Query
	*ranking
	view  *view
	order []*turn // records that are shown, in the order of the choice
	room  int     // tokens left
	best  float64 // score of the best unit that may be shown

	whole    map[int]bool // places that the pack shows whole, or that are outdated
	over     map[int]bool // places of failures that are over
	changed  journal.Changed
	replaced map[int]bool     // results of isReplaced
	lines    map[string]*turn // shown lines, as wordsOf returns them
}

func newChooser(q *Query, r *ranking, room int) *chooser {
	c := &chooser{Query: q, ranking: r, view: q.view(), room: room,
		whole: map[int]bool{q.Fold.Last.Line: true}, changed: q.Memo.Changed(q.History, q.Fold),
		replaced: map[int]bool{}, lines: map[string]*turn{}}
	for i := range q.Parts {
		if p := &q.Parts[i]; p.From > 0 && !p.Omitted && p.How == "" && p.Zone == 0 {
			c.whole[p.From] = true
		}
	}
	maps.Copy(c.whole, q.Memo.Outdated(q.History, q.Fold.N))
	if o, err := q.Memo.Outcomes(q.History, q.Fold); err == nil {
		c.over = o.Closed
	}
	for _, t := range r.turns {
		t.shown, t.tokens = nil, 0
	}
	return c
}

// turn reads the record at a place once. It returns nil if there is no such record.
func (c *chooser) turn(at int) *turn { return c.ranking.turn(c.History, at) }

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

// choose shows a unit, or all of a short record. It reports whether there was room for it.
func (c *chooser) choose(u unit) bool {
	t := u.turn
	return len(t.text) <= shortTurn && c.show(t, t.all()) || c.show(t, u.Passage)
}

// show shows the part of a record that is missing in the pack, together with parts near to it. It
// reports whether it does.
func (c *chooser) show(t *turn, part compress.Passage) bool {
	if c.whole[t.at] {
		return false
	}
	part = c.unseen(t, part)
	text := t.text[part.From:part.To]
	if text == "" || c.isReplaced(t, part.From) || c.changed.States(t.at, text) || c.over[t.at] && tellsFailure(text) {
		return false
	}
	var parts []compress.Passage
	for _, p := range t.shown {
		switch {
		case p.From <= part.From && part.To <= p.To:
			return false
		case p.To < part.From && !c.joins(t, p.To, part.From), part.To < p.From && !c.joins(t, part.To, p.From):
			parts = append(parts, p)
		default:
			part = compress.Passage{From: min(p.From, part.From), To: max(p.To, part.To)}
		}
	}
	parts = append(parts, part)
	slices.SortFunc(parts, func(p, q compress.Passage) int { return p.From - q.From })

	tokens := 0
	for _, p := range parts {
		tokens += c.passage(t, p).Tokens
	}
	if tokens-t.tokens > c.room {
		return false
	}
	if t.tokens == 0 {
		c.order = append(c.order, t)
	}
	c.room -= tokens - t.tokens
	t.shown, t.tokens = parts, tokens
	compress.EachLine(t.text[part.From:part.To], func(_ int, line string) {
		if words := wordsOf(line); c.lines[words] == nil {
			c.lines[words] = t
		}
	})
	return true
}

// joins reports whether the gap between two shown parts of a record is shown, too.
func (c *chooser) joins(t *turn, from, to int) bool {
	gap := trimmed(t.text, from, to)
	return gap.From >= gap.To || to-from <= nearGap && c.unseen(t, gap) == gap
}

// unseen returns the longest run of lines in a part of a record that neither the pack nor another
// shown record contains. A short line does not end a run.
func (c *chooser) unseen(t *turn, part compress.Passage) (longest compress.Passage) {
	var run compress.Passage
	end := part.From
	compress.EachLine(t.text[part.From:part.To], func(_ int, line string) {
		from := end + strings.Index(t.text[end:], line)
		end = from + len(line)
		switch {
		case c.view.isDone(line):
			run = compress.Passage{}
			return
		case len(line) < LineBytes:
			return
		case c.view.has(line):
			run = compress.Passage{}
			return
		}
		if other := c.lines[wordsOf(line)]; other != nil && other != t {
			run = compress.Passage{}
			return
		}
		if run.To == 0 {
			run.From = from
		}
		if run.To = end; run.To-run.From > longest.To-longest.From {
			longest = run
		}
	})
	return longest
}

// isReplaced reports whether later writes of the same files replaced what a record contains from a
// byte on: the output of a call, or its arguments.
func (c *chooser) isReplaced(t *turn, from int) bool {
	if !record.IsResult(c.History.At(t.at)) && from < t.said {
		return false
	}
	replaced, known := c.replaced[t.at]
	if !known {
		replaced = c.Memo.Replaced(c.History, t.at, c.Fold.N)
		c.replaced[t.at] = replaced
	}
	return replaced
}

// tellsFailure reports whether a line of text reports a failure.
func tellsFailure(text string) (tells bool) {
	compress.EachLine(text, func(_ int, line string) { tells = tells || compress.TellsFailure(line) })
	return tells
}
