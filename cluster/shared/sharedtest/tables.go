package sharedtest

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

// tables are the rows of one server.
type tables struct {
	incarnation shared.ID
	agents      map[shared.ID]*shared.Agent
	sessions    map[shared.ID]*sessionRow
	owners      map[string]int64
	files       map[string]*shared.File // by owner, a zero byte, and the path
	objects     map[string][]byte       // by owner and hash
	beats       map[string]int
}

type sessionRow struct {
	shared.Session
	owner   string
	next    uint64
	head    shared.Hash
	base    shared.ID
	baseI   uint64
	root    shared.ID
	entries []shared.Entry
}

func newTables() *tables {
	return &tables{
		agents: map[shared.ID]*shared.Agent{}, sessions: map[shared.ID]*sessionRow{}, owners: map[string]int64{},
		files: map[string]*shared.File{}, objects: map[string][]byte{}, beats: map[string]int{},
	}
}

// transaction is a change of the rows that its keys lock. check decides under the locks whether it
// may happen, and apply makes it happen, also on a server that replays the log.
type transaction struct {
	keys  []string
	check func(*tables) error
	apply func(*tables)
}

func journalKey(id shared.ID) string { return "journal " + id.String() }
func ownerKey(owner string) string   { return "owner " + owner }

// state returns the page of a journal without entries, and its row.
func (t *tables) state(journal shared.ID) (shared.Page, *sessionRow, error) {
	row := t.sessions[journal]
	if row == nil {
		return shared.Page{}, nil, shared.ErrMissing
	}
	return shared.Page{Root: row.root, Own: row.baseI, Next: row.next, Head: row.head, Removed: row.Removed}, row, nil
}

// page returns at most limit entries of a journal.
func (t *tables) page(journal shared.ID, from uint64, limit int) (shared.Page, error) {
	page, row, err := t.state(journal)
	if err != nil {
		return page, err
	}
	upTo := row.next
	for from < row.baseI {
		upTo = min(upTo, row.baseI)
		if row = t.sessions[row.base]; row == nil {
			return page, shared.ErrMissing
		}
	}
	for i := from; i < upTo && len(page.Entries) < limit; i++ {
		page.Entries = append(page.Entries, row.entries[i-row.baseI])
	}
	return page, nil
}

func (t *tables) checkAppend(a *shared.Append) error {
	row := t.sessions[a.Journal]
	if row == nil || row.Removed || row.next != a.Prev.I || row.head != a.Prev.Chain {
		return shared.ErrConflict
	}
	if a.Creates != nil {
		return t.checkCreate(*a.Creates)
	}
	return nil
}

func (t *tables) append(a *shared.Append) {
	row := t.sessions[a.Journal]
	row.entries = append(row.entries, a.Entry)
	row.next, row.head, row.Sizes = row.next+1, a.Head, a.Sizes
	if a.Removes {
		row.Removed = true
		row.Version = t.bump(row.owner)
	}
	if a.Creates != nil {
		t.create(*a.Creates)
	}
}

func (t *tables) bump(owner string) int64 {
	t.owners[owner]++
	return t.owners[owner]
}

func (t *tables) checkCreate(s shared.NewSession) error {
	if row := t.sessions[s.Journal]; row != nil {
		return nil
	}
	agent := t.agents[s.Agent]
	if agent == nil || agent.Removed {
		return shared.ErrMissing
	}
	if s.Base != (shared.ID{}) {
		if base := t.sessions[s.Base]; base == nil || base.owner != agent.Owner || base.next < s.BaseI {
			return shared.ErrMissing
		}
	}
	if t.named(s.Agent, s.Name) != nil {
		return shared.ErrExists
	}
	return nil
}

func (t *tables) create(s shared.NewSession) {
	if t.sessions[s.Journal] != nil {
		return
	}
	owner := t.agents[s.Agent].Owner
	root := s.Journal
	if s.Base != (shared.ID{}) {
		root = t.sessions[s.Base].root
	}
	t.sessions[s.Journal] = &sessionRow{
		Session: shared.Session{
			Journal: s.Journal, ID: s.ID, Agent: s.Agent, Name: s.Name, Sizes: s.Sizes, Version: t.bump(owner),
		},
		owner: owner, next: s.BaseI, head: s.Head, base: s.Base, baseI: s.BaseI, root: root,
	}
}

// named returns the living session with a name.
func (t *tables) named(agent shared.ID, name string) *sessionRow {
	for _, row := range t.sessions {
		if row.Agent == agent && row.Name == name && !row.Removed {
			return row
		}
	}
	return nil
}

// agentNamed returns the living agent with a name.
func (t *tables) agentNamed(owner, name string) *shared.Agent {
	for _, a := range t.agents {
		if a.Owner == owner && a.Name == name && !a.Removed {
			return a
		}
	}
	return nil
}

func (t *tables) names(owner string, after int64) shared.Names {
	n := shared.Names{Version: t.owners[owner]}
	for _, a := range t.agents {
		if a.Owner == owner && a.Version > after {
			n.Agents = append(n.Agents, *a)
		}
	}
	for _, s := range t.sessions {
		if s.owner == owner && s.Version > after {
			n.Sessions = append(n.Sessions, s.Session)
		}
	}
	for key, f := range t.files {
		if strings.HasPrefix(key, owner+"\x00") && f.Version > after {
			n.Files = append(n.Files, *f)
		}
	}

	slices.SortFunc(n.Agents, func(a, b shared.Agent) int { return int(a.Version - b.Version) })
	slices.SortFunc(n.Sessions, func(a, b shared.Session) int { return int(a.Version - b.Version) })
	slices.SortFunc(n.Files, func(a, b shared.File) int { return int(a.Version - b.Version) })
	return n
}

// fileVersion returns the version of a file; 0 if it is missing or removed.
func (t *tables) fileVersion(owner, path string) int64 {
	if f := t.files[owner+"\x00"+path]; f != nil && !f.Removed {
		return f.Version
	}
	return 0
}

func objectKey(owner string, sum shared.Hash) string { return owner + "\x00" + string(sum[:]) }

func (t *tables) object(owner string, sum shared.Hash, size int64) ([]byte, error) {
	content, ok := t.objects[objectKey(owner, sum)]
	if !ok {
		return nil, shared.ErrMissing
	}
	if int64(len(content)) != size || sha256.Sum256(content) != sum {
		return nil, shared.ErrDamaged
	}
	return content, nil
}

func (t *tables) heads(journals []shared.ID) map[shared.ID]shared.Head {
	heads := map[shared.ID]shared.Head{}
	for _, id := range journals {
		if row := t.sessions[id]; row != nil {
			heads[id] = shared.Head{Next: row.next, Chain: row.head, Removed: row.Removed}
		}
	}
	return maps.Clone(heads)
}
