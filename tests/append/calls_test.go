// Package appendtest holds the conformance table of appending: one system call
// a row, its errno, and what stands in the log and in errors.jsonl afterwards.
package appendtest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// The records most rows are made of.
const (
	rec1 = `{"role":"user","content":"one"}` + "\n"
	rec2 = `{"role":"assistant","content":"two","tool_calls":[]}` + "\n"
	rec3 = `{"role":"tool","tool_call_id":"c1","content":"three"}` + "\n"
	evt1 = `{"type":"usage","tokens":12}` + "\n"
	evt2 = `{"type":"error","id":"ev-2"}` + "\n"
)

const (
	messages = "messages.jsonl"
	events   = "events.jsonl"
)

// open opens a file of the session and closes it at the end of the test.
func open(t *testing.T, s *harness.Session, name string, flags int) int {
	t.Helper()
	fd, err := unix.Open(s.Path(name), flags|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("open %s: %v", name, err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// write is one write(2).
func write(fd int, data string) error {
	return once(func() (int, error) { return unix.Write(fd, []byte(data)) }, len(data))
}

// pwrite is one pwrite(2).
func pwrite(fd int, data string, off int64) error {
	return once(func() (int, error) { return unix.Pwrite(fd, []byte(data), off) }, len(data))
}

// once makes a system call again only where a signal came before it took any bytes.
func once(call func() (int, error), want int) error {
	for {
		n, err := call()
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil && n != want:
			return fmt.Errorf("took %d bytes of %d", n, want)
		default:
			return err
		}
	}
}

// all must succeed, one after the other.
func all(errs ...error) error { return errors.Join(errs...) }

func name(e unix.Errno) string {
	if e == 0 {
		return "success"
	}
	return unix.ErrnoName(e)
}

// wantLog fails the test unless the log holds exactly want, and says so in its size.
func wantLog(t *testing.T, s *harness.Session, log, want string) {
	t.Helper()
	if got := s.Read(log); got != want {
		t.Errorf("%s holds %s, want %s", log, short(got), short(want))
	}
	fi, err := os.Stat(s.Path(log))
	if err != nil {
		t.Fatal(err)
	}
	if fi.Size() != int64(len(want)) {
		t.Errorf("%s has size %d, want %d", log, fi.Size(), len(want))
	}
}

func short(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%q … %q (%d bytes)", s[:100], s[len(s)-100:], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// wantRow fails the test unless the newest row of errors.jsonl is about file,
// has errno and a reason that holds why. No rows are wanted where errno is 0.
func wantRow(t *testing.T, s *harness.Session, file string, errno unix.Errno, why string) {
	t.Helper()
	rows := s.Errors()
	if errno == 0 {
		if len(rows) > 0 {
			t.Errorf("errors.jsonl has rows: %+v", rows)
		}
		return
	}
	if len(rows) == 0 {
		t.Errorf("errors.jsonl has no row, want one with %s", name(errno))
		return
	}
	r := rows[len(rows)-1]
	if r.Errno != name(errno) || r.Path != file || r.UID != harness.Self() || !strings.Contains(r.Reason, why) {
		t.Errorf("errors.jsonl: got %+v, want %s about %s with a reason that holds %q", r, name(errno), file, why)
	}
}
