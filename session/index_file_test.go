package session_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// largeSession has an index of more rows than are kept in memory, and gives what it says.
func largeSession(t testing.TB, d *sessiontest.Disk) (dir string, want []ctxabi.Entry) {
	t.Helper()
	dir = closed(t, d)
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, _ := s.Session(refA)
	rng := rand.New(rand.NewSource(1))
	for i := range 2000 {
		rec := fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("x", rng.Intn(60)))
		switch i % 5 {
		case 1:
			rec = fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"c%d","function":{"name":"f","arguments":"{}"}}]}`, i)
		case 2:
			rec = fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"ok"}`, i-1)
		case 3:
			x.Events().Append(ctx, log.Batch{Data: []byte(`{"type":"x"}` + "\n")})
		}
		if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(rec + "\n")}); err != nil {
			t.Fatal(err)
		}
	}
	for line := 1; line <= 2000; line += 3 {
		x.Messages().SetTokens("o200k_base", 1+(line*7)%2000, int32(line))
	}
	want = entries(t, x.Messages())
	s.Close()
	return dir, want
}

// inAnyOrder compares rows of an index one after another, as a reader of a few would ask for them.
func inAnyOrder(t *testing.T, l *log.Log, want []ctxabi.Entry, seed int64) {
	t.Helper()
	ix, err := l.Index()
	if err != nil || ix.Len() != len(want) || ix.Size() != want[len(want)-1].End() {
		t.Fatalf("%v: %d rows", err, ix.Len())
	}
	longest := int32(0)
	for _, i := range rand.New(rand.NewSource(seed)).Perm(len(want)) {
		if got := ix.At(i + 1); got != want[i] {
			t.Fatalf("record %d: %+v, want %+v", i+1, got, want[i])
		}
		longest = max(longest, want[i].Len)
	}
	if ix.Longest() != int(longest) {
		t.Errorf("the longest record has %d bytes, want %d", ix.Longest(), longest)
	}
}

func TestRowsAreReadWhenTheyAreUsed(t *testing.T) {
	for _, resident := range []int{256, 1 << 20} {
		d := sessiontest.New()
		_, want := largeSession(t, d)
		session.SetResident(resident, 2)
		defer session.SetResident(256, 2)
		s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
		x, _ := s.Session(refA)
		inAnyOrder(t, x.Messages(), want, 1)
		old, _ := x.Messages().Index()
		var readers sync.WaitGroup
		for seed := range int64(4) {
			readers.Go(func() {
				for _, i := range rand.New(rand.NewSource(seed)).Perm(len(want)) {
					if got := old.At(i + 1); got != want[i] {
						t.Errorf("record %d beside other readers: %+v, want %+v", i+1, got, want[i])
					}
				}
			})
		}
		readers.Wait()
		for range 3 { // the tail grows, and is closed with what is open
			for range 200 {
				x.Messages().Append(ctx, log.Batch{Data: []byte(a1 + "\n")})
			}
			all := entries(t, x.Messages())
			inAnyOrder(t, x.Messages(), all, 2)
			if !slices.Equal(all[:len(want)], want) {
				t.Error("earlier rows have changed")
			}
			for range session.IdleTicks {
				session.Tick(s)
			}
		}
		if got := old.At(1000); old.Len() != len(want) || got != want[999] {
			t.Errorf("a snapshot has the row %+v, want %+v", got, want[999])
		}
		verified(t, s, refA)
	}
}

// An index file may be damaged before it is opened or while it is: rows are made again of the records, and the file as well.
func TestRowsThatAreDamagedAreMadeAgain(t *testing.T) {
	for _, open := range []bool{false, true} {
		for seed := range int64(suite.Pick(t, 6, 60)) {
			d := sessiontest.New()
			dir, want := largeSession(t, d)
			file := path.Join(dir, session.IndexFile)
			whole := get(t, d, file)
			s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			x, _ := s.Session(refA)
			if open {
				if _, err := x.Messages().Index(); err != nil {
					t.Fatal(err)
				}
			}
			rng := rand.New(rand.NewSource(seed))
			raw := slices.Clone(whole)
			for range 1 + rng.Intn(4) {
				at := rng.Intn(len(raw))
				switch rng.Intn(3) {
				case 0:
					raw[at] ^= byte(1 + rng.Intn(255))
				case 1:
					clear(raw[at:min(len(raw), at+rng.Intn(9000))])
				default:
					copy(raw[at:], raw[rng.Intn(len(raw)):])
				}
			}
			put(t, d, file, raw)
			inAnyOrder(t, x.Messages(), want, seed)
			x.Messages().Append(ctx, log.Batch{Data: []byte(a1 + "\n")})
			s.Close()
			s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			x, _ = s.Session(refA)
			if got := entries(t, x.Messages()); !slices.Equal(got[:len(want)], want) {
				t.Errorf("seed %d: after another open the rows are not the same", seed)
			}
			s.Close()
			if _, err := check.Fsck(ctx, "/store", check.FsckOptions{Options: session.Options{VFS: d, Now: d.Now}}, func(bad check.Damage) {
				t.Errorf("seed %d: fsck finds %+v", seed, bad)
			}); err != nil {
				t.Error(err)
			}
		}
	}
}

// failing is a disk that does not give some files, once it is told to.
type failing struct {
	vfs.FS
	index, log atomic.Bool
}

type failingFile struct {
	vfs.File
	fails *atomic.Bool
}

func (f failingFile) ReadAt(p []byte, off int64) (int, error) {
	if f.fails.Load() {
		return 0, errors.New("injected")
	}
	return f.File.ReadAt(p, off)
}

func (f *failing) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	switch {
	case err != nil:
	case strings.HasSuffix(name, session.IndexFile):
		return failingFile{file, &f.index}, nil
	case strings.HasSuffix(name, ctxabi.MessagesFile):
		return failingFile{file, &f.log}, nil
	}
	return file, err
}

// A disk that stops to give the index costs time. One that gives the records neither is an error, and not a wrong answer for long.
func TestADiskThatGivesNoRows(t *testing.T) {
	d := sessiontest.New()
	_, want := largeSession(t, d)
	v := &failing{FS: d}
	s := openStore(t, "/store", session.Options{VFS: v, Now: d.Now})
	x, _ := s.Session(refA)
	if _, err := x.Messages().Index(); err != nil {
		t.Fatal(err)
	}
	v.index.Store(true)
	inAnyOrder(t, x.Messages(), want, 3)
	v.index.Store(false)
	s.Close()

	s = openStore(t, "/store", session.Options{VFS: v, Now: d.Now})
	x, _ = s.Session(refA)
	ix, err := x.Messages().Index()
	if err != nil {
		t.Fatal(err)
	}
	v.index.Store(true)
	v.log.Store(true)
	if e := ix.At(5); e.Flags&ctxabi.Damaged == 0 {
		t.Errorf("nobody can tell, and yet record 5 is %+v", e)
	}
	if _, err := x.Messages().Index(); err == nil {
		t.Error("an index was given that nobody can make")
	}
	v.index.Store(false)
	v.log.Store(false)
	inAnyOrder(t, x.Messages(), want, 4)
	if problems, err := check.Verify(ctx, s, refA); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v %v", problems, err)
	}
}
