// Package clients uses a session with the ordinary programs that people have.
package clients

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	rec1 = `{"role":"user","content":"Make the retry configurable."}` + "\n"
	rec2 = `{"role":"assistant","content":"I will add RetryMax."}` + "\n"
	rec3 = `{"role":"user","content":"And test it."}` + "\n"
)

var sessions atomic.Int64

func session(t *testing.T, m *harness.Mount) *harness.Session {
	t.Helper()
	return m.Session(t, harness.Self(), "coder", fmt.Sprintf("s%d", sessions.Add(1)))
}

// wantFile fails the test unless the session's file holds want.
func wantFile(t *testing.T, s *harness.Session, name, want string) {
	t.Helper()
	if got := s.Read(name); got != want {
		t.Errorf("%s holds %q, want %q", name, got, want)
	}
}

// wantErrno fails the test unless err is exactly errno; 0 means none.
func wantErrno(t *testing.T, what string, err error, errno unix.Errno) {
	t.Helper()
	if errno == 0 && err != nil || errno != 0 && err != errno {
		t.Errorf("%s: got %v, want %v (%s)", what, err, errno, unix.ErrnoName(errno))
	}
}

// replace writes data over a file with O_TRUNC and tells which call failed.
func replace(path, data string) (call string, err error) {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC, 0o600)
	if err != nil {
		return "open", err
	}
	if _, err := unix.Write(fd, []byte(data)); err != nil {
		unix.Close(fd)
		return "write", err
	}
	return "close", unix.Close(fd)
}

// rename writes data beside a file and renames it over.
func rename(path, data string) (call string, err error) {
	temp := path + ".tmp"
	if call, err := replace(temp, data); err != nil {
		return call, err
	}
	defer os.Remove(temp)
	return "rename", unix.Rename(temp, path)
}

// pack reads the pack through the mount.
func pack(t *testing.T, s *harness.Session) string {
	t.Helper()
	return s.Read("context/pack.md")
}

// wantInPack fails the test unless the next pack shows text.
func wantInPack(t *testing.T, s *harness.Session, text string, want bool) {
	t.Helper()
	if p := pack(t, s); strings.Contains(p, text) != want {
		t.Errorf("the pack shows %q: %v, want %v:\n%s", text, !want, want, p)
	}
}
