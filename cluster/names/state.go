package names

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// State is what the entries of an owner's journal amount to, up to a position. One goroutine uses it, or
// several that only ask.
type State struct {
	subject engine.Subject
	at      journal.Position
	home    Owner // Mode is 0 until it was made
	agents  map[string]*agent
	ids     map[string]*named
	own     tree // what lies in the owner's home itself
	parents bool // each session that may have children is a parent
}

// agent is an agent's home.
type agent struct {
	name     string
	owner    Owner
	sessions map[string]*named
	tree     tree
}

// named is a session that has a name.
type named struct {
	name   string
	id     string
	agent  *agent
	owner  Owner
	parked Parked
	parent bool // it may have children
}

// tree is a tree of ordinary files that moves as a whole.
type tree struct {
	born  uint64 // which entry made it; 0: that of the owner's home
	nodes map[string]Node
}

// Session is a session as its owner's journal knows it.
type Session struct {
	Ref    ctxabi.Ref
	ID     string
	Owner  Owner
	Parked Parked
}

// Parked is where a session lies that is parked, or was when it was looked at last: its first I entries are in
// the snapshot Hash. I is 0 if it never was.
type Parked struct {
	I    uint64 `json:"i"`
	Hash string `json:"hash"`
}

// Kind is what a [Node] is.
type Kind string

// The kinds of nodes.
const (
	Regular   Kind = "file"
	Directory Kind = "dir"
	Symbolic  Kind = "link"
)

// Node is an ordinary file, a directory or a symbolic link.
type Node struct {
	Kind   Kind              `json:"kind"`
	Hash   string            `json:"hash,omitempty"`
	Size   int64             `json:"size,omitempty"`
	Target string            `json:"target,omitempty"`
	Mode   uint32            `json:"mode,omitempty"`
	UID    uint32            `json:"uid"`
	GID    uint32            `json:"gid"`
	MTime  int64             `json:"mtime"`
	Xattrs map[string][]byte `json:"xattrs,omitempty"`
}

// Touched is what an entry may have changed.
type Touched struct {
	Agents   map[uint64]bool // by the number that [State.Agent] returns; 0: the owner's home
	Sessions map[string]bool // by id
	Files    map[Place]bool
}

// Place is where an ordinary file lies, though its agent is renamed.
type Place struct {
	Born uint64 // of the agent; 0: the owner's home
	Rel  string // in there
}

// touchedNothing returns an empty Touched.
func touchedNothing() Touched {
	return Touched{map[uint64]bool{}, map[string]bool{}, map[Place]bool{}}
}

// Add adds what another entry has touched.
func (t *Touched) Add(o Touched) {
	if t.Agents == nil {
		*t = touchedNothing()
	}
	maps.Copy(t.Agents, o.Agents)
	maps.Copy(t.Sessions, o.Sessions)
	maps.Copy(t.Files, o.Files)
}

// Equal reports whether two nodes are the same, with all their attributes.
func (n Node) Equal(o Node) bool {
	same := maps.EqualFunc(n.Xattrs, o.Xattrs, func(a, b []byte) bool { return string(a) == string(b) })
	return same && n.Kind == o.Kind && n.Hash == o.Hash && n.Size == o.Size && n.Target == o.Target &&
		n.Mode == o.Mode && n.UID == o.UID && n.GID == o.GID && n.MTime == o.MTime
}

// New returns the state at the beginning of a journal.
func New(s engine.Subject) *State {
	return &State{subject: s, at: journal.Start(s), agents: map[string]*agent{}, ids: map[string]*named{}, own: tree{nodes: map[string]Node{}}}
}

// Subject returns the journal.
func (s *State) Subject() engine.Subject { return s.subject }

// At returns the position up to which the journal was applied.
func (s *State) At() journal.Position { return s.at }

// Home returns to whom the owner's home belongs. ok is false if it was not made yet.
func (s *State) Home() (o Owner, ok bool) { return s.home, s.home.Mode != 0 }

// Agents returns the names of all agents, in order.
func (s *State) Agents() []string { return slices.Sorted(maps.Keys(s.agents)) }

// Agent returns to whom an agent's home belongs, and a number that it keeps when it is renamed and that no
// other agent of the owner ever has. ok is false if there is none.
func (s *State) Agent(name string) (o Owner, born uint64, ok bool) {
	a, ok := s.agents[name]
	if !ok {
		return o, 0, false
	}
	return a.owner, a.tree.born, true
}

// AgentOf returns the name of the agent with a number of [State.Agent]; ok is false if there is none.
func (s *State) AgentOf(born uint64) (name string, ok bool) {
	for name, a := range s.agents {
		if a.tree.born == born {
			return name, true
		}
	}
	return "", false
}

// PathOf returns where a file lies now, though its agent may have been renamed; ok is false if the agent is
// not there.
func (s *State) PathOf(p Place) (name string, ok bool) {
	if p.Born == 0 {
		return p.Rel, true
	}
	agent, ok := s.AgentOf(p.Born)
	return HomePath(agent, p.Rel), ok
}

// All returns all that the state has, as if one entry had touched it.
func (s *State) All() Touched {
	t := touchedNothing()
	t.Agents[0] = true
	for rel := range s.own.nodes {
		t.Files[Place{0, rel}] = true
	}
	for _, a := range s.agents {
		t.Agents[a.tree.born] = true
		for rel := range a.tree.nodes {
			t.Files[Place{a.tree.born, rel}] = true
		}
	}
	for id := range s.ids {
		t.Sessions[id] = true
	}
	return t
}

// Session returns the session that an agent has under a name.
func (s *State) Session(agent, name string) (Session, bool) {
	if a, ok := s.agents[agent]; ok {
		if n, ok := a.sessions[name]; ok {
			return s.session(n), true
		}
	}
	return Session{}, false
}

// SessionByID returns the session with an id.
func (s *State) SessionByID(id string) (Session, bool) {
	n, ok := s.ids[id]
	if !ok {
		return Session{}, false
	}
	return s.session(n), true
}

// Sessions returns the sessions of an agent in the order of their names; those of all agents if agent is "".
func (s *State) Sessions(agent string) (list []Session) {
	for _, name := range s.Agents() {
		if agent != "" && agent != name {
			continue
		}
		a := s.agents[name]
		for _, session := range slices.Sorted(maps.Keys(a.sessions)) {
			list = append(list, s.session(a.sessions[session]))
		}
	}
	return list
}

// IsParent reports whether a session was noted as one that may have children.
func (s *State) IsParent(id string) bool {
	n, ok := s.ids[id]
	return ok && n.parent
}

// ParentsKnown reports whether no session has children that is not noted. Else one may.
func (s *State) ParentsKnown() bool { return s.parents }

func (s *State) session(n *named) Session {
	ref, _ := OwnerOf(s.subject)
	ref.Agent, ref.Session = n.agent.name, n.name
	return Session{ref, n.id, n.owner, n.parked}
}

// Node returns the ordinary file with a path relative to the owner.
func (s *State) Node(name string) (Node, bool) {
	t, rel, err := s.find("look", name)
	if err != nil {
		return Node{}, false
	}
	n, ok := t.nodes[rel]
	return n, ok
}

// Paths returns the paths of all ordinary files, in order.
func (s *State) Paths() (list []string) {
	for rel := range s.own.nodes {
		list = append(list, rel)
	}
	for name, a := range s.agents {
		for rel := range a.tree.nodes {
			list = append(list, HomePath(name, rel))
		}
	}
	slices.Sort(list)
	return list
}

// Contents returns the hashes of all content that the state names, of files and of parked sessions. An object
// that none of them names may be removed, once no entry does that is younger than what others may still read.
func (s *State) Contents() map[string]bool {
	set := map[string]bool{}
	add := func(t *tree) {
		for _, n := range t.nodes {
			if n.Kind == Regular {
				set[n.Hash] = true
			}
		}
	}
	add(&s.own)
	for _, a := range s.agents {
		add(&a.tree)
	}
	for _, n := range s.ids {
		if n.parked.I > 0 {
			set[n.parked.Hash] = true
		}
	}
	return set
}

// find returns the tree in which a path lies, and its path in there. It returns ctxabi.ErrMalformed if hosts
// do not share the path, and ctxabi.ErrNotFound if the agent is not there.
func (s *State) find(op, name string) (*tree, string, error) {
	if !Shared(s.subject, name) {
		return nil, "", refuseFor(ErrPerHost, op, name, ctxabi.ErrProtected, "hosts do not share this file")
	}
	return s.locate(op, name)
}

// locate is find for paths that need not be shared.
func (s *State) locate(op, name string) (*tree, string, error) {
	agent, rel, ok := SplitHome(name)
	if !ok && s.home.Mode == 0 {
		return nil, "", refuse(op, name, ctxabi.ErrNotFound, "%s was not made yet", s.subject)
	}
	if !ok {
		return &s.own, name, nil
	}
	a, ok := s.agents[agent]
	if !ok {
		return nil, "", refuse(op, name, ctxabi.ErrNotFound, "there is no agent %q", agent)
	}
	return &a.tree, rel, nil
}

// SplitHome takes apart what HomePath joined; ok is false for what lies in no agent's home.
func SplitHome(name string) (agent, rel string, ok bool) {
	rest, ok := strings.CutPrefix(name, ctxabi.AgentDir+"/")
	if !ok {
		return "", "", false
	}
	agent, rel, ok = strings.Cut(rest, "/")
	return agent, rel, ok
}

// under returns the paths of a tree that lie below a directory, in order.
func (t *tree) under(dir string) (list []string) {
	for rel := range t.nodes {
		if strings.HasPrefix(rel, dir+"/") {
			list = append(list, rel)
		}
	}
	slices.Sort(list)
	return list
}

// checkParent returns ErrNotDir if a part of the way to a file is none, and ctxabi.ErrNotFound if a directory
// on it is shared and not there. full is the file's path relative to the owner.
func (t *tree) checkParent(op string, owner engine.Subject, full, rel string) error {
	for dir, up := path.Dir(rel), path.Dir(full); dir != "."; dir, up = path.Dir(dir), path.Dir(up) {
		n, ok := t.nodes[dir]
		if ok && n.Kind != Directory {
			return refuseFor(ErrNotDir, op, full, ctxabi.ErrNotFound, "%s is no directory", up)
		}
		if !ok && Shared(owner, up) {
			return refuse(op, full, ctxabi.ErrNotFound, "there is no directory %s", up)
		}
	}
	return nil
}

// String returns a short description for messages.
func (s *State) String() string {
	return fmt.Sprintf("%s: %d entries, %d agents, %d sessions", s.subject, s.at.I, len(s.agents), len(s.ids))
}
