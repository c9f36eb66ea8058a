package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
)

// script is a journal of a session in a fake engine, to which a test appends.
type script struct {
	t       *testing.T
	e       engine.Engine
	subject engine.Subject
	at      journal.Position
	seq     uint64
	ends    []journal.Position // in front of each entry
	entries []engine.Entry
}

// add appends an entry, and returns the sequence of it.
func (j *script) add(rows ...journal.Row) uint64 {
	j.t.Helper()
	header, payload, next, err := journal.Seal(j.at, "a", 4, rows)
	if err == nil {
		j.seq, err = j.e.Append(ctx, j.subject, j.seq, fmt.Sprint("id-", j.at.I), header, payload)
	}
	if err != nil {
		j.t.Fatal(err)
	}
	j.ends = append(j.ends, j.at)
	j.entries = append(j.entries, engine.Entry{Seq: j.seq, Header: header, Payload: payload})
	j.at = next
	return j.seq
}

// A journal is trimmed behind a snapshot, and a host that has nothing makes the session of what stays.
func TestAJournalIsTrimmedBehindASnapshot(t *testing.T) {
	smallParts(t)
	servers := fake.New()
	e := servers.Host("a")
	l := &liar{Objects: e.Objects()}
	s := NewStore(l, Owner(refA))
	one := openStore(t, vfs.OS, t.TempDir(), session.Options{})
	defer one.Close()
	x := create(t, one)
	j := &script{t: t, e: e, subject: engine.Subject{Owner: Owner(refA), Session: idA}}
	j.at = journal.Start(j.subject)
	commit := func(n int) {
		t.Helper()
		before := len(rowsOf(t, x, x.Messages()))
		data := talk(n, 4, 900)
		appendTo(t, x.Messages(), data)
		j.add(journal.Row{Kind: journal.Message, Content: rowsOf(t, x, x.Messages())[before:], Body: data})
	}
	var shared [2][]Part
	for n := range 20 {
		commit(4 * n)
	}
	p, err := s.Share(ctx, x, x.Messages(), nil)
	if err != nil {
		t.Fatal(err)
	}
	shared[0] = []Part{*p}
	j.add(journal.Row{Kind: journal.Part, Content: p.Encode()})
	if err := x.SetControl(ctxabi.HandoffFile, make([]byte, inlineMost+1)); err == nil {
		t.Fatal("NUL in a prompt")
	}
	if err := x.SetControl(ctxabi.HandoffFile, []byte(strings.Repeat("h", inlineMost+1))); err != nil {
		t.Fatal(err)
	}
	j.add(journal.Row{Kind: journal.Control, Content: []byte(ctxabi.HandoffFile)})
	snap, err := s.Take(ctx, x, j.at, shared)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := s.Save(ctx, snap)
	if err != nil {
		t.Fatal(err)
	}
	place := len(j.entries)
	seq := j.add(journal.Row{Kind: journal.Snapshot, Content: saved.Encode()})
	entry := j.entries[place]
	for _, lie := range lies {
		for _, about := range []string{"s/", "b/", "p/", "x/"} {
			l.lie, l.about = lie, about
			before, err := s.TrimBefore(ctx, idA, snap.At, entry)
			wantLie(t, lie, err)
			if before != 0 {
				t.Errorf("%s of %s: it may be trimmed before %d", lie, about, before)
			}
		}
	}
	l.lie = ""
	for what, c := range map[string]struct {
		at   journal.Position
		of   engine.Entry
		want error
	}{"another place": {j.ends[place-1], entry, journal.ErrGap}, "an entry without one": {j.ends[place-1], j.entries[place-1], ErrDamaged}} {
		if before, err := s.TrimBefore(ctx, idA, c.at, c.of); !errors.Is(err, c.want) || before != 0 {
			t.Errorf("%s: %d, %v", what, before, err)
		}
	}
	late := j.add(journal.Row{Kind: journal.Snapshot, Content: saved.Encode()}) // an old snapshot in a later entry
	if before, err := s.TrimBefore(ctx, idA, j.ends[place+1], j.entries[place+1]); !errors.Is(err, ErrDamaged) || before != 0 {
		t.Errorf("a snapshot of an earlier moment, at %d: %d, %v", late, before, err)
	}
	before, err := s.TrimBefore(ctx, idA, snap.At, entry)
	if err != nil || before != seq {
		t.Fatalf("before %d, %v, want %d", before, err, seq)
	}
	if err := servers.Maintenance().Trim(ctx, j.subject, before); err != nil {
		t.Fatal(err)
	}
	commit(1000)

	y := newHost(t, servers, j)
	sameSession(t, x, y)
}

// newHost makes the session of a journal in a store that has nothing, from what a fresh host reads.
func newHost(t *testing.T, servers *fake.Servers, j *script) *session.Session {
	t.Helper()
	b := servers.Host("b")
	s := NewStore(b.Objects(), Owner(refA))
	two := openStore(t, vfs.OS, t.TempDir(), session.Options{Parts: NewParts(b.Objects(), time.Minute)})
	t.Cleanup(func() { two.Close() })
	list, err := b.Read(ctx, j.subject, engine.Range{From: 1})
	if err != nil || len(list) != 3 {
		t.Fatalf("%d entries stay, %v", len(list), err)
	}
	saved := Saved{At: j.ends[len(j.ends)-3]}
	first, _, err := journal.Open(saved.At, list[0])
	if err == nil {
		saved, err = SavedIn(first)
	}
	if err != nil {
		t.Fatal(err)
	}
	snap, err := s.Load(ctx, idA, saved)
	if err != nil {
		t.Fatal(err)
	}
	y, err := s.Restore(ctx, two, refA, ownerA, snap, false)
	if err != nil {
		t.Fatal(err)
	}
	at := snap.At
	for _, from := range list {
		var e journal.Entry
		if e, at, err = journal.Open(at, from); err != nil {
			t.Fatal(err)
		}
		for _, r := range e.Rows {
			if r.Kind == journal.Message {
				if err := y.Messages().Apply(r.Content, r.Body); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if at != j.at {
		t.Errorf("it ends at %+v, not at %+v", at, j.at)
	}
	return y
}

// A new host reads the index of a part, and not its records.
func TestTheIndexComesWithoutTheRecords(t *testing.T) {
	h := newShared(t)
	all := int64(0)
	for _, p := range h.snap.Logs[0].Parts {
		all += p.File.Size
	}
	a, err := h.x.Timeline()
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.y.Timeline()
	if err != nil || b.Messages.Len() != a.Messages.Len() {
		t.Fatalf("%v", err)
	}
	for line := 1; line <= a.Messages.Len(); line++ {
		if a.Messages.At(line) != b.Messages.At(line) {
			t.Errorf("line %d is %+v, not %+v", line, b.Messages.At(line), a.Messages.At(line))
		}
	}
	if got := h.parts.Fetched(); got > all/3 {
		t.Errorf("the index made it fetch %d of %d bytes", got, all)
	}
}

// What may go was named by nothing at each look of seven days, and what is named, or was put a moment
// ago, stays.
func TestWhatNothingNamesGoes(t *testing.T) {
	objects, maintenance := newObjects()
	s, m := NewStore(objects, "u1000"), NewStore(maintenance, "u1000")
	start := time.Unix(1760000000, 0)
	day := func(n int) time.Time { return start.Add(time.Duration(n) * 24 * time.Hour) }
	put := func(text string) Name {
		t.Helper()
		r, err := s.PutBody(ctx, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return BlobName(r.SHA)
	}
	old, used, back := put("old"), put("used"), put("back")
	foreign := engine.Key{Owner: "u1000", Name: "other/thing"}
	if err := objects.Put(ctx, foreign, []byte("x")); err != nil {
		t.Fatal(err)
	}
	look := func(u Unnamed, now time.Time, names ...Name) ([]Name, Unnamed) {
		t.Helper()
		listed, err := objects.List(ctx, "u1000", "")
		if err != nil {
			t.Fatal(err)
		}
		var named Named
		named.Add(names...)
		due, next := u.Plan(KeepFor, listed, &named, now)
		kept, err := ParseUnnamed(next.Encode())
		if err != nil || len(kept) != len(next) {
			t.Fatalf("%v, %v, %v", kept, next, err)
		}
		return due, kept
	}
	due, u := look(nil, day(0), used, back)
	if len(due) > 0 || len(u) != 1 {
		t.Fatalf("%v, %v", due, u)
	}
	due, u = look(u, day(3), used)
	if len(due) > 0 || len(u) != 2 {
		t.Fatalf("%v, %v", due, u)
	}
	due, u = look(u, day(6), used, back) // it was named again: its days begin anew
	if len(due) > 0 || len(u) != 1 {
		t.Fatalf("%v, %v", due, u)
	}
	fresh := put("fresh")
	if due, _ = look(u, day(-20), used); len(due) > 0 {
		t.Errorf("a clock that went back: %v", due)
	}
	due, u = look(u, day(7), used)
	if !slices.Equal(due, []Name{old}) || u[fresh] != day(7) || u[back] != day(7) {
		t.Fatalf("%v, %v", due, u)
	}
	no := func(Name) (bool, error) { return false, nil }
	if gone, err := m.Sweep(ctx, due, no); err != nil || len(gone) > 0 {
		t.Errorf("%v, %v", gone, err)
	}
	failed := errors.New("a journal cannot be read")
	if gone, err := m.Sweep(ctx, due, func(Name) (bool, error) { return true, failed }); !errors.Is(err, failed) || len(gone) > 0 {
		t.Errorf("%v, %v", gone, err)
	}
	yes := func(Name) (bool, error) { return true, nil }
	if gone, err := s.Sweep(ctx, due, yes); !errors.Is(err, engine.ErrDenied) || len(gone) > 0 {
		t.Errorf("a host that may not: %v, %v", gone, err)
	}
	if gone, err := m.Sweep(ctx, due, yes); err != nil || !slices.Equal(gone, due) {
		t.Errorf("%v, %v", gone, err)
	}
	if _, err := s.Get(ctx, old, 3); !errors.Is(err, engine.ErrNotFound) {
		t.Error(err)
	}
	due, _ = look(u, day(30), used)
	if want := []Name{back, fresh}; len(due) != 2 || !slices.Contains(due, want[0]) || !slices.Contains(due, want[1]) {
		t.Errorf("%v, want %v", due, want)
	}
	if _, err := objects.Stat(ctx, foreign); err != nil {
		t.Error(err)
	}
}

// Snapshots and rows name what they refer to, and nothing else.
func TestWhatRowsName(t *testing.T) {
	smallParts(t)
	rapid.Check(t, func(t *rapid.T) {
		var named Named
		var want []Name
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			h := hashOf(rapid.Byte().Draw(t, "hash"))
			var r journal.Row
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				p := samplePart
				p.File.SHA = h
				r = journal.Row{Kind: journal.Part, Content: p.Encode()}
				want = append(want, p.Name(idA), p.IndexName(idA))
			case 1:
				s := sampleSaved
				s.Object.SHA = h
				r = journal.Row{Kind: journal.Snapshot, Content: s.Encode()}
				want = append(want, s.Name(idA))
			case 2:
				ref := Ref{h, 1 << 20}
				r = journal.Row{Kind: rapid.SampledFrom([]journal.Kind{journal.Message, journal.Control, journal.Output}).Draw(t, "of"), Body: ref.Encode()}
				want = append(want, BlobName(h))
			case 3:
				s := sampleSnapshot
				s.Blobs = []Blob{{Ref: Ref{h, 5}}}
				saved := Saved{At: s.At, Object: RefOf(s.Encode())}
				named.AddSnapshot(saved, &s)
				want = append(want, saved.Name(idA), BlobName(h), s.Logs[0].Parts[0].Name(idA), s.Logs[0].Parts[0].IndexName(idA), BlobName(hashOf(16)), BlobName(hashOf(17)))
				continue
			default:
				r = journal.Row{Kind: journal.Message, Content: []byte("row"), Body: []byte("{}\n")}
			}
			if err := named.AddRow(idA, r); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range want {
			if !named.Has(n) {
				t.Errorf("%s is not named", n)
			}
		}
		for n := range named.names {
			if !slices.Contains(want, n) {
				t.Errorf("%s is named by nothing", n)
			}
		}
	})
	var named Named
	for _, kind := range []journal.Kind{journal.Part, journal.Snapshot} {
		if err := named.AddRow(idA, journal.Row{Kind: kind, Content: []byte("x")}); err == nil {
			t.Errorf("a row of kind %c that is damaged", kind)
		}
	}
	if _, err := NewStore(fake.New().Host("a", "u1").Objects(), "u2").PutBody(context.Background(), []byte("x")); !errors.Is(err, engine.ErrDenied) {
		t.Errorf("of an owner that the host does not serve: %v", err)
	}
}
