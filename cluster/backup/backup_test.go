package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

var ctx = context.Background()

// tester is what tests and random tests have in common.
type tester interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// busy is a cluster in which hosts do something before each answer to a backup.
type busy struct {
	*fake.Host
	meanwhile func()
}

func (b *busy) did() {
	if f := b.meanwhile; f != nil {
		b.meanwhile = nil // not meanwhile itself
		f()
		b.meanwhile = f
	}
}

func (b *busy) Last(ctx context.Context, s engine.Subject, leader bool) (engine.Entry, error) {
	b.did()
	return b.Host.Last(ctx, s, leader)
}

// world is a cluster with users, and what was acknowledged to them.
type world struct {
	t       tester
	servers *fake.Servers
	keep    *fake.Host // of the maintenance
	n       int

	replicas map[string]*names.Replica
	sessions map[string]*made // by id
}

// made is a session and its journal.
type made struct {
	s    engine.Subject
	at   journal.Position
	seq  uint64
	all  [][]byte // payloads of its entries
	base int      // how many of them were trimmed
}

func newWorld(t tester) *world {
	w := &world{t: t, servers: fake.New(), replicas: map[string]*names.Replica{}, sessions: map[string]*made{}}
	w.keep = w.servers.Maintenance()
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v", err)
	}
}

func (w *world) replica(owner string) *names.Replica {
	r := w.replicas[owner]
	if r == nil {
		r = names.NewReplica(w.keep, "a", engine.Subject{Owner: owner}, names.Options{})
		w.replicas[owner] = r
	}
	return r
}

// create makes a session with one entry.
func (w *world) create(owner string) *made {
	w.n++
	m := &made{s: engine.Subject{Owner: owner, Session: fmt.Sprintf("%032x", w.n)}}
	m.at = journal.Start(m.s)
	o := names.Owner{UID: 1000, GID: 1000, Mode: 0o700}
	_, err := w.replica(owner).Commit(ctx, names.CreateSession{Agent: "coder", Session: fmt.Sprint("s", w.n), ID: m.s.Session, Owner: o})
	w.must(err)
	w.sessions[m.s.Session] = m
	w.add(m)
	return m
}

// add appends an entry to a session's journal.
func (w *world) add(m *made, rows ...journal.Row) {
	w.t.Helper()
	w.n++
	if rows == nil {
		rows = []journal.Row{{Kind: journal.Event, Content: fmt.Append(nil, w.n), Body: bytes.Repeat([]byte("x"), 1+w.n%300)}}
	}
	header, payload, next, err := journal.Seal(m.at, "a", 1, rows)
	w.must(err)
	seq, err := w.keep.Append(ctx, m.s, m.seq, fmt.Sprint("a-", w.n), header, payload)
	w.must(err)
	m.at, m.seq, m.all = next, seq, append(m.all, payload)
}

// trim replaces the entries of a session by a snapshot.
func (w *world) trim(m *made) {
	data := (&bulk.Snapshot{Session: m.s.Session, At: m.at, Created: int64(w.n)}).Encode()
	saved := bulk.Saved{At: m.at, Object: bulk.RefOf(data)}
	w.must(bulk.NewStore(w.keep.Objects(), m.s.Owner).Put(ctx, saved.Name(m.s.Session), data))
	w.add(m, journal.Row{Kind: journal.Snapshot, Content: saved.Encode()})
	w.must(w.keep.Trim(ctx, m.s, m.seq))
	m.base = len(m.all) - 1
}

// remove removes a session.
func (w *world) remove(m *made) {
	st := w.view(m.s.Owner)
	x, _ := st.SessionByID(m.s.Session)
	_, err := w.replica(m.s.Owner).Commit(ctx, names.RemoveName{Agent: x.Ref.Agent, Session: x.Ref.Session})
	w.must(err)
	delete(w.sessions, m.s.Session)
}

// write shares an ordinary file.
func (w *world) write(owner string) {
	w.n++
	if _, _, ok := w.view(owner).Agent("coder"); !ok {
		return
	}
	data := fmt.Append(nil, "content ", w.n)
	s := engine.Subject{Owner: owner}
	w.must(w.keep.Objects().Put(ctx, names.ContentKey(s, hashOf(data)), data))
	_, err := w.replica(owner).Commit(ctx, names.WriteFile{File: names.File{Path: names.HomePath("coder", "context.yaml"), Hash: hashOf(data), Size: int64(len(data)), Mode: 0o600,
		Base: fileOf(w.view(owner))}})
	w.must(err)
}

func fileOf(s *names.State) string {
	n, _ := s.Node(names.HomePath("coder", "context.yaml"))
	return n.Hash
}

func (w *world) view(owner string) (st *names.State) {
	w.replica(owner).View(func(s *names.State) { st = s })
	return st
}

// pick returns one of the sessions, or nil.
func (w *world) pick(t *rapid.T) *made {
	var list []*made
	for _, m := range w.sessions {
		list = append(list, m)
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b *made) int { return strings.Compare(a.s.Session, b.s.Session) })
	return rapid.SampledFrom(list).Draw(t, "session")
}

// act does something that users and the maintenance do.
func (w *world) act(t *rapid.T) {
	owner := rapid.SampledFrom([]string{"u1000", "u7"}).Draw(t, "owner")
	m := w.pick(t)
	switch do := rapid.SampledFrom([]string{"create", "add", "add", "add", "trim", "remove", "write", "checkpoint"}).Draw(t, "do"); {
	case do == "create" || m == nil:
		w.create(owner)
	case do == "add":
		w.add(m)
	case do == "trim":
		w.trim(m)
	case do == "remove":
		w.remove(m)
	case do == "write":
		w.write(m.s.Owner)
	case do == "checkpoint":
		w.must(w.replica(m.s.Owner).Checkpoint(ctx))
	}
}

// acknowledged returns how many entries each session has.
func (w *world) acknowledged() map[string]int {
	list := map[string]int{}
	for id, m := range w.sessions {
		list[id] = len(m.all)
	}
	return list
}

// read returns the entries of a journal.
func read(t tester, e engine.Engine, s engine.Subject) (list []engine.Entry) {
	t.Helper()
	for from := uint64(1); ; {
		some, err := e.Read(ctx, s, engine.Range{From: from, Leader: true})
		if err != nil {
			t.Fatalf("%v", err)
		}
		if len(some) == 0 {
			return list
		}
		list, from = append(list, some...), some[len(some)-1].Seq+1
	}
}

// sound fails the test unless a backup passes Verify.
func sound(t tester, dir string, number int) {
	t.Helper()
	r, err := Verify(ctx, dir, number)
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("verify: %+v, %v", r, err)
	}
}

// While hosts append, make, remove and trim, a backup has of each session a beginning with all that was
// acknowledged before, and what is restored goes on from there.
func TestABackupIsWhatWasAcknowledgedBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := quickDir(t)
		defer os.RemoveAll(dir)
		chunkMost = rapid.SampledFrom([]int{300, 32 << 20}).Draw(t, "chunk")
		w := newWorld(t)
		type known struct {
			before   map[string]int
			sessions map[string]*made
			number   int
		}
		var all []known
		for range rapid.IntRange(1, 4).Draw(t, "backups") {
			for range rapid.IntRange(0, 12).Draw(t, "acts") {
				w.act(t)
			}
			left := rapid.IntRange(0, 8).Draw(t, "meanwhile")
			c := &busy{Host: w.servers.Maintenance()}
			c.meanwhile = func() {
				if left--; left >= 0 {
					w.act(t)
				}
			}
			for range rapid.IntRange(0, 2).Draw(t, "stale") {
				c.Inject(fake.StaleRead)
			}
			k := known{before: w.acknowledged(), sessions: map[string]*made{}}
			oneAtATime(func() {
				r, err := Take(ctx, dir, c, "store")
				if err != nil || len(r.Problems) > 0 {
					t.Fatalf("take: %+v, %v", r, err)
				}
				k.number = r.Number
			})
			for id, m := range w.sessions {
				k.sessions[id] = m
			}
			sound(t, dir, 0)
			all = append(all, k)
		}
		sound(t, dir, 1)
		k := all[len(all)-1]
		to := newWorld(t)
		for range rapid.IntRange(0, 3).Draw(t, "faults") {
			to.keep.Inject(rapid.SampledFrom([]fake.Fault{fake.LoseAck, fake.LoseRequest, fake.Busy, fake.OldLeader, fake.StaleRead}).Draw(t, "fault"))
		}
		if _, err := Restore(ctx, dir, 0, to.keep); err != nil {
			t.Fatalf("restore: %v", err)
		}
		to.keep.Heal()
		for id, m := range k.sessions {
			n, before := 0, k.before[id]
			for _, e := range read(t, to.keep, m.s) {
				i, err := journal.Peek(e)
				if err != nil || i.I >= uint64(len(m.all)) || !bytes.Equal(m.all[i.I], e.Payload) {
					t.Fatalf("%s: entry %d is another one, %v", m.s, i.I, err)
				}
				n = int(i.I) + 1
			}
			if n < before {
				t.Errorf("%s: %d entries, and %d were acknowledged before", m.s, n, before)
			}
		}
		for owner := range w.replicas {
			r := to.replica(owner)
			if err := r.CatchUp(ctx); err != nil {
				t.Fatalf("%s: %v", owner, err)
			}
			for id := range k.before {
				if _, still := k.sessions[id]; still && k.sessions[id].s.Owner == owner {
					if _, ok := to.view(owner).SessionByID(id); !ok {
						t.Errorf("session %s has no name", id)
					}
				}
			}
		}
		to.n = w.n
		to.create("u1000")
		// A second restore of the same finds that more is there.
		if _, err := Restore(ctx, dir, 0, to.keep); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("restore into a cluster that is used: %v", err)
		}
	})
}

// quickDir returns a directory in memory, if there is such a disk.
func quickDir(t tester) string {
	dir, err := os.MkdirTemp("/dev/shm", "ctxfs-backup-")
	if err != nil {
		if dir, err = os.MkdirTemp("", "ctxfs-backup-"); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return dir
}

// oneAtATime has a backup ask for one journal after the other, since a random test draws in one goroutine.
func oneAtATime(f func()) {
	j, o := journalsAtOnce, objectsAtOnce
	journalsAtOnce, objectsAtOnce = 1, 1
	defer func() { journalsAtOnce, objectsAtOnce = j, o }()
	f()
}
