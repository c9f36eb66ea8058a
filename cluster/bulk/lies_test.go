package bulk

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
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

func TestContentIsPutOnceAndReadBack(t *testing.T) {
	objects, _ := newObjects()
	l := &liar{Objects: objects}
	s := NewStore(l, "u1000")
	data := []byte("content")
	n := BlobName(RefOf(data).SHA)
	if err := s.Put(ctx, n, []byte("other")); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("other content than the name: %v", err)
	}
	if err := s.Put(ctx, Name{Kind: 'z'}, data); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("no name: %v", err)
	}
	for range 2 {
		if err := s.Put(ctx, n, data); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Get(ctx, n, 7); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := s.Range(ctx, n, 3, 4); err != nil || string(got) != "tent" {
		t.Errorf("%q, %v", got, err)
	}
	if err := s.Has(ctx, n, 7); err != nil {
		t.Error(err)
	}
	for _, size := range []int64{6, 8, -1, engine.MaxObject + 1} {
		if got, err := s.Get(ctx, n, size); err == nil || got != nil {
			t.Errorf("%d bytes: %q, %v", size, got, err)
		}
	}
	if err := s.Has(ctx, n, 8); !errors.Is(err, engine.ErrDiffers) {
		t.Error(err)
	}
	for _, l.lie = range lies {
		got, err := s.Get(ctx, n, 7)
		wantLie(t, l.lie, err)
		if got != nil || !strings.Contains(err.Error(), n.String()) {
			t.Errorf("%s: %q, %v", l.lie, got, err)
		}
		wantLie(t, l.lie, s.Has(ctx, n, 7))
		wantLie(t, l.lie, s.Put(ctx, n, data))
		next := []byte("next " + l.lie)
		r, err := s.PutBody(ctx, next)
		wantLie(t, l.lie, err)
		_, err = s.Body(ctx, r)
		wantLie(t, l.lie, err)
	}
	other := NewStore(objects, "u2000")
	if _, err := other.Get(ctx, n, 7); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("of another owner: %v", err)
	}
}

// shared is a session whose messages are shared in parts, and the store with a copy of it.
type shared struct {
	liar  *liar
	s     *Store
	x     *session.Session // the origin
	snap  *Snapshot
	saved Saved
	parts *Parts
	store *session.Store
	y     *session.Session // the copy
}

// newShared makes a session with some parts, and a copy without their files.
func newShared(t *testing.T) *shared {
	t.Helper()
	smallParts(t)
	objects, _ := newObjects()
	h := &shared{liar: &liar{Objects: objects}}
	h.s = NewStore(h.liar, Owner(refA))
	one := openStore(t, vfs.OS, t.TempDir(), session.Options{})
	t.Cleanup(func() { one.Close() })
	h.x = create(t, one)
	for i := range 5 {
		appendTo(t, h.x.Messages(), talk(10*i, 10, 3000))
	}
	list := shareAll(t, h.s, h.x)
	if len(list[0]) < 2 {
		t.Fatalf("%d parts", len(list[0]))
	}
	appendTo(t, h.x.Messages(), talk(50, 1, 100))
	var err error
	if h.snap, err = h.s.Take(ctx, h.x, at, list); err != nil {
		t.Fatal(err)
	}
	if h.saved, err = h.s.Save(ctx, h.snap); err != nil {
		t.Fatal(err)
	}
	h.parts = NewParts(h.liar, time.Minute)
	h.store = openStore(t, vfs.OS, t.TempDir(), session.Options{Parts: h.parts})
	t.Cleanup(func() { h.store.Close() })
	if h.y, err = h.s.Restore(ctx, h.store, refA, ownerA, h.snap, false); err != nil {
		t.Fatal(err)
	}
	return h
}

// again opens the store of the copy anew.
func (h *shared) again(t *testing.T, o session.Options) {
	t.Helper()
	dir := h.store.Dir()
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	h.store = openStore(t, vfs.OS, dir, o)
	var err error
	if h.y, err = h.store.Session(refA); err != nil {
		t.Fatal(err)
	}
}

// forgetEnds has the copy know no ends of parts, as one that was made of older index objects.
func (h *shared) forgetEnds(t *testing.T) {
	t.Helper()
	for i := range h.snap.Logs[0].Parts {
		row := filepath.Join(h.y.Dir(), archive.AwayRow(ctxabi.MessagesFile, i+1))
		if err := os.WriteFile(row, h.snap.Logs[0].Parts[i].Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.parts = NewParts(h.liar, time.Minute)
	h.again(t, session.Options{Parts: h.parts})
}

// A read fetches the frames that it needs, and the end of the part if that was not in its index; a second one fetches nothing.
func TestAPartIsReadByFrames(t *testing.T) {
	t.Run("whose end is known", func(t *testing.T) { readByFrames(t, newShared(t), true) })
	t.Run("whose end is fetched", func(t *testing.T) {
		h := newShared(t)
		h.forgetEnds(t)
		readByFrames(t, h, false)
	})
}

func readByFrames(t *testing.T, h *shared, known bool) {
	want := contentOf(t, h.x.Messages())
	p := &h.snap.Logs[0].Parts[0]
	read := func(off, n int64) int64 {
		t.Helper()
		before := h.parts.Fetched()
		b := make([]byte, n)
		if _, err := h.y.Messages().ReadAt(b, off); err != nil && err != io.EOF || !bytes.Equal(b, want[off:off+n]) {
			t.Fatalf("%d bytes at %d: %v", n, off, err)
		}
		return h.parts.Fetched() - before
	}
	if got := read(int64(len(want))-50, 50); got != 0 {
		t.Errorf("the tail made it fetch %d bytes", got)
	}
	first := read(p.Size/2, 10)
	end := p.Trailer.Size
	if known {
		end = 0
	}
	if most := end + (p.File.Size-p.Trailer.Size)/2; first <= end || first > most {
		t.Errorf("ten bytes made it fetch %d of %d, with %d for the end", first, p.File.Size, p.Trailer.Size)
	}
	if got := read(p.Size/2, 10); got != 0 {
		t.Errorf("ten bytes again made it fetch %d", got)
	}
	h.parts = NewParts(h.liar, time.Minute)
	h.again(t, session.Options{Parts: h.parts})
	if got := read(p.Size/2, 10); got != 0 {
		t.Errorf("after a restart ten bytes again made it fetch %d", got)
	}
	read(0, int64(len(want)))
	all := int64(0)
	for _, p := range h.snap.Logs[0].Parts {
		all += p.File.Size
	}
	if got := first + h.parts.Fetched(); got > all {
		t.Errorf("all made it fetch %d bytes of %d", got, all)
	}
	sameSession(t, h.x, h.y)
	for i := range h.snap.Logs[0].Parts { // what is kept is the part
		raw, err := os.ReadFile(filepath.Join(h.y.Dir(), archive.AwayFrames(ctxabi.MessagesFile, i+1)))
		p := h.snap.Logs[0].Parts[i]
		file, bad := h.s.Get(ctx, p.Name(h.x.ID()), p.File.Size)
		frames := int(p.File.Size - p.Trailer.Size)
		if err != nil || bad != nil || len(raw) < frames || !bytes.Equal(raw[:frames], file[:frames]) || !known && len(raw) != len(file) {
			t.Errorf("part %d is kept as other bytes: %v, %v", i+1, err, bad)
		}
	}
}

// However the store of objects lies, no wrong byte is read, and the truth is read once it is told.
func TestALieIsNeverRead(t *testing.T) {
	for _, lie := range lies {
		t.Run(lie, func(t *testing.T) {
			h := newShared(t)
			h.forgetEnds(t)
			want := contentOf(t, h.x.Messages())
			h.liar.lie, h.liar.about = lie, "p/"
			for range 2 {
				b := make([]byte, 100)
				n, err := h.y.Messages().ReadAt(b, 5000)
				wantLie(t, lie, err)
				if n != 0 || !errors.Is(err, archive.ErrAway) || !errors.Is(err, ctxabi.ErrIO) || archive.IsDamage(err) {
					t.Errorf("%d bytes, %v", n, err)
				}
			}
			if _, err := h.y.Timeline(); !errors.Is(err, archive.ErrAway) && err != nil {
				t.Errorf("a timeline: %v", err)
			}
			h.liar.lie = ""
			if got := contentOf(t, h.y.Messages()); !bytes.Equal(got, want) {
				t.Error("it does not read the truth")
			}
			sameSession(t, h.x, h.y)
		})
	}
}

// A frame that is damaged in the store is fetched again.
func TestKeptFramesAreChecked(t *testing.T) {
	h := newShared(t)
	want := contentOf(t, h.x.Messages())
	for range 2 {
		if got := contentOf(t, h.y.Messages()); !bytes.Equal(got, want) {
			t.Fatal("it reads other bytes")
		}
		file := filepath.Join(h.y.Dir(), archive.AwayFrames(ctxabi.MessagesFile, 1))
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range raw {
			if i%97 == 0 {
				raw[i] ^= 0x10
			}
		}
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		h.again(t, session.Options{Parts: NewParts(h.liar, time.Minute)})
	}
	sameSession(t, h.x, h.y)
}

// Who has no way to the objects reads what is here. The rest is no damage to them.
func TestAStoreWithoutObjects(t *testing.T) {
	h := newShared(t)
	h.again(t, session.Options{})
	p := h.snap.Logs[0].Parts
	end := p[len(p)-1].End()
	b := make([]byte, 20)
	if _, err := h.y.Messages().ReadAt(b, end); err != nil {
		t.Error(err)
	}
	if _, err := h.y.Messages().ReadAt(b, 0); !errors.Is(err, archive.ErrAway) || archive.IsDamage(err) {
		t.Errorf("a part that lies elsewhere: %v", err)
	}
	if problems, err := check.Verify(ctx, h.store, refA); err != nil || !slices.Equal(problems, []check.Problem{check.Away(ctxabi.MessagesFile)}) {
		t.Errorf("verify: %v, %v", problems, err)
	}
	to := refA
	to.Session = "fork"
	if _, _, err := h.store.Fork(h.y, -1, to, ownerA); !errors.Is(err, archive.ErrAway) {
		t.Errorf("a fork: %v", err)
	}
	if err := os.Remove(filepath.Join(h.y.Dir(), archive.AwayRow(ctxabi.MessagesFile, 1))); err != nil {
		t.Fatal(err)
	}
	for _, o := range []session.Options{{}, {Parts: h.parts}} {
		h.again(t, o)
		if _, err := h.y.Messages().ReadAt(b, 0); !archive.IsDamage(err) {
			t.Errorf("a part that nobody has: %v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(h.y.Dir(), archive.AwayRow(ctxabi.MessagesFile, 1)), p[0].Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	h.again(t, session.Options{Parts: h.parts})
	sameSession(t, h.x, h.y)
}

// A fork of a session whose parts lie elsewhere has files of its own.
func TestAForkFetchesTheParts(t *testing.T) {
	h := newShared(t)
	to := refA
	to.Session = "fork"
	if _, _, err := h.store.Fork(h.y, -1, to, ownerA); err != nil {
		t.Fatal(err)
	}
	h.again(t, session.Options{})
	f, err := h.store.Session(to)
	if err != nil || !bytes.Equal(contentOf(t, f.Messages()), contentOf(t, h.x.Messages())) {
		t.Errorf("the fork holds other bytes: %v", err)
	}
	if problems, err := check.Verify(ctx, h.store, to); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// Two hosts that share the same records name the same objects, whatever each has sealed.
func TestPartsDoNotDependOnTheHost(t *testing.T) {
	h := newShared(t)
	whole := openStore(t, vfs.OS, t.TempDir(), session.Options{})
	defer whole.Close()
	z, err := h.s.Restore(ctx, whole, refA, ownerA, h.snap, true)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, h.x.Messages(), talk(51, 40, 3000))
	rows := rowsOf(t, h.x, h.x.Messages())
	before := rowsOf(t, z, z.Messages())
	if !bytes.HasPrefix(rows, before) {
		t.Fatal("other rows")
	}
	if err := z.Messages().Apply(rows[len(before):], talk(51, 40, 3000)); err != nil {
		t.Fatal(err)
	}
	if raw, _, err := h.x.Archive(ctx); err != nil || raw == 0 {
		t.Fatalf("nothing was sealed: %v", err)
	}
	a, err := h.s.Share(ctx, h.x, h.x.Messages(), h.snap.Logs[0].Parts)
	b, failed := h.s.Share(ctx, z, z.Messages(), h.snap.Logs[0].Parts)
	if err != nil || failed != nil || a == nil || b == nil || !bytes.Equal(a.Encode(), b.Encode()) {
		t.Errorf("%+v and %+v, %v, %v", a, b, err, failed)
	}
}

// What lies around a frame is fetched with it, and nothing is fetched twice, in whatever order a part is read.
func TestTheNeighboursOfAFrameAreFetchedWithIt(t *testing.T) {
	for _, backward := range []bool{false, true} {
		h := newShared(t)
		h.forgetEnds(t)
		stride = 1500
		want := contentOf(t, h.x.Messages())
		sizes, asked := int64(0), 0
		for _, p := range h.snap.Logs[0].Parts {
			sizes += p.File.Size
		}
		const step = 500
		for n := range (len(want) + step - 1) / step {
			off := n * step
			if backward {
				off = max(0, len(want)-(n+1)*step)
			}
			b, before := make([]byte, min(step, len(want)-off)), h.parts.Fetched()
			if _, err := h.y.Messages().ReadAt(b, int64(off)); err != nil && err != io.EOF || !bytes.Equal(b, want[off:off+len(b)]) {
				t.Fatalf("%d bytes at %d: %v", len(b), off, err)
			}
			if h.parts.Fetched() > before {
				asked++
			}
		}
		if got := h.parts.Fetched(); got != sizes {
			t.Errorf("all made it fetch %d bytes of %d", got, sizes)
		}
		frames := 0
		for i := range h.snap.Logs[0].Parts {
			frames += len(h.snap.Logs[0].Parts[i].Sums) / 8
		}
		if asked >= frames {
			t.Errorf("%d reads fetched something, of %d frames", asked, frames)
		}
		sameSession(t, h.x, h.y)
	}
}
