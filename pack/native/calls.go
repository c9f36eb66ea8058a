package native

import (
	"fmt"

	"github.com/ctxfs/ctxfs/internal/calls"
	"github.com/ctxfs/ctxfs/pack/record"
)

// call adds a call to the turn at.
func (w *scripter) call(at, i, n int) {
	l := &w.Lines[i]
	c := &l.Contents[n]
	s := Slot{kind: record.CallPortion, Line: i, n: n, id: c.ID, name: calls.Name(c.Name)}
	if s.name != c.Name {
		w.repair(l.Address, "the name of a tool that it calls is one that providers refuse: it is called %s", s.name)
	}
	if c.Broken {
		w.repair(l.Address, "the arguments of a call are not an object of JSON: they stand in one as a text")
	} else if c.Halved {
		w.repair(l.Address, "replaced half of a surrogate pair in the arguments of a call by U+FFFD")
	}
	switch {
	case c.ID == "":
		w.repair(l.Address, "a call has no id: it is given one")
	case w.ids[s.id]:
		w.repair(l.Address, "a call has the id of an earlier one: it is given another")
	}
	if s.plain = w.seenItem(c); s.plain {
		w.repair(l.Address, "removed the id of an item that an earlier item has")
	}
	s.id = w.ids.Take(s.id, fmt.Sprintf("call_%s_%d", l.Address, n+1))
	w.Turns[at].Slots = append(w.Turns[at].Slots, s)
	w.open = append(w.open, openCall{pair: w.pairs.Add(c.ID, c.Name), call: s})
}
