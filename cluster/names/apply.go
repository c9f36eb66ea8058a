package names

import (
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Applied is an entry that a state has applied.
type Applied struct {
	Entry   journal.Entry
	Rows    []any // Name, File, Link and Snapshot; none if the entry was refused
	Refused error // why none of the rows counts
	Touched Touched
}

// Apply applies the next entry. It returns the errors of journal.Open, and journal.ErrVersion if a row is of a
// later version; the state stays as it is then. An entry that is refused is applied, too: it takes its place.
func (s *State) Apply(from engine.Entry) (Applied, error) {
	e, next, err := journal.Open(s.at, from)
	if err != nil {
		return Applied{}, err
	}
	a := Applied{Entry: e}
	rows, err := parseRows(e.Rows)
	if errors.Is(err, journal.ErrVersion) {
		return Applied{}, fmt.Errorf("entry %d of %s: %w", e.I, s.subject, err)
	}
	c := &change{State: s, touched: touchedNothing()}
	if err == nil {
		err = c.apply(rows)
	}
	if a.Refused = err; err == nil {
		a.Touched = c.touched
		for _, r := range rows {
			a.Rows = append(a.Rows, r)
		}
	}
	s.at = next
	return a, nil
}

// Check returns the error with which the state would refuse an entry of these rows, or nil; an error of
// [ParseRow] if one of them is no row of an owner. The state stays as it is.
func (s *State) Check(list []journal.Row) error {
	rows, err := parseRows(list)
	if err != nil {
		return err
	}
	c := &change{State: s, touched: touchedNothing()}
	if err := c.apply(rows); err != nil {
		return err
	}
	c.takeBack()
	return nil
}

// parseRows returns the rows of an entry, or the error of one of them, that of a later version before others.
func parseRows(list []journal.Row) (rows []row, bad error) {
	for _, r := range list {
		parsed, err := parseRow(r)
		if err != nil && (bad == nil || errors.Is(err, journal.ErrVersion)) {
			bad = err
		}
		rows = append(rows, parsed)
	}
	return rows, bad
}

// change applies rows to a state, and takes them back.
type change struct {
	*State
	i       int // of the row
	undo    []func()
	touched Touched
}

// apply applies all rows, or none and returns why.
func (c *change) apply(rows []row) (err error) {
	for i, r := range rows {
		c.i = i
		switch r := r.(type) {
		case Name:
			err = c.name(r)
		case File:
			err = c.file(r)
		case Link:
			err = c.link(r)
		case Snapshot:
			err = c.snapshot(r, len(rows))
		}
		if err != nil {
			c.takeBack()
			return err
		}
	}
	return nil
}

func (c *change) takeBack() {
	for i := len(c.undo) - 1; i >= 0; i-- {
		c.undo[i]()
	}
	c.undo = nil
}

// set puts a value into a map, or removes the key if there is false.
func set[K comparable, V any](c *change, m map[K]V, key K, value V, there bool) {
	old, was := m[key]
	c.undo = append(c.undo, func() {
		if was {
			m[key] = old
		} else {
			delete(m, key)
		}
	})
	if there {
		m[key] = value
	} else {
		delete(m, key)
	}
}

// replace assigns a value.
func replace[V any](c *change, p *V, value V) {
	old := *p
	c.undo = append(c.undo, func() { *p = old })
	*p = value
}

func (c *change) name(n Name) error {
	switch n.Op {
	case MakeHome:
		if c.home.Mode != 0 {
			return refuse("mkdir", "", ctxabi.ErrExists, "%s exists already", c.subject)
		}
		replace(c, &c.home, n.Owner)
		c.touched.Agents[0] = true
		return nil
	case MakeAgent:
		return c.makeAgent(n)
	case MakeSession:
		return c.makeSession(n)
	case Park:
		x, ok := c.ids[n.ID]
		if !ok {
			return refuse("park", "", ctxabi.ErrNotFound, "there is no session %s", n.ID)
		}
		replace(c, &x.parked, Parked{n.I, n.Hash})
		c.touched.Sessions[n.ID] = true
		return nil
	case Parent:
		x, ok := c.ids[n.ID]
		if !ok {
			return refuse("mkdir", "", ctxabi.ErrNotFound, "there is no session %s", n.ID)
		}
		replace(c, &x.parent, true)
		return nil
	case Parents:
		replace(c, &c.parents, true)
		return nil
	}
	if n.Session == "" {
		return c.changeAgent(n)
	}
	return c.changeSession(n)
}

func (c *change) makeAgent(n Name) error {
	if c.home.Mode == 0 {
		return refuse("mkdir", "", ctxabi.ErrNotFound, "%s was not made yet", c.subject)
	}
	if c.agents[n.Agent] != nil {
		return refuse("mkdir", "", ctxabi.ErrExists, "the agent %s exists already", n.Agent)
	}
	born := c.at.I*journal.MaxRows + uint64(c.i) + 1
	a := &agent{name: n.Agent, owner: n.Owner, sessions: map[string]*named{}, tree: tree{born, map[string]Node{}}}
	set(c, c.agents, n.Agent, a, true)
	c.touched.Agents[born] = true
	return nil
}

func (c *change) makeSession(n Name) error {
	a := c.agents[n.Agent]
	switch {
	case a == nil:
		return refuse("mkdir", "", ctxabi.ErrNotFound, "there is no agent %s", n.Agent)
	case a.sessions[n.Session] != nil:
		return refuse("mkdir", "", ctxabi.ErrExists, "%s/%s exists already", n.Agent, n.Session)
	case c.ids[n.ID] != nil:
		return refuse("mkdir", "", ctxabi.ErrExists, "the session %s exists already", n.ID)
	}
	x := &named{name: n.Session, id: n.ID, agent: a, owner: n.Owner}
	set(c, a.sessions, n.Session, x, true)
	set(c, c.ids, n.ID, x, true)
	c.touched.Sessions[n.ID] = true
	return nil
}

// changeAgent renames or removes an agent.
func (c *change) changeAgent(n Name) error {
	op := string(n.Op)
	a := c.agents[n.Agent]
	if a == nil {
		return refuse(op, "", ctxabi.ErrNotFound, "there is no agent %s", n.Agent)
	}
	if n.Op == Rename && n.Agent == n.ToAgent {
		return nil
	}
	if n.Op == Rename && c.agents[n.ToAgent] != nil {
		return refuse(op, "", ctxabi.ErrExists, "the agent %s exists already", n.ToAgent)
	}
	if n.Op == Remove && !n.All && len(a.sessions)+len(a.tree.nodes) > 0 {
		return refuseFor(ErrNotEmpty, op, "", ctxabi.ErrExists, "the agent %s has %d sessions and %d files", n.Agent, len(a.sessions), len(a.tree.nodes))
	}
	set(c, c.agents, n.Agent, nil, false)
	c.touched.Agents[a.tree.born] = true
	if n.Op == Rename {
		set(c, c.agents, n.ToAgent, a, true)
		replace(c, &a.name, n.ToAgent)
		return nil
	}
	for _, x := range a.sessions {
		set(c, c.ids, x.id, nil, false)
		c.touched.Sessions[x.id] = true
	}
	for rel := range a.tree.nodes {
		c.touched.Files[Place{a.tree.born, rel}] = true
	}
	return nil
}

// changeSession renames or removes a session.
func (c *change) changeSession(n Name) error {
	op := string(n.Op)
	a := c.agents[n.Agent]
	if a == nil || a.sessions[n.Session] == nil || a.sessions[n.Session].id != n.ID {
		return refuse(op, "", ctxabi.ErrNotFound, "there is no session %s/%s with the id %s", n.Agent, n.Session, n.ID)
	}
	x := a.sessions[n.Session]
	if n.Op == Remove {
		set(c, a.sessions, n.Session, nil, false)
		set(c, c.ids, n.ID, nil, false)
		c.touched.Sessions[n.ID] = true
		return nil
	}
	to := c.agents[n.ToAgent]
	if to == nil {
		return refuse(op, "", ctxabi.ErrNotFound, "there is no agent %s", n.ToAgent)
	}
	if to == a && n.Session == n.ToSession {
		return nil
	}
	if to.sessions[n.ToSession] != nil {
		return refuse(op, "", ctxabi.ErrExists, "%s/%s exists already", n.ToAgent, n.ToSession)
	}
	set(c, a.sessions, n.Session, nil, false)
	set(c, to.sessions, n.ToSession, x, true)
	replace(c, &x.agent, to)
	replace(c, &x.name, n.ToSession)
	c.touched.Sessions[n.ID] = true
	return nil
}

// snapshot checks a snapshot against the state. It stands alone in its entry.
func (c *change) snapshot(n Snapshot, rows int) error {
	if n.I != c.at.I || rows != 1 {
		return refuse("snapshot", "", ctxabi.ErrMalformed, "a snapshot of %d entries among %d rows at entry %d", n.I, rows, c.at.I)
	}
	if hash := hashOf(c.Encode()); n.Hash != hash {
		return refuseFor(ErrDiverged, "snapshot", "", ctxabi.ErrIO, "the snapshot at entry %d of %s is %s, and this host has %s", n.I, c.subject, n.Hash, hash)
	}
	return nil
}
