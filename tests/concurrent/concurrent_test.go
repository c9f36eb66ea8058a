package concurrent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const (
	writers   = 8
	few, many = 500, 2000 // records of each writer
)

// records is how many records each writer of the running test appends.
var records int

// checker follows a log as it grows and checks each record once.
type checker struct {
	next []int // the sequence number that each writer's next record must have
	n    int64 // bytes checked
}

func newChecker() *checker { return &checker{next: make([]int, writers)} }

// check takes the bytes that follow those checked before; they must be whole records.
func (c *checker) check(b []byte) error {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return fmt.Errorf("a NUL at %d", c.n+int64(i))
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		return fmt.Errorf("half a record at %d: %.80q", c.n+int64(bytes.LastIndexByte(b, '\n')+1), b[bytes.LastIndexByte(b, '\n')+1:])
	}
	for line := range bytes.Lines(b) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("at %d: %w in %.80q", c.n, err, line)
		}
		if r.Writer < 0 || r.Writer >= writers || r.Seq != c.next[r.Writer] {
			return fmt.Errorf("at %d: record %d of writer %d, expected %v", c.n, r.Seq, r.Writer, c.next)
		}
		if sum([]byte(r.Content)) != r.Sum {
			return fmt.Errorf("at %d: record %d of writer %d is damaged", c.n, r.Seq, r.Writer)
		}
		c.next[r.Writer]++
		c.n += int64(len(line))
	}
	return nil
}

// follow reads what is new on fd up to its end and checks it.
func (c *checker) follow(fd int, buf []byte) error {
	var b []byte
	for {
		n, err := unix.Pread(fd, buf, c.n+int64(len(b)))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return c.check(b)
		}
		b = append(b, buf[:n]...)
	}
}

// reader follows the log until the writers are done, and then to its end.
// bySize reads up to the size that fstat tells instead of up to the end.
func reader(name string, size int, bySize bool, done <-chan struct{}) (rounds int, err error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	c, buf := newChecker(), make([]byte, size)
	for last := false; ; rounds++ {
		if bySize {
			var st unix.Stat_t
			if err := unix.Fstat(fd, &st); err != nil {
				return rounds, err
			}
			b := make([]byte, st.Size-c.n)
			for off := 0; off < len(b); {
				n, err := unix.Pread(fd, b[off:], c.n+int64(off))
				if err != nil && !errors.Is(err, unix.EINTR) || err == nil && n == 0 {
					return rounds, fmt.Errorf("fstat said %d, read at %d gave %d, %v", st.Size, c.n+int64(off), n, err)
				}
				off += max(n, 0)
			}
			if err := c.check(b); err != nil {
				return rounds, err
			}
		} else if err := c.follow(fd, buf); err != nil {
			return rounds, err
		}
		if last {
			return rounds, c.complete()
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
}

func (c *checker) complete() error {
	for w, n := range c.next {
		if n != records {
			return fmt.Errorf("%d of %d records of writer %d", n, records, w)
		}
	}
	return nil
}

func TestEightWritersOneLog(t *testing.T) {
	records = suite.Pick(t, few, many)
	total := 0
	for w := range writers {
		for s := newStream(w); s.seq < records; {
			total += len(s.next())
		}
	}
	if total > 256<<20 {
		t.Fatalf("the writers have %d bytes, more than 256 MiB", total)
	}
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "shared")
	log := s.Path("messages.jsonl")

	var wg sync.WaitGroup
	done := make(chan struct{})
	for i, r := range []struct {
		size   int
		bySize bool
	}{{1 << 20, false}, {4096 + 7, false}, {0, true}} {
		wg.Go(func() {
			rounds, err := reader(log, r.size, r.bySize, done)
			if err != nil {
				t.Errorf("reader %d, round %d: %v", i, rounds, err)
			}
		})
	}
	startWriters(t, m, func(int) string { return s.Dir })
	close(done)
	wg.Wait()

	if rows := s.Errors(); len(rows) > 0 {
		t.Errorf("errors.jsonl: %+v", rows)
	}
	fi, err := os.Stat(log)
	if err != nil || fi.Size() != int64(total) {
		t.Errorf("the log has %d bytes, %v; the writers had %d", fi.Size(), err, total)
	}
	b, err := os.ReadFile(filepath.Join(s.InStore(), "messages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	c := newChecker()
	if err := errors.Join(c.check(b), c.complete()); err != nil {
		t.Errorf("the store's log: %v", err)
	}
	if pack := s.Read("context/pack.md"); len(pack) == 0 {
		t.Error("the pack is empty")
	}
}

func TestEightWritersEightSessions(t *testing.T) {
	records = suite.Pick(t, few, many)
	m := harness.Start(t, harness.Options{})
	// Two agents, so that the directories above are made by several at once too.
	dir := func(w int) string {
		return filepath.Join(m.Dir, "home", fmt.Sprint(harness.Self()), "agent", fmt.Sprintf("a%d", w%2), "session", fmt.Sprintf("s%d", w))
	}
	startWriters(t, m, dir)
	for w := range writers {
		b, err := os.ReadFile(filepath.Join(dir(w), "messages.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		c := newChecker()
		if err := c.check(b); err != nil || c.next[w] != records {
			t.Errorf("session %d: %v, %d records", w, err, c.next[w])
		}
	}
}

// startWriters runs all writers to their end.
func startWriters(t *testing.T, m *harness.Mount, dir func(w int) string) {
	t.Helper()
	var cmds [writers]*exec.Cmd
	for w := range cmds {
		cmds[w] = m.HelperCommand(t, t.Context(), "writer", harness.Client{UID: harness.Self(), Argv: []string{dir(w), fmt.Sprint(w), fmt.Sprint(records)}})
		cmds[w].Stderr = m.Log
		if err := cmds[w].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for w, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("writer %d: %v", w, err)
		}
	}
}
