package search

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/search/segment"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// While an index is made, an answer says how far it is, and what was appended last is found already.
func TestASearchDoesNotWaitForALargeIndex(t *testing.T) {
	w := newWorld(t, Config{Wait: time.Nanosecond})
	defer w.stop()
	x := w.session(s1)
	w.append(x.Messages(), message("user", "the first needle"))
	for range 60 {
		fillSession(w, x, 500)
	}
	w.append(x.Messages(), message("user", "the last needle"))
	w.append(x.Events(), line(map[string]any{"type": "note", "text": "a needle among events"}))
	w.e.slot <- struct{}{} // another builder is at work
	r := w.search(x, "needle")
	if got := sources(r); len(got) != 2 || !r.Incomplete() {
		t.Errorf("%q, %+v", got, r.Sessions)
	}
	if out := string(w.e.Render(r)); !strings.HasPrefix(out, "# incomplete: the index is still being made: no messages of 30002, no events of 1 and the newest were searched; ask again in a moment\n# 2 of 2 records") {
		t.Error(out)
	}
	r, err := w.e.Owner(context.Background(), ctxabi.Ref{UID: s1.UID}, Query{Text: "needle"})
	if err != nil || !r.Incomplete() {
		t.Errorf("%+v, %v", r, err)
	}
	<-w.e.slot
	w.build(x)
	if r := w.search(x, "needle"); len(r.Hits) != 3 || r.Incomplete() {
		t.Errorf("%q, %+v", sources(r), r.Sessions)
	}
}

// A closed engine ends its builder, and still answers with what there is.
func TestCloseEndsTheBuilder(t *testing.T) {
	w := newWorld(t, Config{Wait: time.Nanosecond})
	x := w.session(s1)
	for range 60 {
		fillSession(w, x, 500)
	}
	w.search(x, "filling")
	w.e.Close()
	if r := w.search(x, "filling"); len(r.Hits) == 0 {
		t.Errorf("%+v", r)
	}
	w.stop()
}

// Readers, appends, builders and a memory that holds next to nothing: each search finds what was there when it began.
func TestConcurrentSearches(t *testing.T) {
	w := newWorld(t, Config{Wait: -1, Memory: 1})
	defer w.stop()
	const count = 4
	var xs [count]*session.Session
	for i := range xs {
		ref := s1
		ref.Session = fmt.Sprint("s", i)
		xs[i] = w.session(ref)
		w.append(xs[i].Messages(), message("user", "needle"))
	}
	var g sync.WaitGroup
	for i := range count {
		x := xs[i]
		g.Go(func() {
			for k := range 20 {
				fillSession(w, x, 100)
				w.append(x.Messages(), message("user", "needle"))
				q, _ := ParseName("needle?n=2")
				r, err := w.e.Session(context.Background(), x, q)
				if err != nil || r.Count != k+2 || len(r.Hits) != 1 {
					t.Errorf("session %d, round %d: %+v, %v", i, k, r, err)
					return
				}
				if k%5 == 0 {
					w.build(x)
				}
			}
		})
		g.Go(func() {
			for range 20 {
				r, err := w.e.Owner(context.Background(), ctxabi.Ref{UID: s1.UID, Agent: s1.Agent}, Query{Text: "needle"})
				if err != nil || r.Count < count {
					t.Errorf("%+v, %v", r, err)
					return
				}
			}
		})
	}
	g.Wait()
	r, err := w.e.Owner(context.Background(), ctxabi.Ref{UID: s1.UID}, Query{Text: "needle", N: MaxHits})
	if err != nil || r.Count != count*21 || len(r.Sessions) != count {
		t.Errorf("%d records, %v", r.Count, err)
	}
	w.e.running.Wait() // a builder whose turn comes late keeps its index, and writes files that no manifest names yet
	if n := w.e.open.Len(); n > 2 {
		t.Errorf("%d indexes are kept in memory for one byte", n)
	}
	for _, x := range xs {
		if problems, err := Check(context.Background(), w.store, x.Ref()); err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	}
}

// A search that has begun reads what it saw to its end, whatever becomes of it meanwhile, and finds no damage in that.
func TestASearchOutlivesMergesOfWhatItReads(t *testing.T) {
	w := newWorld(t, Config{Wait: -1})
	defer w.stop()
	x := w.session(s1)
	n := w.e.index(x.Ref())
	defer w.e.release(n)
	grow := func() {
		fillSession(w, x, 100)
		w.append(x.Messages(), message("user", "needle"))
		w.build(x)
	}
	grow()
	old, err := n.view(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * segment.FanIn {
		grow()
	}
	q, _ := ParseName("needle")
	if err := q.Prepare(); err != nil {
		t.Fatal(err)
	}
	for _, s := range old.pinned {
		if slices.Contains(n.segments, s) {
			t.Fatal("nothing was merged")
		}
	}
	if r, err := w.e.answer(context.Background(), q, gathered{n: n, s: old}); err != nil || r.Count != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, s := range old.pinned {
		n.dropSegment(s, segment.ErrDamaged)
	}
	if len(n.segments) == 0 || len(x.Errors()) > 0 {
		t.Errorf("a damage of what is used no more made the index anew: %s", x.Errors())
	}
	old.close()
	named := []string{manifestFile}
	for _, s := range n.segments {
		named = append(named, s.Name)
	}
	if got := files(x); len(got) != len(named) {
		t.Errorf("on the disk are %q, of use %q", got, named)
	}
}

// An owner's search opens no session of another.
func TestOwnersAreApart(t *testing.T) {
	w := newWorld(t, Config{Wait: -1})
	defer w.stop()
	refs := []ctxabi.Ref{{UID: 1, Agent: "a", Session: "s"}, {UID: 1, Agent: "b", Session: "s"}, {UID: 11, Agent: "a", Session: "s"}}
	for _, ref := range refs {
		w.append(w.session(ref).Messages(), message("user", "needle"))
	}
	for _, c := range []struct {
		of   ctxabi.Ref
		want string
	}{
		{ctxabi.Ref{UID: 1}, "[home/1/agent/a/session/s home/1/agent/b/session/s]"},
		{ctxabi.Ref{UID: 1, Agent: "b"}, "[home/1/agent/b/session/s]"},
		{ctxabi.Ref{UID: 11}, "[home/11/agent/a/session/s]"},
		{ctxabi.Ref{UID: 2}, "[]"},
		{ctxabi.Ref{Space: "team"}, "[]"},
	} {
		r, err := w.e.Owner(context.Background(), c.of, Query{Text: "needle"})
		if err != nil {
			t.Fatal(err)
		}
		refs := []string{}
		for _, s := range r.Sessions {
			refs = append(refs, s.Ref.Path())
		}
		if len(r.Hits) != len(refs) {
			t.Errorf("%+v: %d hits", c.of, len(r.Hits))
		}
		if got := fmt.Sprint(sorted(refs)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.of, got, c.want)
		}
	}
}

// An answer never has more tokens than it may.
func TestAnswersFit(t *testing.T) {
	w := newWorld(t, Config{Wait: -1})
	defer w.stop()
	x := w.session(s1)
	for i := range 40 {
		w.append(x.Messages(), message("tool", strings.Repeat(fmt.Sprintf("line %d of much output\n", i), 50)+"the needle is here\n"+strings.Repeat("and more of it\n", 30)))
	}
	for _, format := range []string{"text", "json"} {
		for _, tokens := range []int{64, 100, 333, 2000, 32000} {
			r := w.search(x, fmt.Sprintf("needle?n=30&tokens=%d&format=%s", tokens, format))
			out := string(w.e.Render(r))
			if n := ctxabi.Weight(out); n > tokens {
				t.Errorf("%s: %d tokens of %d", format, n, tokens)
			}
			if !strings.Contains(out, "needle") || (format == "text" || tokens > 200) && !strings.Contains(out, "needle is here") {
				t.Errorf("%s, %d tokens: %s", format, tokens, out)
			}
		}
	}
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

// watchedDisk is a disk that tells of each read of a file in a session's own directory.
type watchedDisk struct {
	*sessiontest.Disk
	read func(name string)
}

type watchedFile struct {
	vfs.File
	name string
	d    *watchedDisk
}

func (d *watchedDisk) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.Disk.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &watchedFile{f, name, d}, nil
}

func (f *watchedFile) ReadAt(p []byte, off int64) (int, error) {
	if f.d.read != nil {
		f.d.read(f.name)
	}
	return f.File.ReadAt(p, off)
}

// watched is a world of two sessions with a needle each, whose records are indexed on the disk.
func watched(t *testing.T) (w *world, d *watchedDisk, xs [2]*session.Session) {
	w = newWorld(t, Config{Wait: -1})
	w.stop()
	d = &watchedDisk{Disk: w.disk}
	store, err := session.Open("/store", session.Options{VFS: d, Now: w.disk.Now})
	if err != nil {
		t.Fatal(err)
	}
	w.store, w.e = store, New(store, Config{Wait: -1})
	for i := range xs {
		ref := s1
		ref.Session = fmt.Sprint("s", i)
		xs[i] = w.session(ref)
		w.append(xs[i].Messages(), message("user", fmt.Sprint("needle in haystack ", i)))
		w.build(xs[i])
	}
	return w, d, xs
}

func isMessages(name string) bool { return path.Base(name) == ctxabi.MessagesFile }

// Where sessions are moved while they are searched, hits stay with the records that they are of.
func TestASearchOutlivesARename(t *testing.T) {
	w, d, xs := watched(t)
	defer w.stop()
	home := xs[0].Ref().AgentHome()
	d.read = func(name string) {
		if isMessages(name) {
			d.read = nil
			if err := w.store.Rename(home, path.Dir(home)+"/renamed"); err != nil {
				t.Error(err)
			}
		}
	}
	r, err := w.e.Owner(context.Background(), ctxabi.Ref{UID: s1.UID}, Query{Text: "needle"})
	if err != nil || len(r.Hits) != 2 || d.read != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, h := range r.Hits {
		if want := "needle in haystack " + strings.TrimPrefix(h.Ref.Session, "s"); !strings.Contains(h.doc.Said, want) {
			t.Errorf("a hit of %s says %q", h.Ref, h.doc.Said)
		}
	}
}

// A session that is removed while all of its owner's are searched costs that search its own hits.
func TestASearchOutlivesARemoval(t *testing.T) {
	for what, at := range map[string]func(name string) bool{
		"its records are read": isMessages,
		"its index is read":    func(name string) bool { return isSegment("search/" + path.Base(name)) },
	} {
		w, d, xs := watched(t)
		d.read = func(name string) {
			if at(name) {
				d.read = nil
				other := xs[1] // than is being read
				if strings.Contains(name, other.Dir()+"/") {
					other = xs[0]
				}
				if err := w.store.Remove(other.Ref()); err != nil {
					t.Error(err)
				}
			}
		}
		r, err := w.e.Owner(context.Background(), ctxabi.Ref{UID: s1.UID}, Query{Text: "needle"})
		if err != nil || len(r.Hits) != 1 || len(r.Sessions) != 1 || r.Unread != 0 || d.read != nil {
			t.Errorf("removed while %s: %+v, %v", what, r, err)
		}
		d.read = nil
		w.stop()
	}
}

// A reader beside the daemon that merges what he is about to read looks again, and makes no index of his own.
func TestAReaderBesideADaemonFindsItsMergedIndex(t *testing.T) {
	w, _, xs := watched(t)
	defer w.stop()
	beside := &watchedDisk{Disk: w.disk}
	store, err := session.Open("/store", session.Options{VFS: beside, Now: w.disk.Now, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e := New(store, Config{Wait: -1, ReadOnly: true})
	defer e.Close()
	x, err := store.Session(xs[0].Ref())
	if err != nil {
		t.Fatal(err)
	}
	beside.read = func(name string) {
		if path.Base(name) == path.Base(manifestFile) {
			beside.read = nil
			for range segment.FanIn {
				fillSession(w, xs[0], 100)
				w.build(xs[0])
			}
		}
	}
	n := e.index(x.Ref())
	defer e.release(n)
	v, _, err := n.look(x)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.pinned) == 0 || beside.read != nil {
		t.Error("the daemon's index is not used")
	}
	v.close()
	if got := x.Errors(); len(got) > 0 {
		t.Errorf("%s", got)
	}
}
