package crash

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Whoever removes a session's files from the store, past the mount, gets no more records acknowledged that would end
// with the daemon. What is in it can still be copied away.
func TestAppendsToFilesThatWereRemovedFromTheStoreAreNotAcknowledged(t *testing.T) {
	for name, remove := range map[string]func(*harness.Session) string{
		"the session":  func(s *harness.Session) string { return s.InStore() },
		"the log":      func(s *harness.Session) string { return s.InStore() + "/messages.jsonl" },
		"its arrivals": func(s *harness.Session) string { return s.InStore() + "/.ctxfs/arrivals" },
	} {
		t.Run(name, func(t *testing.T) {
			m := harness.Start(t, harness.Options{})
			s := m.Session(t, harness.Self(), "coder", "s1")
			const record = `{"role":"user","content":"hi"}` + "\n"
			s.Append("messages.jsonl", record)
			if err := os.RemoveAll(remove(s)); err != nil {
				t.Fatal(err)
			}
			fd, err := unix.Open(s.Path("messages.jsonl"), unix.O_WRONLY|unix.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			if _, err := unix.Write(fd, []byte(record)); !errors.Is(err, unix.EIO) {
				t.Errorf("write: %v, want EIO", err)
			}
			if err := unix.Fsync(fd); !errors.Is(err, unix.EIO) {
				t.Errorf("fsync: %v, want EIO", err)
			}
			if got := s.Read("messages.jsonl"); got != record {
				t.Errorf("it reads %q", got)
			}
			if rows := s.Errors(); name != "the session" && (len(rows) == 0 || !strings.Contains(rows[0].Reason, "the log was removed from the store")) {
				t.Errorf("errors.jsonl: %v", rows)
			}
			m.Kill() // asked to stop, it would say once more that the disk failed. Its log is whole once it has ended
			if !strings.Contains(m.Log.String(), "its file was removed from the store") {
				t.Error("the daemon's log does not say why")
			}
		})
	}
}
