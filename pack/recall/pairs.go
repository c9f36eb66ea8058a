package recall

import (
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// What a record says is often half of it: an answer without its question, a command without what came of it.
const (
	resultAfter = 16  // records behind a call among which its result is looked for
	turnsAround = 2   // records before and behind one that is shown
	pairBytes   = 240 // of the other half, at most about
)

// pair shows the other half of a record that is shown, in short: the question that it answers, the answer to what it asks, the
// first lines of what its calls came to, the call that it is the result of.
func (a *answers) pair(t *turn) {
	m, e := a.q.History, a.q.History.At(t.at)
	switch {
	case record.IsResult(e):
		if call := a.turn(int(e.CallOf)); call != nil && call.at < t.at {
			a.showCall(call)
		}
	case e.Flags&ctxabi.HasCalls != 0:
		if len(t.text)-t.said > 2*shortTurn {
			return // it writes something: what comes of that says little
		}
		for at := t.at + 1; at <= min(a.q.Fold.N, t.at+resultAfter); at++ {
			if r := m.At(at); record.IsResult(r) && int(r.CallOf) == t.at {
				a.showFirst(a.turn(at))
			}
		}
	default:
		if before := a.turn(t.at - 1); a.speaks(before) {
			if from, to := questionIn(before); from < to {
				a.show(before, from, to)
			}
		}
		if from, to := questionIn(t); from < to {
			if next := a.turn(t.at + 1); a.speaks(next) {
				a.showFirst(next)
			}
		}
	}
}

// around shows what was said just before and behind some records that are shown and say something, the nearest first, where there is
// room left: a talk goes on over several turns.
func (a *answers) around(shown []*turn) {
	for away := 1; away <= turnsAround; away++ {
		for _, t := range shown {
			if !a.speaks(t) {
				continue
			}
			for _, at := range []int{t.at + away, t.at - away} {
				if near := a.turn(at); a.speaks(near) && len(near.text) <= shortTurn {
					a.showFirst(near)
				}
			}
		}
	}
}

// speaks reports whether a record is what somebody says.
func (a *answers) speaks(t *turn) bool {
	if t == nil || len(t.units) == 0 {
		return false
	}
	e := a.q.History.At(t.at)
	return (e.Role == ctxabi.User || e.Role == ctxabi.Assistant) && !record.IsResult(e)
}

// showFirst shows how a record begins.
func (a *answers) showFirst(t *turn) {
	if t == nil || len(t.units) == 0 {
		return
	}
	last := 0
	for last+1 < len(t.units) && t.units[last+1].To-t.units[0].From <= pairBytes {
		last++
	}
	a.show(t, t.units[0].From, t.units[last].To)
}

// showCall shows what a record calls: its end, behind what it says.
func (a *answers) showCall(t *turn) {
	n := len(t.units)
	if n == 0 {
		return
	}
	first := n - 1
	for first > 0 && t.units[n-1].To-t.units[first-1].From <= pairBytes {
		first--
	}
	a.show(t, t.units[first].From, t.units[n-1].To)
}

// questionIn returns the last sentence of a record that asks, if it ends the record or nearly does.
func questionIn(t *turn) (from, to int) {
	if len(t.units) == 0 {
		return 0, 0
	}
	for i := len(t.units) - 1; i >= max(0, len(t.units)-2); i-- {
		u := t.units[i]
		part := t.text[u.From:u.To]
		end := strings.LastIndexByte(part, '?')
		if end < 0 {
			continue
		}
		for at := 0; at < len(part); {
			next := at + sentenceEnd(part[at:])
			if next > end {
				p := trimmed(t.text, u.From+at, u.From+next)
				return p.From, p.To
			}
			at = next
		}
	}
	return 0, 0
}
