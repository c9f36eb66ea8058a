package calls

import "slices"

// Pairs finds the call that a result answers. The zero value has no calls.
type Pairs struct {
	calls []call
	byID  map[string][]int
	first int // no call before it is open
}

type call struct {
	id, name string
	state    state
}

type state uint8

const (
	open state = iota
	givenUp
	answered
)

// Match is how a result belongs to a call.
type Match uint8

// The matches of a result.
const (
	None   Match = iota // no call that is known
	Answer              // an open call
	Late                // a call that was given up
	Second              // a call that has a result
)

// Add adds an open call and returns its number.
func (p *Pairs) Add(id, name string) int {
	if p.byID == nil {
		p.byID = map[string][]int{}
	}
	n := len(p.calls)
	p.calls = append(p.calls, call{id: id, name: name})
	if id != "" {
		p.byID[id] = append(p.byID[id], n)
	}
	return n
}

// GiveUp ends the wait for the results of the open calls.
func (p *Pairs) GiveUp() {
	for ; p.first < len(p.calls); p.first++ {
		if c := &p.calls[p.first]; c.state == open {
			c.state = givenUp
		}
	}
}

// Name returns the name of the tool that a call names.
func (p *Pairs) Name(call int) string { return p.calls[call].name }

// ID returns the id of a call.
func (p *Pairs) ID(call int) string { return p.calls[call].id }

// Waits reports whether a call with the id has no result yet.
func (p *Pairs) Waits(id string) bool {
	return slices.ContainsFunc(p.byID[id], func(n int) bool { return p.calls[n].state != answered })
}

// Known reports whether a call has the id.
func (p *Pairs) Known(id string) bool { return len(p.byID[id]) > 0 }

// Result takes a result with the id of its call, or "", and the name of its tool, or "". It returns
// the call that the result belongs to. Several calls may have one id: the first open one gets the
// result, then the first that was given up. A result without an id answers the first open call with
// its name.
func (p *Pairs) Result(id, name string) (int, Match) {
	if id == "" {
		for n := p.first; n < len(p.calls); n++ {
			if c := &p.calls[n]; c.state == open && (name == "" || Name(name) == Name(c.name)) {
				return p.answer(n, Answer)
			}
		}
		return -1, None
	}

	same := p.byID[id]
	if len(same) == 0 {
		return -1, None
	}
	for _, wanted := range []struct {
		state state
		match Match
	}{{open, Answer}, {givenUp, Late}} {
		for _, n := range same {
			if p.calls[n].state == wanted.state {
				return p.answer(n, wanted.match)
			}
		}
	}
	return same[len(same)-1], Second
}

// answer notes that a call has its result.
func (p *Pairs) answer(n int, m Match) (int, Match) {
	p.calls[n].state = answered
	for p.first < len(p.calls) && p.calls[p.first].state != open {
		p.first++
	}
	return n, m
}
