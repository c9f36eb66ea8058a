package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// eventRows names the arrival rows of events.
const eventRows = ctxabi.InternalDir + "/arrivals.events"

// oldStore is a store of format 3: records with and without a request, sealed ones, a row that was made up at an open, events.
func oldStore(t *testing.T) (d *sessiontest.Disk, dir string) {
	t.Helper()
	d = sessiontest.New()
	dir = closed(t, d)
	w := &world{disk: d, offered: map[string]bool{}}
	for round := range 2 {
		s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
		x, err := s.Session(refA)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			b := log.Batch{Data: []byte(w.record(40)), Writer: disk.Writer{UID: 1000, PID: uint32(i)}}
			if i%3 > 0 {
				b.Key = arrival.Key{Conn: 1<<63 + uint64(round), Unique: uint64(i)}
			}
			if _, err := x.Messages().Append(ctx, b); err != nil {
				t.Fatal(err)
			}
			if i%4 == 0 {
				x.Events().Append(ctx, log.Batch{Data: []byte(`{"type":"note"}` + "\n"), Writer: root, Key: arrival.Key{Conn: 7, Unique: uint64(100*round + i)}})
			}
		}
		if round == 0 {
			w.seal(x.Messages())
		}
		s.Close()
		log := path.Join(dir, ctxabi.MessagesFile)
		put(t, d, log, append(get(t, d, log), w.record(3)...)) // past the mount
	}
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, _ := s.Session(refA)
	if x.Messages().Len() == 0 || w.seals != 1 {
		t.Fatal("the store is not what it is meant to be")
	}
	s.Close()
	if err := sessiontest.Old(d, "/store", dir); err != nil {
		t.Fatal(err)
	}
	return d, dir
}

// newOldWorld has a session of format 3, with records that were sealed and others, and with events.
func newOldWorld() *world {
	w := newWorld()
	s, err := w.open()
	if err != nil {
		panic(err)
	}
	x, err := s.Create(refA, home)
	if err != nil {
		panic(err)
	}
	w.created = true
	c := w.client(x.Messages())
	for i := range 20 {
		if c.write(w.record(100)); i == 12 {
			w.seal(x.Messages())
			w.seals = 0
		}
		if i%10 == 0 {
			x.Events().Append(ctx, log.Batch{Data: []byte(`{"type":"note"}` + "\n"), Writer: root})
		}
	}
	c.stage.Release()
	w.heads, err = x.Heads()
	if err := errors.Join(err, s.Close(), sessiontest.Old(w.disk, "/store", x.Dir())); err != nil || len(w.acked) != 20 {
		panic(err)
	}
	w.synced, w.begun = w.acked, len(w.acked)
	return w
}

// printed is a file of arrival rows as lines of JSON.
func printed(t *testing.T, raw []byte) string {
	t.Helper()
	var chain arrival.Chain
	var out []byte
	for line := range bytes.Lines(raw) {
		if a, ok := arrival.ParseRow(bytes.TrimSuffix(line, []byte("\n"))); ok {
			chain.Add(&a)
			out = arrival.AppendJSON(out, &a)
		} else {
			out = append(out, line...)
		}
	}
	return string(out)
}

func heads(t *testing.T, x *session.Session) []session.Head {
	t.Helper()
	h, err := x.Heads()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// chains are the values of the chain behind each record.
func chains(t *testing.T, l *log.Log) (all []string) {
	t.Helper()
	for _, e := range entries(t, l) {
		chain, err := l.HeadAt(e.End())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, chain)
	}
	return all
}

func TestOldRowsBecomeNewOnes(t *testing.T) {
	d, dir := oldStore(t)
	files := []string{session.ArrivalsFile, eventRows}
	var old []string
	for _, f := range files {
		old = append(old, string(get(t, d, path.Join(dir, f))))
	}
	before, _ := d.Stat(path.Join(dir, session.ArrivalsFile))
	look := openStore(t, "/store", session.Options{VFS: d, Now: d.Now, ReadOnly: true})
	y, err := look.Session(refA)
	if err != nil {
		t.Fatal(err)
	}
	was, messages, events := heads(t, y), chains(t, y.Messages()), chains(t, y.Events())
	verified(t, look, refA)
	if _, err := check.Fsck(ctx, "/store", check.FsckOptions{Options: session.Options{VFS: d, Now: d.Now}}, func(bad check.Damage) { t.Errorf("fsck finds %+v", bad) }); err != nil {
		t.Error(err)
	}
	for i, f := range files {
		if string(get(t, d, path.Join(dir, f))) != old[i] || !strings.HasPrefix(old[i], "{") {
			t.Fatalf("who only reads wrote %s", f)
		}
	}

	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, _ := s.Session(refA)
	if is := heads(t, x); !slices.Equal(is, was) {
		t.Errorf("the heads are %v, were %v", is, was)
	}
	if !slices.Equal(chains(t, x.Messages()), messages) || !slices.Equal(chains(t, x.Events()), events) {
		t.Error("the chain has other values")
	}
	for i, f := range files {
		raw := get(t, d, path.Join(dir, f))
		if fi, _ := d.Stat(path.Join(dir, f)); i == 0 && (!fi.ModTime().Equal(before.ModTime()) || fi.Mode() != before.Mode()) {
			t.Errorf("%s has the time %v and the mode %v, had %v and %v", f, fi.ModTime(), fi.Mode(), before.ModTime(), before.Mode())
		}
		if raw[0] != arrival.Version || 2*len(raw) > len(old[i]) {
			t.Errorf("%s has %d bytes, had %d", f, len(raw), len(old[i]))
		}
		if got := printed(t, raw); got != old[i] {
			t.Errorf("%s tells\n%s, told\n%s", f, got, old[i])
		}
	}
	again := log.Batch{Data: []byte(a1 + "\n"), Key: arrival.Key{Conn: 1<<63 + 1, Unique: 29}}
	if _, err := x.Messages().Append(ctx, again); err != nil || x.Messages().Len() != was[0].Bytes {
		t.Errorf("a request was committed again: %v", err)
	}
	verified(t, s, refA)
	if errs := strings.TrimSpace(string(x.Errors())); strings.Contains(errs, "arrival") {
		t.Errorf("reported %s", errs)
	}
	s.Close()
	fi, _ := d.Stat(path.Join(dir, session.ArrivalsFile))
	s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, _ = s.Session(refA)
	if is := heads(t, x); !slices.Equal(is, was) {
		t.Errorf("after a second open the heads are %v, were %v", is, was)
	}
	if now, _ := d.Stat(path.Join(dir, session.ArrivalsFile)); !now.ModTime().Equal(fi.ModTime()) {
		t.Error("they were written a second time")
	}
}

// What is damaged in a file of old rows is reported as it was before.
func TestDamagedOldRowsAreKept(t *testing.T) {
	for name, change := range map[string]func(rows [][]byte) [][]byte{
		"the first":             func(r [][]byte) [][]byte { r[0][9] ^= 1; return r },
		"one":                   func(r [][]byte) [][]byte { r[33][40] ^= 1; return r },
		"some":                  func(r [][]byte) [][]byte { r[33][40] ^= 1; r[34][40] ^= 1; r[50][1] ^= 1; return r },
		"one is gone":           func(r [][]byte) [][]byte { return slices.Delete(r, 20, 21) },
		"a line that is no row": func(r [][]byte) [][]byte { return slices.Insert(r, 7, []byte("x\n")) },
		"another chain": func(r [][]byte) [][]byte {
			a, _ := arrival.ParseRow(bytes.TrimSuffix(r[40], []byte("\n")))
			a.Chain[3] ^= 1
			r[40] = arrival.AppendJSON(nil, &a)
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, dir := oldStore(t)
			file := path.Join(dir, session.ArrivalsFile)
			put(t, d, file, bytes.Join(change(slices.Collect(bytes.Lines(get(t, d, file)))), nil))
			old := string(get(t, d, file))
			look := openStore(t, "/store", session.Options{VFS: d, Now: d.Now, ReadOnly: true})
			was, err := check.Verify(ctx, look, refA)
			if err != nil || len(was) == 0 {
				t.Fatalf("verify: %v %v", was, err)
			}
			y, _ := look.Session(refA)
			head := heads(t, y)
			for range 2 {
				s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
				x, _ := s.Session(refA)
				if is := heads(t, x); !slices.Equal(is, head) {
					t.Errorf("the heads are %v, were %v", is, head)
				}
				if is, err := check.Verify(ctx, s, refA); err != nil || !slices.Equal(is, was) {
					t.Errorf("verify finds %v %v, found %v", is, err, was)
				}
				if got := printed(t, get(t, d, file)); got != old {
					t.Errorf("it tells\n%s, told\n%s", got, old)
				}
				s.Close()
			}
		})
	}
}

// A disk that is too full to convert rows takes records nevertheless, and the rows are converted when there is room.
func TestRowsThatCouldNotBeConverted(t *testing.T) {
	d, dir := oldStore(t)
	file := path.Join(dir, session.ArrivalsFile)
	old := string(get(t, d, file))
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, _ := s.Session(refA)
	d.Fail(sessiontest.Fault{Kind: sessiontest.ENOSPC, At: 1, Count: 1 << 30, Changes: true})
	if err := x.Messages().Open(); err != nil {
		t.Fatal(err)
	}
	d.Heal()
	if string(get(t, d, file)) != old {
		t.Fatal("the rows are not the old ones")
	}
	for i := range 40 {
		if _, err := x.Messages().Append(ctx, log.Batch{Data: fmt.Appendf(nil, `{"role":"user","content":"%d"}`+"\n", i), Writer: root}); err != nil {
			t.Fatal(err)
		}
	}
	mixed := get(t, d, file)
	if !bytes.HasPrefix(mixed, []byte(old)) || mixed[len(old)] != arrival.Version {
		t.Fatal("new rows do not stand behind the old ones")
	}
	was, told := heads(t, x), printed(t, mixed)
	verified(t, s, refA)
	if n, err := x.Messages().LinesAt(d.Now()); err != nil || n == 0 { // it remembers places in the file
		t.Fatal(n, err)
	}
	for range session.IdleTicks {
		session.Tick(s)
	}
	if is := heads(t, x); !slices.Equal(is, was) {
		t.Errorf("the heads are %v, were %v", is, was)
	}
	raw := get(t, d, file)
	if raw[0] != arrival.Version || printed(t, raw) != told {
		t.Error("the rows were not converted, or tell something else")
	}
	if n, err := x.Messages().LinesAt(d.Now()); err != nil || n != len(entries(t, x.Messages())) {
		t.Errorf("%d lines, %v", n, err)
	}
	verified(t, s, refA)
	fork, _, err := s.Fork(x, 35, ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s2"}, home)
	if err != nil {
		t.Fatal(err)
	}
	verified(t, s, fork.Ref())
}
