package search

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/segment"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// some is a segment of n records.
func some(t failer, n int) []byte {
	c := segment.NewChunk()
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	for i := range n {
		text := fmt.Sprintf("common word%d word%d unique%d", rng.IntN(10), rng.IntN(200), i)
		c.Add(segment.Log{Of: uint32(1 + i/100%2)}, 5+i/200*100+i%100, segment.Record{Role: ctxabi.User, Tools: []string{"bash"}[:i%2], Size: 100}, func(emit func(uint64)) { compress.Terms(text, emit) })
	}
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := segment.Verify(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readAll reads all that a search may read of a segment, in every order.
func readAll(data []byte) error {
	s, err := segment.Open(segment.Bytes(data), int64(len(data)))
	if err != nil {
		return err
	}
	s.Data = data
	v := &snapshot{n: &index{}, segments: []*segment.Segment{s}, r: newRoster(map[uint32]*known{1: {number: 1}, 2: {number: 2}})}
	if len(s.Runs)%2 == 0 {
		v.only = v.r.all[1]
	}
	for _, name := range []string{"common", "common word3 unique7", "word3 word5?role=user&tool=bash", `"common word3"`, "common?range=1-40"} {
		q, err := ParseName(name)
		if err != nil {
			return err
		}
		m, err := newMatcher(context.Background(), &q, v)
		if err != nil {
			return err
		}
		var must []uint64
		for _, p := range q.phrases {
			must = p.words
		}
		for _, sum := range []int{0, countAll + 1} {
			m.sum = sum
			if _, err := m.find(context.Background(), must, 3); err != nil {
				return err
			}
		}
	}
	return segment.Verify(data)
}

// Each bit of a segment counts: one that is flipped is noticed.
func TestAFlippedBitIsNoticed(t *testing.T) {
	for _, n := range []int{1, 700} {
		data := some(t, n)
		if err := readAll(data); err != nil {
			t.Fatal(err)
		}
		step := 1 + len(data)/2000
		for i := 0; i < len(data); i += step {
			data[i] ^= 1 << (i % 8)
			if segment.Verify(data) == nil {
				t.Errorf("%d records: nobody notices a change of byte %d of %d", n, i, len(data))
			}
			data[i] ^= 1 << (i % 8)
		}
		for _, cut := range []int{0, 1, len(data) / 2, len(data) - 1} {
			if segment.Verify(data[:cut]) == nil {
				t.Errorf("%d of %d bytes are taken for whole", cut, len(data))
			}
		}
	}
}

// FuzzSegment changes bytes of a segment, and believes all checksums: whatever is read, nothing panics.
func FuzzSegment(f *testing.F) {
	f.Add(uint16(3), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint16(300), []byte{0xff, 0xff, 0, 9, 1, 0, 200, 3, 255})
	f.Fuzz(func(t *testing.T, n uint16, changes []byte) {
		data := some(t, 1+int(n)%400)
		segment.TrustSums = true
		defer func() { segment.TrustSums = false }()
		for len(changes) >= 4 {
			at := (int(changes[0]) | int(changes[1])<<8 | int(changes[2])<<16) % len(data)
			if changes[0]&1 == 0 { // what says where things are is at the end
				at = len(data) - 1 - at%min(len(data), 200)
			}
			data[at] = changes[3]
			changes = changes[4:]
		}
		readAll(data)
	})
}

func FuzzParseName(f *testing.F) {
	for _, s := range []string{"token refresh", "a%2Fb?n=3&role=user", `"x y" z?in=events&range=1-2`, "what?", "%", "%zz%2", "?n=", "a?b=c", "\"", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		q, err := ParseName(name)
		if err != nil {
			if ctxabi.KindOf(err) != ctxabi.ErrMalformed || !strings.Contains(err.Error(), Filters) {
				t.Fatalf("%q: %v", name, err)
			}
			return
		}
		again, err := ParseName(q.Name())
		if err != nil || again.Text != q.Text || again.N != q.N || again.Tokens != q.Tokens || again.Role != q.Role || again.Tool != q.Tool ||
			again.In != q.In || again.Range != q.Range || again.JSON != q.JSON || !slices.Equal(again.terms, q.terms) {
			t.Fatalf("%q is %+v, and as %q %+v: %v", name, q, q.Name(), again, err)
		}
	})
}

// files lists the index's files of the session.
func files(x *session.Session) []string { return x.Store().Owned(x.Ref()).DerivedNames(Dir) }

// internalName is the name of derived content on the disk.
func internalName(x *session.Session, name string) string {
	return path.Join(x.Store().Dir(), x.Ref().Owner(), ctxabi.InternalDir, name)
}

// A damage of any file of the index costs no hit: the index is made anew, and one row says so.
func TestADamagedIndexIsMadeAnew(t *testing.T) {
	for _, damage := range []string{"flip", "cut", "remove", "manifest", "swap"} {
		t.Run(damage, func(t *testing.T) {
			w := newWorld(t, Config{Wait: -1})
			defer func() { w.stop() }()
			x := w.session(s1)
			fillSession(w, x, 3000)
			w.build(x)
			for range 5 {
				w.append(x.Messages(), message("user", "needle in the middle"))
				fillSession(w, x, 2000)
				w.build(x)
			}
			names := files(x)
			if len(names) < 3 {
				t.Fatalf("%q", names)
			}
			w.stop()
			w.start(Config{Wait: -1})
			x = w.session(s1)
			w.search(x, "needle") // open
			for _, name := range names {
				switch {
				case damage == "manifest" && name == manifestFile, damage != "manifest" && strings.HasSuffix(name, suffix):
					w.damage(internalName(x, name), damage)
				}
			}
			for _, of := range []string{"while it is open", "after a start"} {
				if r := w.search(x, "needle"); r.Count != 5 {
					t.Errorf("%s: %d records", of, r.Count)
				}
				w.e.running.Wait()
				if problems, err := Check(context.Background(), w.store, x.Ref()); err != nil || len(problems) > 0 {
					t.Errorf("%v, %v", problems, err)
				}
				w.stop()
				w.start(Config{Wait: -1})
				x = w.session(s1)
			}
			rows := strings.Count(string(x.Errors()), "rebuilt")
			if want := map[string]int{"manifest": 0}; rows != 1 && damage != "manifest" || damage == "manifest" && rows != want[damage] {
				t.Errorf("%d rows: %s", rows, x.Errors())
			}
		})
	}
}

func fillSession(w *world, x *session.Session, n int) {
	w.t.Helper()
	var b strings.Builder
	for i := range n {
		b.WriteString(message("assistant", fmt.Sprintf("filling %d with words like %x and %x so that there is something", i, i*7919, i*104729)))
	}
	w.append(x.Messages(), b.String())
}

// damage does something to a file.
func (w *world) damage(name, how string) {
	w.t.Helper()
	if how == "remove" {
		if err := w.disk.Remove(name); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	f, err := w.disk.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	fi, _ := f.Stat()
	data := make([]byte, fi.Size())
	f.ReadAt(data, 0)
	switch how {
	case "cut":
		data = data[:len(data)/2]
	case "swap":
		data = some(w.t, 10)
	default:
		for i := 10; i < len(data); i += 500 {
			data[i] ^= 4
		}
	}
	if err := f.Truncate(0); err != nil {
		w.t.Fatal(err)
	}
	g, err := w.disk.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Write(data); err != nil {
		w.t.Fatal(err)
	}
}

// killed begins again after the daemon ended at a change that the disk was told to stop at, with a loss of power in every other
// case, and returns how often the disk stopped one.
func (w *world) killed(at int) (hit int) {
	hit, _ = w.disk.Hit()
	w.e.Close()
	w.store.Close() // ends its goroutine; nothing of it reaches the disk
	w.disk.Heal()
	w.disk.Kill()
	if at%2 == 1 {
		w.disk.Crash(int64(at))
	}
	w.start(Config{Wait: -1})
	return hit
}

// Whatever the last thing is that reaches the disk when the daemon is killed, and whatever a loss of power takes of it: the next
// one finds every record.
func TestAKilledBuilderLeavesAnIndexThatServes(t *testing.T) {
	for at := 1; ; at++ {
		w := newWorld(t, Config{Wait: -1})
		x := w.session(s1)
		for range 6 {
			fillSession(w, x, 300)
			w.append(x.Messages(), message("user", "needle"))
			w.search(x, "filling")
		}
		fillSession(w, x, 300)
		w.append(x.Messages(), message("user", "needle"))
		w.disk.Fail(sessiontest.Fault{Kind: sessiontest.Stopped, At: at, Changes: true})
		w.build(x)
		hit := w.killed(at)
		x = w.session(s1)
		if r := w.search(x, "needle"); x.Messages().Len() > 0 && r.Count != strings.Count(messagesOf(w, x), "needle") {
			t.Errorf("killed at change %d: %d records", at, r.Count)
		}
		w.stop()
		if hit == 0 {
			if at < 4 {
				t.Errorf("the builder made only %d changes", at)
			}
			return
		}
	}
}

func messagesOf(w *world, x *session.Session) string {
	b := make([]byte, x.Messages().Len())
	if _, err := x.Messages().ReadAt(b, 0); err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}
