package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Child is the state of a child of a session at one moment: the files below context/child/<name>,
// and the values derived from the session that it is linked to. Two values of one child are equal if
// all fields are equal; the text of the result is one of them.
type Child struct {
	Name    string
	Agent   string // what the files agent and session say; "" nothing
	Session string

	Linked bool       // there is such a session, of the same owner
	Ref    ctxabi.Ref // of that session

	Status       string // one of ctxabi.ChildStates
	StatusOrigin string // ctxabi.OriginAgent: it was written; ctxabi.OriginDerived: it follows from the linked session
	ResultOrigin string // the same of result.md
	ResultTime   time.Time
	Changed      time.Time // when its status or its result changed last
	Handoff      bool      // handoff.md was written and is not empty
	Refs         string    // refs.jsonl as it was written, whole lines of its first maxChildRefs bytes
	Artifacts    string    // the names in artifact/, a line each, the first maxArtifacts of them

	id     string            // of the linked session
	length int64             // of its messages
	sum    [sha256.Size]byte // of result.md, where that was written
}

// Finished reports whether the child has ended: its status is neither pending nor active.
func (c *Child) Finished() bool { return c.Status != "pending" && c.Status != "active" }

// Who returns the agent and the session that the child is linked to, such as "rev/r1", or the part
// of it that is known.
func (c *Child) Who() string { return strings.Trim(c.Agent+"/"+c.Session, "/") }

// Row returns the child as a row of context/refs.jsonl, with the path of its result and its status.
func (c *Child) Row() ctxabi.RefRow {
	return ctxabi.RefRow{ID: "child-" + c.Name, Path: ctxabi.ChildPath(c.Name, ctxabi.ChildResult), Kind: ctxabi.RefChild,
		Summary: strings.TrimSuffix(c.Status+", "+c.Who(), ", ")}
}

// maxChildRefs and maxArtifacts bound what a session looks at of the refs and the artifacts of one
// child.
const (
	maxChildRefs = 64 << 10
	maxArtifacts = 64
)

// Brought returns what the child brought beside its result, as rows of context/refs.jsonl of its
// parent: the rows of its refs.jsonl, and its artifacts.
func (c *Child) Brought() (rows []ctxabi.RefRow) {
	for line := range strings.Lines(c.Refs) {
		var row ctxabi.RefRow
		if json.Unmarshal([]byte(line), &row) != nil || row.Path == "" {
			continue
		}
		row.ID, row.Source = "child-"+c.Name+"-"+row.ID, ctxabi.ChildPath(c.Name, ctxabi.ChildRefs)
		rows = append(rows, row)
	}
	for name := range strings.Lines(c.Artifacts) {
		name = strings.TrimSuffix(name, "\n")
		rows = append(rows, ctxabi.RefRow{ID: "child-" + c.Name + "-" + name, Path: ctxabi.ChildPath(c.Name, ctxabi.ChildArtifact) + "/" + name,
			Kind: ctxabi.RefArtifact, Source: ctxabi.ChildPath(c.Name)})
	}
	return rows
}

// children remembers what was written of each child, because a pack asks for it each time it is read.
type children struct {
	mu    sync.Mutex
	known map[string]writtenChild // guarded by mu
}

// writtenChild is a child but for its linked session.
type writtenChild struct {
	changes uint64    // of the session, when it was read
	at      time.Time // when its directory, or artifact/ in it, had changed last; every change through a mount is a new entry there
	child   Child
}

// freshChild is how long after a change of a directory its time may hide another one, of a daemon
// that this store does not know.
const freshChild = 20 * time.Millisecond

// Children lists the session's children in name order. It looks at the disk each time and reads
// only what changed; of linked sessions it reads the state and nothing else, so that links in a
// circle do no harm. It returns the error of a disk that cannot list them.
func (x *Session) Children() ([]Child, error) {
	x.store.disk.Move.RLock()
	entries, err := x.store.disk.FS.ReadDir(x.dir.Path(ctxabi.ChildDir))
	x.store.disk.Move.RUnlock()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, vfs.Failed("list", ctxabi.ChildDir, err, "its children cannot be listed")
	}
	var list []Child
	for _, e := range entries {
		if !e.IsDir() || ctxabi.ValidName(e.Name()) != nil {
			continue
		}
		c, err := x.Child(e.Name())
		if Gone(err) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Child) int { return strings.Compare(a.Name, b.Name) })
	x.children.forget(list)
	return list, nil
}

// forget drops the children that are not there any more.
func (k *children) forget(list []Child) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) <= len(list) {
		return
	}
	for name := range k.known {
		if !slices.ContainsFunc(list, func(c Child) bool { return c.Name == name }) {
			delete(k.known, name)
		}
	}
}

// Child returns one child; ctxabi.ErrNotFound when there is none of that name.
func (x *Session) Child(name string) (Child, error) {
	if err := ctxabi.ValidName(name); err != nil {
		return Child{}, err
	}
	c, err := x.writtenChild(name)
	if err != nil {
		return Child{}, err
	}
	to := x.linkedTo(&c)
	if to != nil {
		c.Linked, c.Ref, c.id, c.length = true, to.Ref(), to.ID(), to.Messages().Len()
	}
	if c.Status == "" {
		c.Status, c.StatusOrigin = statusOf(to, c.length), ctxabi.OriginDerived
	}
	if c.ResultOrigin == "" {
		c.ResultOrigin = ctxabi.OriginDerived
		if to != nil {
			c.ResultTime = to.Messages().ModTime()
		}
	} else {
		c.length = 0 // what the linked session says is not the result
	}
	c.Changed = latest(c.Changed, c.ResultTime)
	if to != nil && c.StatusOrigin == ctxabi.OriginDerived {
		c.Changed = latest(c.Changed, to.changedAt(ctxabi.StateFile))
	}
	return c, nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// changedAt is when a file of the session changed last; the zero time where there is none.
func (x *Session) changedAt(rel string) (at time.Time) {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	if fi, err := x.store.disk.FS.Stat(x.dir.Path(rel)); err == nil {
		at = fi.ModTime()
	}
	return at
}

// Gone reports whether err is that of a child, or a session, that is not there.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ctxabi.ErrNotFound)
}

// linkedTo finds the session that a child is linked to; nil where its files name none, or one that
// is not there. It can only be one of the same owner: the names say nothing of owners.
func (x *Session) linkedTo(c *Child) *Session {
	if c.Agent == "" || c.Session == "" {
		return nil
	}
	ref := x.Ref()
	ref.Agent, ref.Session = c.Agent, c.Session
	to, err := x.store.Session(ref)
	if err != nil {
		return nil
	}
	return to
}

// statusOf is the status of a child whose parent wrote none. length is that of the linked session's
// messages.
func statusOf(to *Session, length int64) string {
	if to == nil {
		return "pending"
	}
	switch state := to.State(); {
	case slices.Contains([]string{"done", "error", "cancelled"}, state):
		return state
	case length > 0:
		return "active"
	}
	return "pending"
}

// writtenChild reads what was written of a child, where it may have changed.
func (x *Session) writtenChild(name string) (Child, error) {
	x.store.disk.Move.RLock()
	fi, err := x.store.disk.FS.Stat(x.dir.Path(ctxabi.ChildPath(name)))
	x.store.disk.Move.RUnlock()
	if err != nil || !fi.IsDir() {
		return Child{}, ctxabi.E("read", ctxabi.ChildPath(name), ctxabi.ErrNotFound, "there is no child %q", name)
	}
	k := &x.children
	w := writtenChild{changes: x.changes.Load(), at: latest(fi.ModTime(), x.artifactsChanged(name))}
	k.mu.Lock()
	before, ok := k.known[name]
	k.mu.Unlock()
	if ok && before.changes == w.changes && before.at.Equal(w.at) {
		return before.child, nil
	}
	w.child = x.readChild(name)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		k.known = map[string]writtenChild{}
	}
	if delete(k.known, name); x.store.disk.Now().Sub(w.at) > freshChild { // artifacts come without the session's knowing
		k.known[name] = w
	}
	return w.child, nil
}

func (x *Session) readChild(name string) Child {
	read := func(file string) string { return trimNewline(x.checkedControl(ctxabi.ChildPath(name, file))) }
	c := Child{Name: name, Agent: read(ctxabi.ChildAgent), Session: read(ctxabi.ChildSession), Status: read(ctxabi.ChildStatus)}
	if c.Status != "" {
		c.StatusOrigin, c.Changed = ctxabi.OriginAgent, x.changedAt(ctxabi.ChildPath(name, ctxabi.ChildStatus))
	}
	c.Handoff = len(x.checkedControl(ctxabi.ChildPath(name, ctxabi.ChildHandoff))) > 0
	refs := x.checkedControl(ctxabi.ChildPath(name, ctxabi.ChildRefs))
	if len(refs) > maxChildRefs {
		refs = refs[:bytes.LastIndexByte(refs[:maxChildRefs], '\n')+1]
	}
	c.Refs, c.Artifacts = string(refs), x.artifacts(name)
	result := ctxabi.ChildPath(name, ctxabi.ChildResult)
	if data, err := x.Control(result); err == nil {
		c.ResultOrigin, c.sum = ctxabi.OriginAgent, sha256.Sum256(data)
		c.ResultTime = x.changedAt(result)
	}
	return c
}

// artifactsChanged returns when an entry of the child's artifact/ came or went last; zero without one.
func (x *Session) artifactsChanged(name string) time.Time {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	fi, err := x.store.disk.FS.Stat(x.dir.Path(ctxabi.ChildPath(name, ctxabi.ChildArtifact)))
	if err != nil {
		return time.Time{}
	}
	return fi.ModTime()
}

// artifacts returns the names in the child's artifact/, in order, a line each, without hidden ones
// and those that are no text of one line.
func (x *Session) artifacts(name string) string {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	entries, err := x.store.disk.FS.ReadDir(x.dir.Path(ctxabi.ChildPath(name, ctxabi.ChildArtifact)))
	if err != nil {
		return ""
	}
	var b strings.Builder
	n := 0
	for _, e := range entries {
		if file := e.Name(); n < maxArtifacts && !strings.HasPrefix(file, ".") && !strings.ContainsFunc(file, unicode.IsControl) && utf8.ValidString(file) {
			b.WriteString(file + "\n")
			n++
		}
	}
	return b.String()
}

// ChildFile is what a file of a child reads as: what was written, else what it means not to have
// written it. at is when that changed. ctxabi.ErrNotFound when there is no such child, or the file
// is none of ctxabi.ChildFiles.
func (x *Session) ChildFile(name, file string) (data []byte, at time.Time, origin string, err error) {
	rel := ctxabi.ChildPath(name, file)
	if !ctxabi.IsChildFile(rel) {
		return nil, at, "", ctxabi.E("read", rel, ctxabi.ErrNotFound, "a child has no such file")
	}
	if data, err = x.Control(rel); err == nil {
		return data, x.changedAt(rel), ctxabi.OriginAgent, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, at, "", err
	}
	c, err := x.Child(name)
	if err != nil {
		return nil, at, "", err
	}
	switch at = x.Created(); file {
	case ctxabi.ChildStatus:
		data = []byte(c.Status + "\n")
		if to := x.linkedTo(&c); to != nil {
			at = to.Updated()
		}
	case ctxabi.ChildResult:
		if to := x.linkedTo(&c); to != nil {
			data, err = to.LatestFile()
			at = c.ResultTime
		}
	}
	return data, at, ctxabi.OriginDerived, err
}

// HandedOver returns what a parent hands to x, and its path below the store: the handoff.md of the
// child's directory, or the version in use of the parent's summary if that file is empty. parent is
// the path of that directory below the store, as in meta.json of x
// ("home/1000/agent/coder/session/s1/context/child/rev-1"). Only a session of the same owner is a
// parent; data is nil without one, and if it has neither.
func (x *Session) HandedOver(parent string) (data []byte, rel string) {
	at, name, ok := strings.Cut(strings.Trim(parent, "/"), "/"+ctxabi.ChildDir+"/")
	ref, err := ctxabi.ParseRef(at)
	if !ok || err != nil || ref.Owner() != x.Ref().Owner() || ctxabi.ValidName(name) != nil {
		return nil, ""
	}
	from, err := x.store.Session(ref)
	if err != nil {
		return nil, ""
	}
	file := ctxabi.ChildPath(name, ctxabi.ChildHandoff)
	if data = from.checkedControl(file); len(data) > 0 {
		return data, path.Join(ref.Path(), file)
	}
	if s, err := from.Summaries(); err == nil {
		if v, used := s.InUse(); used {
			data, _ = from.SummaryText(v)
			return data, path.Join(ref.Path(), ctxabi.SummaryPath(v.N))
		}
	}
	return nil, path.Join(ref.Path(), file)
}

// Touch notes that a file of the session was changed by other means (through the mount, by hand).
func (x *Session) Touch() {
	x.changes.Add(1)
	x.touched.Store(x.store.disk.Now().UnixNano())
}
