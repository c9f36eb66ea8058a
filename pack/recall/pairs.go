package recall

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// A record is often half of a pair: a question and its answer, a call and its result.
const (
	resultAfter = 16  // records after a call among which its result is looked for
	turnsAround = 2   // records before and after one that is shown
	pairBytes   = 240 // of the other half, about
)

// pair shows the short form of the other half of a shown record: the question that it answers, the
// answer to its question, the first lines of the results of its calls, or the call of a result.
func (c *chooser) pair(t *turn) {
	switch e := c.History.At(t.at); {
	case record.IsResult(e):
		if call := c.turn(int(e.CallOf)); call != nil && call.at < t.at {
			c.showEnd(call)
		}
	case e.Flags&ctxabi.HasCalls != 0:
		if t.writes {
			return // the result says little
		}
		for at := t.at + 1; at <= min(c.Fold.N, t.at+resultAfter); at++ {
			if r := c.History.At(at); record.IsResult(r) && int(r.CallOf) == t.at {
				c.showBegin(c.turn(at))
			}
		}
	default:
		if before := c.turn(t.at - 1); c.speaks(before) {
			if question := questionIn(before); question.To > 0 {
				c.show(before, question)
			}
		}
		if next := c.turn(t.at + 1); c.speaks(next) && questionIn(t).To > 0 {
			c.showBegin(next)
		}
	}
}

// showAround shows the short messages before and after the shown ones, nearest first.
func (c *chooser) showAround() {
	shown := slices.Clone(c.order)
	for away := 1; away <= turnsAround; away++ {
		for _, t := range shown {
			if !c.speaks(t) {
				continue
			}
			for _, at := range []int{t.at + away, t.at - away} {
				if near := c.turn(at); c.speaks(near) && len(near.text) <= shortTurn {
					c.showBegin(near)
				}
			}
		}
	}
}

// widen shows all of the shown records that are not long, and of long ones the units next to the
// shown parts.
func (c *chooser) widen() {
	for _, t := range slices.Clone(c.order) {
		if len(t.text) <= wholeTurn && c.show(t, t.all()) {
			continue
		}
		for _, p := range slices.Clone(t.shown) {
			for i, u := range t.units {
				if i+1 < len(t.units) && t.units[i+1].From == p.From || i > 0 && t.units[i-1].To == p.To {
					c.show(t, u.Passage)
				}
			}
		}
	}
}

// speaks reports whether a record is a message of the user or the agent, and has text.
func (c *chooser) speaks(t *turn) bool {
	if t == nil || len(t.units) == 0 {
		return false
	}
	e := c.History.At(t.at)
	return (e.Role == ctxabi.User || e.Role == ctxabi.Assistant) && !record.IsResult(e)
}

// showBegin shows the first units of a record.
func (c *chooser) showBegin(t *turn) {
	if t == nil || len(t.units) == 0 {
		return
	}
	last := 0
	for last+1 < len(t.units) && t.units[last+1].To-t.units[0].From <= pairBytes {
		last++
	}
	c.show(t, t.between(0, last))
}

// showEnd shows the last units of a record, where its calls are.
func (c *chooser) showEnd(t *turn) {
	last := len(t.units) - 1
	if last < 0 {
		return
	}
	first := last
	for first > 0 && t.units[last].To-t.units[first-1].From <= pairBytes {
		first--
	}
	c.show(t, t.between(first, last))
}

// questionIn returns the last question in the last two units of a record, or the zero Passage.
func questionIn(t *turn) compress.Passage {
	for i := len(t.units) - 1; i >= max(0, len(t.units)-2); i-- {
		u := t.units[i]
		end := strings.LastIndexByte(t.text[u.From:u.To], '?')
		for at := u.From; end >= 0 && at < u.To; {
			next := at + sentenceEnd(t.text[at:u.To])
			if next > u.From+end {
				return trimmed(t.text, at, next)
			}
			at = next
		}
	}
	return compress.Passage{}
}
