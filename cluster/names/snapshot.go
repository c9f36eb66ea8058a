package names

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// stateForm is the one form of a state in bytes: lists are in the order of their names.
type stateForm struct {
	V       int         `json:"v"` // ParentsVersion if there are parents, or all are known
	Owner   string      `json:"owner"`
	I       uint64      `json:"i"`
	Chain   string      `json:"chain"`
	Home    Owner       `json:"home"`
	Agents  []agentForm `json:"agents"`
	Files   []fileForm  `json:"files"`
	Parents bool        `json:"parents,omitempty"`
}

type agentForm struct {
	Name     string        `json:"name"`
	Born     uint64        `json:"born"`
	Owner    Owner         `json:"owner"`
	Sessions []sessionForm `json:"sessions"`
	Files    []fileForm    `json:"files"`
}

type sessionForm struct {
	Name   string `json:"name"`
	ID     string `json:"id"`
	Owner  Owner  `json:"owner"`
	Parked Parked `json:"parked,omitzero"`
	Parent bool   `json:"parent,omitempty"`
}

type fileForm struct {
	Path string `json:"path"`
	Node
}

// Encode returns the state in bytes. Equal states have equal bytes.
func (s *State) Encode() []byte {
	f := stateForm{V: Version, Owner: s.subject.Owner, I: s.at.I, Chain: hex.EncodeToString(s.at.Chain[:]), Home: s.home, Files: s.own.forms(), Parents: s.parents}
	if s.parents {
		f.V = ParentsVersion
	}
	for _, name := range s.Agents() {
		a := s.agents[name]
		form := agentForm{Name: name, Born: a.tree.born, Owner: a.owner, Files: a.tree.forms()}
		for _, session := range slices.Sorted(maps.Keys(a.sessions)) {
			x := a.sessions[session]
			form.Sessions = append(form.Sessions, sessionForm{session, x.id, x.owner, x.parked, x.parent})
			if x.parent {
				f.V = ParentsVersion
			}
		}
		f.Agents = append(f.Agents, form)
	}
	return encode(f)
}

func (t *tree) forms() (list []fileForm) {
	for _, rel := range slices.Sorted(maps.Keys(t.nodes)) {
		list = append(list, fileForm{rel, t.nodes[rel]})
	}
	return list
}

// Decode returns the state of a journal that Encode made bytes of. It returns journal.ErrVersion if that was
// of a later version, and ctxabi.ErrMalformed if the bytes are no state, not its one form, or of another owner.
func Decode(subject engine.Subject, data []byte) (*State, error) {
	var f stateForm
	if err := decode(data, &f, ParentsVersion); err != nil {
		return nil, err
	}
	s := New(subject)
	s.at.I, s.home, s.parents = f.I, f.Home, f.Parents
	chain, err := hex.DecodeString(f.Chain)
	if err != nil || copy(s.at.Chain[:], chain) != len(s.at.Chain) || f.Owner != subject.Owner {
		return nil, refuse("parse", "", ctxabi.ErrMalformed, "a state of %q at %q", f.Owner, f.Chain)
	}
	s.own.take(f.Files)
	for _, form := range f.Agents {
		a := &agent{name: form.Name, owner: form.Owner, sessions: map[string]*named{}, tree: tree{form.Born, map[string]Node{}}}
		a.tree.take(form.Files)
		for _, x := range form.Sessions {
			n := &named{x.Name, x.ID, a, x.Owner, x.Parked, x.Parent}
			a.sessions[x.Name], s.ids[x.ID] = n, n
		}
		s.agents[form.Name] = a
	}
	sessions := 0
	for _, a := range s.agents {
		sessions += len(a.sessions)
	}
	if !bytes.Equal(s.Encode(), data) || sessions != len(s.ids) || s.invalid() {
		return nil, refuse("parse", "", ctxabi.ErrMalformed, "a state of %q has not the form of states", f.Owner)
	}
	return s, nil
}

func (t *tree) take(list []fileForm) {
	for _, f := range list {
		t.nodes[f.Path] = f.Node
	}
}

// invalid reports whether a name, an id or a path is none that entries could have made.
func (s *State) invalid() bool {
	if len(s.own.nodes) > 0 && s.home.Mode == 0 {
		return true
	}
	for name, a := range s.agents {
		if ctxabi.ValidName(name) != nil || a.tree.born == 0 || s.home.Mode == 0 {
			return true
		}
		for session, x := range a.sessions {
			if ctxabi.ValidName(session) != nil || !hexDigits(x.id, 32) {
				return true
			}
		}
	}
	for _, name := range s.Paths() {
		if n, _ := s.Node(name); !Shared(s.subject, name) || n.Kind == Regular && !hexDigits(n.Hash, 64) {
			return true
		}
	}
	return false
}

// hashOf returns the SHA-256 value of data in hexadecimal.
func hashOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// SnapshotKey returns the name of the object that has a snapshot of an owner's state.
func SnapshotKey(owner engine.Subject, n Snapshot) engine.Key {
	return engine.Key{Owner: owner.Owner, Name: fmt.Sprintf("s/names/%d-%s", n.I, n.Hash)}
}
