package sharedtest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

// Contract tests what every shared.Store promises. open returns a store of a host that may use the
// owner u1; all of them reach the same database.
func Contract(t *testing.T, open func(t *testing.T, host string) shared.Store) {
	r := &rig{open: open}

	for _, c := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"append", r.append},
		{"append locked", r.appendLocked},
		{"two hosts", r.twoHosts},
		{"read in pages", r.pages},
		{"fork", r.fork},
		{"remove", r.remove},
		{"child", r.child},
		{"names", r.names},
		{"files", r.files},
		{"objects", r.objects},
		{"missing", r.missing},
		{"heartbeat", r.heartbeat},
	} {
		t.Run(c.name, c.run)
	}
}

type rig struct {
	open func(t *testing.T, host string) shared.Store
}

var background = context.Background()

// session creates a session in an agent of its own.
func (r *rig) session(t *testing.T, s shared.Store) (journal, agent shared.ID) {
	t.Helper()
	journal, agent = shared.NewID(), shared.NewID()
	must(t, s.CreateAgent(background, shared.Agent{ID: agent, Owner: "u1", Name: agent.String()}))
	must(t, s.CreateSession(background, shared.NewSession{
		Journal: journal, ID: shared.NewID(), Agent: agent, Name: "s", Head: shared.Start(journal).Chain,
	}))
	return journal, agent
}

// seal returns an append with one row at a position.
func seal(t *testing.T, journal shared.ID, at shared.Position, body string) (shared.Append, shared.Position) {
	t.Helper()
	rows := []shared.Row{{Kind: shared.Control, Body: []byte(body)}}
	e, next, err := shared.Seal(at, shared.NewID(), "host", 1, rows)
	must(t, err)
	return shared.Append{Journal: journal, Prev: at, Entry: e, Head: next.Chain, Sizes: [2]int64{int64(next.I), 2}}, next
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, err, wanted error) {
	t.Helper()
	if !errors.Is(err, wanted) {
		t.Errorf("error %v, want %v", err, wanted)
	}
}

// readAll returns the bodies of all entries, and verifies the chain.
func readAll(t *testing.T, s shared.Store, journal shared.ID) (bodies []string) {
	t.Helper()
	var at shared.Position
	for {
		page, err := s.Read(background, journal, at.I)
		must(t, err)
		must(t, s.Fence(background, page.Server))
		if at.I == 0 {
			at = shared.Start(page.Root)
		}
		for _, e := range page.Entries {
			opened, next, err := shared.Open(at, e)
			must(t, err)
			bodies, at = append(bodies, string(opened.Rows[0].Body)), next
		}

		if at.I == page.Next {
			if at.Chain != page.Head {
				t.Errorf("the head differs from the chain of %d entries", at.I)
			}
			return bodies
		}
	}
}

func (r *rig) append(t *testing.T) {
	s := r.open(t, "a")
	journal, _ := r.session(t, s)
	first, second := shared.Start(journal), shared.Position{}
	a, second := seal(t, journal, first, "one")
	must(t, s.Append(background, a))
	want(t, s.Append(background, a), shared.ErrConflict) // a repeat

	other, _ := seal(t, journal, first, "another first")
	want(t, s.Append(background, other), shared.ErrConflict)
	past := second
	past.Chain[0] ^= 1
	forged, _ := seal(t, journal, past, "of another past")
	want(t, s.Append(background, forged), shared.ErrConflict)
	gap := shared.Position{I: 7, Chain: second.Chain}
	far, _ := seal(t, journal, gap, "after a gap")
	want(t, s.Append(background, far), shared.ErrConflict)
	unknown, _ := seal(t, shared.NewID(), first, "of no session")
	want(t, s.Append(background, unknown), shared.ErrConflict)

	b, _ := seal(t, journal, second, "two")
	must(t, s.Append(background, b))
	if got := readAll(t, s, journal); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("the journal has %q", got)
	}
}

func (r *rig) appendLocked(t *testing.T) {
	a, b := r.open(t, "a"), r.open(t, "b")
	journal, _ := r.session(t, a)
	one, next := seal(t, journal, shared.Start(journal), "one")
	must(t, a.Append(background, one))

	var page shared.Page
	err := b.AppendLocked(background, journal, 0, func(p shared.Page) (shared.Append, error) {
		page = p
		ended, cancel := context.WithTimeout(background, 200*time.Millisecond)
		defer cancel()
		rival, _ := seal(t, journal, next, "rival") // waits for the lock
		want(t, a.Append(ended, rival), shared.ErrUnknown)
		two, _ := seal(t, journal, next, "two")
		return two, nil
	})
	must(t, err)
	if len(page.Entries) != 1 || page.Next != 1 || page.Root != journal || page.Entries[0].Key != one.Entry.Key {
		t.Errorf("build got %+v", page)
	}

	refusal := errors.New("build refused")
	err = b.AppendLocked(background, journal, 2, func(shared.Page) (shared.Append, error) {
		return shared.Append{}, refusal
	})
	want(t, err, refusal)
	err = b.AppendLocked(background, journal, 2, func(shared.Page) (shared.Append, error) { return one, nil })
	want(t, err, shared.ErrConflict)
	err = b.AppendLocked(background, shared.NewID(), 0, func(shared.Page) (shared.Append, error) {
		t.Error("build was called for a journal that does not exist")
		return one, nil
	})
	want(t, err, shared.ErrConflict)
	if got := readAll(t, a, journal); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("the journal has %q", got)
	}
}

// twoHosts appends from two hosts at the same time: no entry is lost, and none is there twice.
func (r *rig) twoHosts(t *testing.T) {
	journal, _ := r.session(t, r.open(t, "a"))
	const each = 20
	var all sync.WaitGroup
	for _, host := range []string{"a", "b"} {
		s := r.open(t, host)
		all.Go(func() {
			at := shared.Start(journal)
			for n := 0; n < each; {
				err := s.AppendLocked(background, journal, at.I, func(p shared.Page) (shared.Append, error) {
					for _, e := range p.Entries {
						_, next, err := shared.Open(at, e)
						if err != nil {
							return shared.Append{}, err
						}
						at = next
					}
					a, next := seal(t, journal, at, host)
					at = next
					return a, nil
				})
				switch {
				case errors.Is(err, shared.ErrConflict): // more entries than a page
					at = follow(t, s, journal, at)
				case err != nil:
					t.Errorf("host %s: %v", host, err)
					return
				default:
					n++
				}
			}
		})
	}
	all.Wait()

	got := readAll(t, r.open(t, "c"), journal)
	slices.Sort(got)
	if len(got) != 2*each || got[each-1] != "a" || got[each] != "b" {
		t.Errorf("the journal has %q", got)
	}
}

// follow returns the position after one more page.
func follow(t *testing.T, s shared.Store, journal shared.ID, at shared.Position) shared.Position {
	page, err := s.Read(background, journal, at.I)
	if err != nil {
		t.Error(err)
	}
	for _, e := range page.Entries {
		if _, next, err := shared.Open(at, e); err == nil {
			at = next
		}
	}
	return at
}

func (r *rig) pages(t *testing.T) {
	s := r.open(t, "a")
	journal, _ := r.session(t, s)
	at := shared.Start(journal)
	for range 5 {
		a, next := seal(t, journal, at, "x")
		must(t, s.Append(background, a))
		at = next
	}

	page, err := s.Read(background, journal, 3)
	must(t, err)
	if len(page.Entries) != 2 || page.Entries[0].I != 3 || page.Next != 5 || page.Head != at.Chain ||
		page.Server == "" {
		t.Errorf("page %+v", page)
	}
	if page, err = s.Read(background, journal, 5); err != nil || len(page.Entries) != 0 {
		t.Errorf("page at the end: %+v, %v", page, err)
	}
	if page, err = s.Read(background, journal, 9); err != nil || len(page.Entries) != 0 || page.Next != 5 {
		t.Errorf("page after the end: %+v, %v", page, err)
	}
}

func (r *rig) fork(t *testing.T) {
	s := r.open(t, "a")
	base, agent := r.session(t, s)
	positions := []shared.Position{shared.Start(base)}
	for _, body := range []string{"0", "1", "2", "3"} {
		a, next := seal(t, base, positions[len(positions)-1], body)
		must(t, s.Append(background, a))
		positions = append(positions, next)
	}

	fork := func(of shared.ID, at shared.Position, name string) shared.ID {
		id := shared.NewID()
		must(t, s.CreateSession(background, shared.NewSession{
			Journal: id, ID: id, Agent: agent, Name: name, Base: of, BaseI: at.I, Head: at.Chain,
		}))
		return id
	}
	first := fork(base, positions[2], "fork")
	a, next := seal(t, first, positions[2], "own")
	must(t, s.Append(background, a))
	second := fork(first, next, "fork of a fork")
	early := fork(first, positions[1], "fork at an entry of the base")
	for journal, bodies := range map[shared.ID][]string{
		base: {"0", "1", "2", "3"}, first: {"0", "1", "own"}, second: {"0", "1", "own"}, early: {"0"},
	} {
		if got := readAll(t, s, journal); !slices.Equal(got, bodies) {
			t.Errorf("a journal has %q, want %q", got, bodies)
		}
	}
	page, err := s.Read(background, second, 0)
	if err != nil || page.Root != base || page.Own != 3 {
		t.Errorf("page of a fork: %+v, %v", page, err)
	}
	want(t, s.CreateSession(background, shared.NewSession{
		Journal: shared.NewID(), Agent: agent, Name: "beyond", Base: base, BaseI: 9,
	}), shared.ErrMissing)
}

func (r *rig) remove(t *testing.T) {
	s := r.open(t, "a")
	journal, agent := r.session(t, s)
	want(t, s.RemoveAgent(background, agent), shared.ErrExists)
	e, next, err := shared.Seal(shared.Start(journal), shared.NewID(), "a", 1, []shared.Row{{Kind: shared.End}})
	must(t, err)
	end := shared.Append{Journal: journal, Prev: shared.Start(journal), Entry: e, Head: next.Chain, Removes: true}
	must(t, s.Append(background, end))
	want(t, s.Append(background, end), shared.ErrConflict)
	late, _ := seal(t, journal, next, "late")
	want(t, s.Append(background, late), shared.ErrConflict)

	page, err := s.Read(background, journal, 0)
	if err != nil || !page.Removed || len(page.Entries) != 1 {
		t.Errorf("page of a removed session: %+v, %v", page, err)
	}
	heads, _, err := s.Heads(background, []shared.ID{journal})
	if err != nil || !heads[journal].Removed {
		t.Errorf("heads: %+v, %v", heads, err)
	}
	want(t, s.RenameSession(background, journal, agent, "x"), shared.ErrMissing)
	must(t, s.CreateSession(background, shared.NewSession{ // the name is free
		Journal: shared.NewID(), ID: shared.NewID(), Agent: agent, Name: "s",
	}))
}

func (r *rig) child(t *testing.T) {
	s := r.open(t, "a")
	parent, agent := r.session(t, s)
	at := shared.Start(parent)
	id := shared.NewID()
	child := &shared.NewSession{Journal: id, ID: id, Agent: agent, Name: "child", Head: shared.Start(id).Chain}
	wrong, _ := seal(t, parent, shared.Position{I: 3}, "at the wrong place")
	wrong.Creates = child
	want(t, s.Append(background, wrong), shared.ErrConflict)
	if _, err := s.Read(background, id, 0); !errors.Is(err, shared.ErrMissing) {
		t.Errorf("the child of a refused entry exists: %v", err)
	}

	a, next := seal(t, parent, at, "child")
	a.Creates = child
	must(t, s.Append(background, a))
	want(t, s.Append(background, a), shared.ErrConflict)
	_, err := s.Read(background, id, 0)
	must(t, err)
	b, _ := seal(t, parent, next, "the same name")
	other := *child
	other.Journal, b.Creates = shared.NewID(), &other
	want(t, s.Append(background, b), shared.ErrExists)
}

func (r *rig) names(t *testing.T) {
	s := r.open(t, "a")
	before, err := s.Names(background, "u1", 0)
	must(t, err)
	journal, agent := r.session(t, s)
	repeat := shared.NewSession{
		Journal: journal, ID: shared.NewID(), Agent: agent, Name: "s", Head: shared.Start(journal).Chain,
	}
	must(t, s.CreateSession(background, repeat))
	repeat.Journal = shared.NewID()
	want(t, s.CreateSession(background, repeat), shared.ErrExists)
	repeat.Agent = shared.NewID()
	want(t, s.CreateSession(background, repeat), shared.ErrMissing)
	other := shared.Agent{ID: shared.NewID(), Owner: "u1", Name: agent.String()}
	want(t, s.CreateAgent(background, other), shared.ErrExists)

	must(t, s.RenameSession(background, journal, agent, "renamed"))
	must(t, s.RenameSession(background, journal, agent, "renamed"))
	must(t, s.RenameAgent(background, agent, "agent "+agent.String()))
	n, err := s.Names(background, "u1", before.Version)
	must(t, err)
	if len(n.Agents) != 1 || n.Agents[0].ID != agent || n.Agents[0].Name != "agent "+agent.String() {
		t.Errorf("agents %+v", n.Agents)
	}
	if len(n.Sessions) != 1 || n.Sessions[0].Journal != journal || n.Sessions[0].Name != "renamed" {
		t.Errorf("sessions %+v", n.Sessions)
	}
	if n.Version <= before.Version || n.Agents[0].Version > n.Version {
		t.Errorf("version %d after %d", n.Version, before.Version)
	}
	if n, err = s.Names(background, "u1", n.Version); err != nil || len(n.Agents)+len(n.Sessions) > 0 {
		t.Errorf("names after the last version: %+v, %v", n, err)
	}
}

func (r *rig) files(t *testing.T) {
	s := r.open(t, "a")
	path := "notes/\xff" + shared.NewID().String()
	f := shared.File{
		Path: path, Mode: 0o644, UID: 1000, GID: 4294967295, Content: []byte("text"), SHA256: shared.Hash{1},
		Modified: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
	}
	first, err := s.PutFile(background, "u1", f, 0)
	must(t, err)
	_, err = s.PutFile(background, "u1", f, 0)
	want(t, err, shared.ErrConflict)
	f.Content = nil
	f.Target = "elsewhere"
	second, err := s.PutFile(background, "u1", f, first)
	must(t, err)
	n, err := s.Names(background, "u1", first)
	must(t, err)
	if second <= first || len(n.Files) != 1 {
		t.Fatalf("version %d after %d, files %+v", second, first, n.Files)
	}
	got := n.Files[0]
	if !got.Modified.Equal(f.Modified) || got.Path != path || got.Target != "elsewhere" || got.Content != nil ||
		got.GID != f.GID || got.SHA256 != f.SHA256 || got.Version != second {
		t.Errorf("got %+v, want %+v", got, f)
	}

	_, err = s.RemoveFile(background, "u1", path, first)
	want(t, err, shared.ErrConflict)
	_, err = s.RemoveFile(background, "u1", path, second)
	must(t, err)
	if n, err = s.Names(background, "u1", second); err != nil || len(n.Files) != 1 || !n.Files[0].Removed {
		t.Errorf("files after a removal: %+v, %v", n.Files, err)
	}
	_, err = s.PutFile(background, "u1", f, 0)
	must(t, err)
}

func (r *rig) objects(t *testing.T) {
	s := r.open(t, "a")
	for _, size := range []int{0, 1, 1000, shared.PieceBytes, shared.PieceBytes + 1} {
		content := bytes.Repeat([]byte{byte(size), 2}, size)[:size]
		sum, err := s.PutObject(background, "u1", content)
		must(t, err)
		_, err = s.PutObject(background, "u1", content)
		must(t, err)
		if got, err := s.Object(background, "u1", sum, int64(size)); err != nil || !bytes.Equal(got, content) {
			t.Errorf("object of %d bytes: %d bytes, %v", size, len(got), err)
		}
		_, err = s.Object(background, "u1", sum, int64(size)+1)
		if !errors.Is(err, shared.ErrDamaged) && !errors.Is(err, shared.ErrMissing) {
			t.Errorf("object with the wrong size: %v", err)
		}
	}
	_, err := s.Object(background, "u1", shared.Hash{}, 3)
	want(t, err, shared.ErrMissing)
}

func (r *rig) missing(t *testing.T) {
	s := r.open(t, "a")
	page, err := s.Read(background, shared.NewID(), 0)
	want(t, err, shared.ErrMissing)
	must(t, s.Fence(background, page.Server))
	heads, _, err := s.Heads(background, []shared.ID{shared.NewID()})
	if err != nil || len(heads) != 0 {
		t.Errorf("heads: %v, %v", heads, err)
	}
	ended, cancel := context.WithCancel(background)
	cancel()
	a, _ := seal(t, shared.NewID(), shared.Position{}, "x")
	want(t, s.Append(ended, a), shared.ErrUnavailable)
}

func (r *rig) heartbeat(t *testing.T) {
	s := r.open(t, "a")
	server, err := s.Beat(background)
	must(t, err)
	must(t, s.Fence(background, server))
	want(t, s.Fence(background, "another server"), shared.ErrMoved)
	one, err := s.Incarnation(background)
	must(t, err)
	other, err := r.open(t, "b").Incarnation(background)
	if err != nil || one != other || one == (shared.ID{}) {
		t.Errorf("incarnations %v and %v, %v", one, other, err)
	}
}
