package names

import (
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// An Op is what a user wants to have done.
type Op interface {
	// Plan returns the rows of the one entry that does it in the state s, none if nothing is to be done, or
	// the error that the user sees. It is called again with a later state when another host was faster.
	// Rows that the state refuses need not be found: [State.Check] does.
	Plan(s *State, host string) ([]journal.Row, error)
}

// rowsOf returns rows as a journal has them.
func rowsOf(list ...row) (rows []journal.Row) {
	for _, r := range list {
		rows = append(rows, r.Row())
	}
	return rows
}

// CreateHome makes the owner's home: that of a shared space, since a user's is made with his first agent.
type CreateHome struct{ Owner Owner }

// Plan returns the rows that make the home, in which no session has children; it returns no error.
func (o CreateHome) Plan(*State, string) ([]journal.Row, error) {
	return rowsOf(Name{Op: MakeHome, Owner: o.Owner}, Name{Op: Parents}), nil
}

// CreateAgent makes an agent's home, and that of its user.
type CreateAgent struct {
	Agent string
	Owner Owner
}

// Plan returns the rows that make the agent, or ctxabi.ErrNotFound if the space is not there.
func (o CreateAgent) Plan(s *State, _ string) ([]journal.Row, error) {
	return planAgent(s, o.Agent, o.Owner)
}

func planAgent(s *State, agent string, o Owner) ([]journal.Row, error) {
	rows := rowsOf(Name{Op: MakeAgent, Agent: agent, Owner: o})
	if _, ok := s.Home(); ok {
		return rows, nil
	}
	if s.subject.Owner[0] != 'u' {
		return nil, refuse("mkdir", "", ctxabi.ErrNotFound, "there is no such shared space; make it with ctxfs space new")
	}
	home, err := CreateHome{Owner{UID: o.UID, GID: o.GID, Mode: 0o700}}.Plan(s, "")
	return append(home, rows...), err
}

// CreateSession makes a session, and the directories above it.
type CreateSession struct {
	Agent, Session, ID string
	Owner              Owner
}

// Plan returns the rows that make the session, or ctxabi.ErrNotFound if the space is not there.
func (o CreateSession) Plan(s *State, _ string) (rows []journal.Row, err error) {
	if _, _, ok := s.Agent(o.Agent); !ok {
		if rows, err = planAgent(s, o.Agent, o.Owner); err != nil {
			return nil, err
		}
	}
	return append(rows, Name{Op: MakeSession, Agent: o.Agent, Session: o.Session, ID: o.ID, Owner: o.Owner}.Row()), nil
}

// PublishSession makes a session that has content, and the directories above it: all of it lies in the snapshot
// Parked, or, if Parked.I is 0, in the session's journal.
type PublishSession struct {
	CreateSession
	Parked Parked
	Parent bool // it has children
}

// Plan returns the rows of CreateSession, and those that park the session and note its children, or the errors of that.
func (o PublishSession) Plan(s *State, host string) (rows []journal.Row, err error) {
	rows, err = o.CreateSession.Plan(s, host)
	if err == nil && o.Parked.I > 0 {
		rows = append(rows, Name{Op: Park, ID: o.ID, I: o.Parked.I, Hash: o.Parked.Hash}.Row())
	}
	if err == nil && o.Parent {
		rows = append(rows, Name{Op: Parent, ID: o.ID}.Row())
	}
	return rows, err
}

// NoteParents notes sessions that may have children, journal.MaxRows at most; with All set, that no others have any.
type NoteParents struct {
	IDs []string
	All bool
}

// Plan returns a row for each session that is not noted yet, and one for All. It returns ctxabi.ErrNotFound if one is not there.
func (o NoteParents) Plan(s *State, _ string) (rows []journal.Row, err error) {
	for _, id := range o.IDs {
		if _, ok := s.ids[id]; !ok {
			return nil, refuse("mkdir", "", ctxabi.ErrNotFound, "there is no session %s any more", id)
		}
		if !s.IsParent(id) {
			rows = append(rows, Name{Op: Parent, ID: id}.Row())
		}
	}
	if o.All && !s.parents {
		rows = append(rows, Name{Op: Parents}.Row())
	}
	return rows, nil
}

// RenameName renames an agent, or the session Session of it if that is not "".
type RenameName struct {
	Agent, Session     string
	ToAgent, ToSession string
	ID                 string // of the session that is meant; "": whichever has the name
}

// Plan returns the row of the rename, or ctxabi.ErrNotFound if the session is not there.
func (o RenameName) Plan(s *State, _ string) ([]journal.Row, error) {
	n := Name{Op: Rename, Agent: o.Agent, ToAgent: o.ToAgent}
	if o.Session != "" {
		id, err := meant(s, "rename", o.Agent, o.Session, o.ID)
		if err != nil {
			return nil, err
		}
		n.Session, n.ToSession, n.ID = o.Session, o.ToSession, id
	}
	return rowsOf(n), nil
}

// meant returns the id of the session that has a name, if it is id or id is "".
func meant(s *State, op, agent, session, id string) (string, error) {
	x, ok := s.Session(agent, session)
	if !ok || id != "" && x.ID != id {
		return "", refuse(op, "", ctxabi.ErrNotFound, "there is no session %s/%s, or it was replaced in the meantime", agent, session)
	}
	return x.ID, nil
}

// RemoveName removes a session, or an agent: one that is empty, or with all that hosts share of it.
type RemoveName struct {
	Agent, Session string
	ID             string // of the session that is meant; "": whichever has the name
	All            bool   // of an agent
}

// Plan returns the row of the removal, or ctxabi.ErrNotFound if the session is not there.
func (o RemoveName) Plan(s *State, _ string) ([]journal.Row, error) {
	n := Name{Op: Remove, Agent: o.Agent, All: o.All}
	if o.Session != "" {
		id, err := meant(s, "remove", o.Agent, o.Session, o.ID)
		if err != nil {
			return nil, err
		}
		n.Session, n.ID, n.All = o.Session, id, false
	}
	return rowsOf(n), nil
}

// ParkSessions notes where sessions lie that are parked, at most journal.MaxRows in one entry.
type ParkSessions []Parking

// Parking is a session whose first I entries are in a snapshot.
type Parking struct {
	ID   string
	I    uint64
	Hash string
}

// Plan returns a row for each session; it returns no error.
func (o ParkSessions) Plan(*State, string) (rows []journal.Row, err error) {
	for _, p := range o {
		rows = append(rows, Name{Op: Park, ID: p.ID, I: p.I, Hash: p.Hash}.Row())
	}
	return rows, nil
}
