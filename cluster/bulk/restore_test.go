package bulk

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/check"
)

// Restoring from a store that lies about anything leaves nothing behind.
func TestARestoreIsWholeOrNothing(t *testing.T) {
	h := newShared(t)
	for i, about := range []string{"x/", "p/", "b/"} {
		for _, lie := range lies {
			snap := *h.snap
			h.liar.lie = ""
			if about == "b/" {
				r, err := h.s.PutBody(ctx, make([]byte, inlineMost+1))
				if err != nil {
					t.Fatal(err)
				}
				snap.Files = append([]File(nil), snap.Files...)
				snap.Files[0].Content = Content{Ref: r}
			}
			h.liar.lie, h.liar.about = lie, about
			store := openStore(t, vfs.OS, t.TempDir(), session.Options{})
			_, err := h.s.Restore(ctx, store, refA, ownerA, &snap, i == 1)
			wantLie(t, lie, err)
			if _, err := store.Session(refA); !errors.Is(err, ctxabi.ErrNotFound) {
				t.Errorf("%s of %s: %v", lie, about, err)
			}
			if left := store.Unowned(time.Now().Add(time.Hour)); len(left) > 0 {
				t.Errorf("%s of %s leaves %v", lie, about, left)
			}
			store.Close()
		}
	}
	h.liar.lie = ""
	if _, err := h.s.Restore(ctx, h.store, refA, ownerA, h.snap, false); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	to := refA
	to.Session = "again"
	if _, err := h.s.Restore(done, h.store, to, ownerA, h.snap, false); !errors.Is(err, context.Canceled) {
		t.Errorf("who gives up: %v", err)
	}
}

// A snapshot whose rows, records or chains do not fit together is not restored.
func TestASnapshotThatDoesNotFit(t *testing.T) {
	h := newShared(t)
	for what, change := range map[string]func(s *Snapshot){
		"the chain of a log":  func(s *Snapshot) { s.Logs[0].Chain[0] ^= 1 },
		"the chain of a part": func(s *Snapshot) { s.Logs[0].Parts[0].Chain[0] ^= 1 },
		"another session":     func(s *Snapshot) { s.Session = strings.Repeat("0", 32) },
		"no rows":             func(s *Snapshot) { s.Logs[0].Rows = Content{} },
		"no tail":             func(s *Snapshot) { s.Logs[0].Tail = Content{}; s.Logs[0].Size = s.Logs[0].Base() },
		"a changed record":    func(s *Snapshot) { s.Logs[0].Tail.Data[30] ^= 1 },
		"a lost part": func(s *Snapshot) {
			l := &s.Logs[0]
			l.Size -= l.Parts[len(l.Parts)-1].Size
			l.Parts = l.Parts[:len(l.Parts)-1]
		},
	} {
		snap, err := ParseSnapshot(h.snap.Encode())
		if err != nil {
			t.Fatal(err)
		}
		change(snap)
		to := refA
		to.Session = "again"
		if _, err := h.s.Restore(ctx, h.store, to, ownerA, snap, false); !errors.Is(err, ErrDamaged) && !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// fsck checks a store whose parts lie elsewhere with and without a way to them.
func TestFsckOfPartsThatLieElsewhere(t *testing.T) {
	h := newShared(t)
	contentOf(t, h.y.Messages())
	dir := h.store.Dir()
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, o := range []session.Options{{Parts: h.parts}, {}} {
		for _, repair := range []bool{false, true} {
			_, err := check.Fsck(ctx, dir, check.FsckOptions{Options: o, Repair: repair}, func(d check.Damage) {
				if o.Parts != nil || d.Severity != check.Odd || !strings.Contains(d.What, archive.ErrAway.Error()) {
					t.Errorf("%+v", d)
				}
			})
			if err != nil {
				t.Errorf("with a way %v, with repair %v: %v", o.Parts != nil, repair, err)
			}
		}
	}
	h.store = openStore(t, vfs.OS, dir, session.Options{Parts: h.parts})
	var err error
	if h.y, err = h.store.Session(refA); err != nil {
		t.Fatal(err)
	}
	sameSession(t, h.x, h.y)
}

// The end of a part that stands in an index counts if it is the one of the part's row.
func TestTheEndOfAnotherPartIsNotKept(t *testing.T) {
	p := samplePart
	p.Trailer = RefOf([]byte("the end"))
	for _, c := range []struct {
		away Away
		want error
	}{{Away{Part: p}, nil}, {Away{p, []byte("the end")}, nil}, {Away{p, []byte("another")}, ErrDamaged}, {Away{p, []byte{}}, ErrDamaged}} {
		if got, err := ParseAway(c.away.Encode()); !errors.Is(err, c.want) || err == nil && !bytes.Equal(got.Encode(), c.away.Encode()) {
			t.Errorf("%q: %+v, %v", c.away.Trailer, got, err)
		}
	}
	h := newShared(t)
	r := restorer{root: h.store.Disk(), dir: h.y.Dir()}
	first := &h.snap.Logs[0].Parts[0]
	if err := r.part(ctx, first, &Index{Trailer: []byte("another")}, 1); err != nil {
		t.Fatal(err)
	}
	h.parts = NewParts(h.liar, time.Minute)
	h.again(t, session.Options{Parts: h.parts})
	sameSession(t, h.x, h.y)
}
