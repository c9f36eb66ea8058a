package search

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// some is a segment of n records.
func some(t failer, n int) []byte {
	c := newChunk(false, 5)
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	for i := range n {
		text := fmt.Sprintf("common word%d word%d unique%d", rng.IntN(10), rng.IntN(200), i)
		c.add(&document{role: ctxabi.User, said: text, tools: []string{"bash"}[:i%2]}, 100)
	}
	var b bytes.Buffer
	if err := c.writeTo(&b); err != nil {
		t.Fatal(err)
	}
	if err := verifySegment(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readAll reads all that a search may read of a segment, in every order.
func readAll(data []byte) error {
	s, err := openSegment(bytesAt(data), int64(len(data)))
	if err != nil {
		return err
	}
	v := &view{segments: [2][]*segment{{s}}, upTo: [2]int{s.n}, all: [2]int{s.n}}
	s.data = data
	for _, name := range []string{"common", "common word3 unique7", "word3 word5?role=user&tool=bash", `"common word3"`, "common?range=1-40"} {
		q, err := ParseName(name)
		if err != nil {
			return err
		}
		m, err := newMatcher(context.Background(), &q, []*view{v})
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
	return verifySegment(data)
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
			if verifySegment(data) == nil {
				t.Errorf("%d records: nobody notices a change of byte %d of %d", n, i, len(data))
			}
			data[i] ^= 1 << (i % 8)
		}
		for _, cut := range []int{0, 1, len(data) / 2, len(data) - 1} {
			if verifySegment(data[:cut]) == nil {
				t.Errorf("%d of %d bytes are taken for whole", cut, len(data))
			}
		}
	}
}

func TestMergedSegmentsAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := newChunk(true, 1)
		var parts []*segment
		first := 1
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			c := newChunk(true, first)
			for range rapid.IntRange(1, 300).Draw(t, "records") {
				text := fmt.Sprintf("all w%d", rapid.IntRange(0, 40).Draw(t, "word"))
				d := &document{role: ctxabi.Event, said: text, tools: []string{"a", "b"}[:rapid.IntRange(0, 2).Draw(t, "tools")]}
				c.add(d, 10)
				whole.add(d, 10)
			}
			first += c.n
			s, err := c.segment()
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, s)
		}
		one := parts[0].data
		if len(parts) > 1 {
			var b bytes.Buffer
			if err := merge(context.Background(), &b, parts, readersOf(parts)); err != nil {
				t.Fatal(err)
			}
			one = b.Bytes()
		}
		if err := verifySegment(one); err != nil {
			t.Fatal(err)
		}
		got, err := openSegment(bytesAt(one), int64(len(one)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := whole.segment()
		if err != nil {
			t.Fatal(err)
		}
		if got.covers != want.covers {
			t.Fatalf("%+v, want %+v", got.covers, want.covers)
		}
		for term := range whole.having {
			e1, _ := got.find(bytesAt(one), whole.terms[term])
			e2, _ := want.find(bytesAt(want.data), whole.terms[term])
			d1, c1, err1 := got.postings(bytesAt(one), e1, nil, nil)
			d2, c2, err2 := want.postings(bytesAt(want.data), e2, nil, nil)
			if err1 != nil || err2 != nil || !slices.Equal(d1, d2) || !slices.Equal(c1, c2) {
				t.Fatalf("%v %v: %v %v, want %v %v", err1, err2, d1, c1, d2, c2)
			}
		}
	})
}

// FuzzSegment changes bytes of a segment, and believes all checksums: whatever is read, nothing panics.
func FuzzSegment(f *testing.F) {
	f.Add(uint16(3), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint16(300), []byte{0xff, 0xff, 0, 9, 1, 0, 200, 3, 255})
	f.Fuzz(func(t *testing.T, n uint16, changes []byte) {
		data := some(t, 1+int(n)%400)
		trustSums = true
		defer func() { trustSums = false }()
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
func files(x *session.Session) []string { return x.DerivedNames(Dir) }

// internal is the name of derived content on the disk.
func internal(x *session.Session, name string) string {
	return path.Join(x.Dir(), ctxabi.InternalDir, name)
}

// A damage of any file of the index costs no hit: the index is made anew, and one row says so.
func TestADamagedIndexIsMadeAnew(t *testing.T) {
	for _, damage := range []string{"flip", "cut", "remove", "manifest", "swap"} {
		t.Run(damage, func(t *testing.T) {
			w := newWorld(t, Config{Wait: -1})
			defer func() { w.stop() }()
			x := w.session(s1)
			fillSession(w, x, 3000)
			n := w.e.index(x)
			<-n.build()
			w.e.release(n)
			for range 5 {
				w.append(x.Messages(), message("user", "needle in the middle"))
				fillSession(w, x, 2000)
				<-n.build()
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
					w.damage(internal(x, name), damage)
				}
			}
			for _, of := range []string{"while it is open", "after a start"} {
				if r := w.search(x, "needle"); r.Count != 5 {
					t.Errorf("%s: %d records", of, r.Count)
				}
				if problems, err := Check(context.Background(), x); err != nil || len(problems) > 0 {
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
		n := w.e.index(x)
		<-n.build()
		w.e.release(n)
		hit, _ := w.disk.Hit()
		w.e.Close()
		w.store.Close() // ends its goroutine; nothing of it reaches the disk
		w.disk.Heal()
		w.disk.Kill()
		if at%2 == 1 {
			w.disk.Crash(int64(at))
		}
		w.start(Config{Wait: -1})
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

func readersOf(parts []*segment) (out []io.ReaderAt) {
	for _, s := range parts {
		out = append(out, bytesAt(s.data))
	}
	return out
}
