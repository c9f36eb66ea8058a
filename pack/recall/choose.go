package recall

import (
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

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

// wordsOf returns the words of a line of a ranked record. Packs with the same ranking share them.
func (c *chooser) wordsOf(line string) string {
	words, known := c.words[line]
	if !known {
		words = wordsOf(line)
		c.words[line] = words
	}
	return words
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
		if words := c.wordsOf(line); c.lines[words] == nil {
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
		if other := c.lines[c.wordsOf(line)]; other != nil && other != t {
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
