package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// archived makes a session of two sealed parts and a tail, closes its store and gives what the parts and all of it hold.
func archived(t testing.TB, d *sessiontest.Disk) (dir string, parts [2]string, want string) {
	t.Helper()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	for i := range parts {
		parts[i] = talk(40<<10, int64(i))
		for line := range strings.Lines(parts[i]) {
			appendTo(t, x.Messages(), line)
		}
		seal(t, x.Messages())
	}
	appendTo(t, x.Messages(), a3+"\n")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return x.Dir(), parts, parts[0] + parts[1] + a3 + "\n"
}

func reopen(t testing.TB, d *sessiontest.Disk) (*session.Store, *session.Session) {
	t.Helper()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, err := s.Session(refA)
	if err != nil {
		t.Fatal(err)
	}
	return s, x
}

const part1, part2 = "messages.jsonl.1.zst", "messages.jsonl.2.zst"

// Whatever somebody does to the list of parts, the parts or the tail while no daemon runs: what is there is served, at its place.
func TestWhatIsDoneToSealedPartsByHand(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(d *sessiontest.Disk, dir string, parts [2]string)
		whole    bool   // nothing is missing
		reported string // by opening it
	}{
		{"nothing", func(d *sessiontest.Disk, dir string, parts [2]string) {}, true, ""},
		{"the list is removed", func(d *sessiontest.Disk, dir string, parts [2]string) { d.Remove(path.Join(dir, session.SegmentsFile)) }, true, "rebuilt it"},
		{"the list is damaged", func(d *sessiontest.Disk, dir string, parts [2]string) {
			put(t, d, path.Join(dir, session.SegmentsFile), []byte(`{"parts":[{"number":1,"off":5,"size":9}]}`))
		}, true, "rebuilt it"},
		{"the list is empty", func(d *sessiontest.Disk, dir string, parts [2]string) {
			put(t, d, path.Join(dir, session.SegmentsFile), nil)
		}, true, "rebuilt it"},
		{"raw records are put back", func(d *sessiontest.Disk, dir string, parts [2]string) {
			put(t, d, path.Join(dir, ctxabi.MessagesFile), []byte(parts[0]+parts[1]+a3+"\n"))
		}, true, ""},
		{"raw records are put back, parts are removed", func(d *sessiontest.Disk, dir string, parts [2]string) {
			put(t, d, path.Join(dir, ctxabi.MessagesFile), []byte(parts[0]+parts[1]+a3+"\n"))
			d.Remove(path.Join(dir, part1))
			d.Remove(path.Join(dir, part2))
		}, true, ""},
		{"raw records of the second part are put back", func(d *sessiontest.Disk, dir string, parts [2]string) {
			put(t, d, path.Join(dir, ctxabi.MessagesFile), []byte(parts[1]+a3+"\n"))
		}, true, ""},
		{"raw records of the second part are put back, and the list is removed", func(d *sessiontest.Disk, dir string, parts [2]string) {
			put(t, d, path.Join(dir, ctxabi.MessagesFile), []byte(parts[1]+a3+"\n"))
			d.Remove(path.Join(dir, session.SegmentsFile))
		}, true, "rebuilt it"},
		{"the first part is removed", func(d *sessiontest.Disk, dir string, parts [2]string) { d.Remove(path.Join(dir, part1)) }, false, ""},
		{"the second part is removed", func(d *sessiontest.Disk, dir string, parts [2]string) { d.Remove(path.Join(dir, part2)) }, false, ""},
		{"the second part and the list are removed", func(d *sessiontest.Disk, dir string, parts [2]string) {
			d.Remove(path.Join(dir, part2))
			d.Remove(path.Join(dir, session.SegmentsFile))
		}, false, "rebuilt it"},
		{"the first part and the list are removed", func(d *sessiontest.Disk, dir string, parts [2]string) {
			d.Remove(path.Join(dir, part1))
			d.Remove(path.Join(dir, session.SegmentsFile))
		}, false, "rebuilt it"},
		{"a part is empty", func(d *sessiontest.Disk, dir string, parts [2]string) { put(t, d, path.Join(dir, part1), nil) }, false, ""},
		{"the end of a part is cut", func(d *sessiontest.Disk, dir string, parts [2]string) {
			b := get(t, d, path.Join(dir, part1))
			put(t, d, path.Join(dir, part1), b[:len(b)-100])
		}, true, ""}, // its frames are whole
		{"the arrivals are removed", func(d *sessiontest.Disk, dir string, parts [2]string) {
			d.Remove(path.Join(dir, session.ArrivalsFile))
		}, true, "was missing"},
		{"the index is removed", func(d *sessiontest.Disk, dir string, parts [2]string) {
			d.Remove(path.Join(dir, session.IndexFile))
		}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := sessiontest.New()
			dir, parts, want := archived(t, d)
			c.change(d, dir, parts)
			for round := range 2 {
				s, x := reopen(t, d)
				l := x.Messages()
				if err := l.Open(); err != nil {
					t.Fatal(err)
				}
				if l.Len() != int64(len(want)) {
					t.Fatalf("open %d: the log has %d bytes, not %d", round+1, l.Len(), len(want))
				}
				tail := make([]byte, len(a3)+1)
				if n, _ := l.ReadAt(tail, int64(len(want)-len(tail))); string(tail[:n]) != want[len(want)-len(tail):] {
					t.Fatalf("open %d: the end is %q", round+1, tail)
				}
				missing := 0
				for off := 0; off < len(want); off += 1000 {
					b := make([]byte, min(1000, len(want)-off))
					n, err := l.ReadAt(b, int64(off))
					if string(b[:n]) != want[off:off+n] {
						t.Fatalf("other bytes at %d", off)
					}
					if n < len(b) {
						missing++
						if !errors.Is(err, ctxabi.ErrIO) {
							t.Fatalf("at %d: %v", off, err)
						}
					}
				}
				if (missing == 0) != c.whole {
					t.Errorf("open %d: %d ranges are missing", round+1, missing)
				}
				ix, err := l.Index()
				if err != nil {
					t.Fatal(err)
				}
				listed := !strings.Contains(c.name, "and the list") || c.whole // else nobody knows how many lines were lost
				if n := strings.Count(want, "\n"); ix.Len() != n && listed {
					t.Errorf("open %d: %d lines, not %d", round+1, ix.Len(), n)
				}
				problems, err := check.Verify(ctx, s, refA)
				if err != nil || (len(problems) == 0) != c.whole {
					t.Errorf("open %d: verify: %v %v", round+1, problems, err)
				}
				if got := string(x.Errors()); c.whole && !strings.Contains(got, c.reported) || c.whole && c.reported == "" && got != "" {
					t.Errorf("reported %q, want %q", got, c.reported)
				}
				appendTo(t, l, a2+"\n")
				want += a2 + "\n"
				if round == 0 && c.whole { // it goes on
					appendTo(t, l, talk(9<<10, 77))
					want += talk(9<<10, 77)
					seal(t, l)
				}
				s.Close()
			}
		})
	}
}

// Behind a damaged frame all is at its place: bytes, lines, chain. Only what it held is gone, and verify says so.
func TestADamagedFrameIsAllThatIsLost(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		t.Run(fmt.Sprintf("the index is made anew: %v", fresh), func(t *testing.T) {
			d := sessiontest.New()
			dir, _, want := archived(t, d)
			s, x := reopen(t, d)
			ix, _ := x.Messages().Index()
			entries := make([]ctxabi.Entry, ix.Len())
			for i := range entries {
				entries[i] = ix.At(i + 1)
			}
			s.Close()
			b := get(t, d, path.Join(dir, part1))
			at := len(b) / 3
			b[at] ^= 0x10
			put(t, d, path.Join(dir, part1), b)
			if fresh {
				d.Remove(path.Join(dir, session.IndexFile))
			}
			s, x = reopen(t, d)
			again, err := x.Messages().Index()
			if err != nil || again.Len() != len(entries) {
				t.Fatal(again, err)
			}
			bad, good := 0, 0
			for i, e := range entries {
				rec, err := again.Record(i + 1)
				if err != nil || again.At(i+1).Flags&ctxabi.Damaged != 0 {
					bad++
					continue
				}
				good++
				if string(rec) != want[e.Offset:e.Offset+int64(e.Len)] {
					t.Fatalf("line %d is %.60q", i+1, rec)
				}
			}
			if bad == 0 || bad > len(entries)/5 || good == 0 {
				t.Errorf("%d lines are lost of %d", bad, len(entries))
			}
			problems, err := check.Verify(ctx, s, refA)
			if err != nil || len(problems) == 0 || !strings.Contains(fmt.Sprint(problems), part1) {
				t.Errorf("verify: %v %v", problems, err)
			}
			if !strings.Contains(string(x.Errors()), part1+" is damaged") {
				t.Errorf("reported %s", x.Errors())
			}
			appendTo(t, x.Messages(), a1+"\n")
			s.Close()
			b[at] ^= 0x10 // somebody has a copy
			put(t, d, path.Join(dir, part1), b)
			s, x = reopen(t, d)
			if got := content(t, x.Messages()); got != want+a1+"\n" {
				t.Error("the log is not what it was")
			}
			verified(t, s, refA)
		})
	}
}

// Records that somebody changed are not sealed: nobody could tell any more what they were.
func TestWhatDoesNotVerifyIsNotSealed(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	for line := range strings.Lines(talk(20<<10, 1)) {
		appendTo(t, x.Messages(), line)
	}
	dir := x.Dir()
	s.Close()
	b := get(t, d, path.Join(dir, ctxabi.MessagesFile))
	put(t, d, path.Join(dir, ctxabi.MessagesFile), bytes.Replace(b, []byte("user"), []byte("tool"), 1))
	_, x = reopen(t, d)
	if raw, packed, err := x.Messages().Seal(ctx); !errors.Is(err, ctxabi.ErrIO) || raw != 0 || packed != 0 {
		t.Errorf("sealed: %d %d %v", raw, packed, err)
	}
	if _, err := d.Stat(path.Join(dir, part1)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("there is a part")
	}
	entries, _ := d.ReadDir("/store/tmp")
	if len(entries) > 0 {
		t.Errorf("tmp holds %v", entries)
	}
}

func TestAForkOfASealedLog(t *testing.T) {
	d := sessiontest.New()
	_, parts, want := archived(t, d)
	s, x := reopen(t, d)
	ix, _ := x.Messages().Index()
	first := strings.Count(parts[0], "\n")
	for i, n := range []int{5, first - 1, first, first + 3, ix.Len() - 1, ix.Len()} {
		ref := refA
		ref.Session = fmt.Sprintf("fork%d", i)
		f, _, err := s.Fork(x, n, ref, home)
		if err != nil {
			t.Fatal(err)
		}
		size := ix.At(n).Offset + int64(ix.At(n).Len) + 1
		if got := content(t, f.Messages()); got != want[:size] {
			t.Errorf("at %d the fork has %d bytes, not %d", n, len(got), size)
		}
		a, err := f.Messages().Archived()
		if wantParts := map[bool]int{n >= first: 1, n >= ix.Len()-1: 2}[true]; err != nil || a.Parts < min(wantParts, 1) {
			t.Errorf("at %d it has %+v (%v)", n, a, err)
		}
		verified(t, s, ref)
		if got := plain(t, d, f.Dir()); got != want[:size] {
			t.Errorf("at %d a person reads %d bytes", n, len(got))
		}
		appendTo(t, f.Messages(), a2+"\n")
		if err := s.Remove(ref); err != nil {
			t.Fatal(err)
		}
	}
	verified(t, s, refA)
	if content(t, x.Messages()) != want {
		t.Error("the session that was forked is not what it was")
	}
}

// A store of the first format becomes one that programs refuse which know no parts, and stays locked meanwhile.
func TestAProgramThatKnowsNoPartsRefusesThem(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	id := s.ID()
	s.Close()
	header := "/store/" + session.StoreFile
	put(t, d, header, fmt.Appendf(nil, `{"version":1,"id":"%s"}`+"\n", id))
	s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	appendTo(t, x.Messages(), talk(9<<10, 1))
	seal(t, x.Messages())
	if got := string(get(t, d, header)); !strings.Contains(got, fmt.Sprintf(`"version":%d,`, ctxabi.FormatVersion)) || !strings.Contains(got, id) {
		t.Errorf("a store with parts is %s", got)
	}
	if _, err := session.Open("/store", session.Options{VFS: d, Now: d.Now}); !errors.Is(err, ctxabi.ErrLocked) {
		t.Errorf("a second daemon: %v", err)
	}
}
