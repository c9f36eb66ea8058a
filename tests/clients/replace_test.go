// Package clients uses a session with the ordinary programs that people have.
package clients

import (
	"os"
	"strings"
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
