package crash

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A fault is one system call of the running daemon that fails, on one file of
// the store.
type fault struct {
	name   string
	paths  []string
	inject []string // what it injects: "write,pwrite64:error=EIO:when=1"
	errno  syscall.Errno
	do     func(s *harness.Session, n int) error // one attempt of the client; nil: append a record
	sticky bool                                  // every later append and fsync fails with EIO until a restart
}

const (
	writes  = "write,pwrite64,writev,pwritev,pwritev2"
	syncs   = "fsync,fdatasync,sync_file_range"
	renames = "rename,renameat,renameat2"
	cuts    = "ftruncate"
)

var faults = []fault{
	{name: "write of the log fails with EIO", paths: []string{"messages.jsonl"},
		inject: []string{writes + ":error=EIO:when=1"}, errno: unix.EIO},
	{name: "third write of the log fails with ENOSPC", paths: []string{"messages.jsonl"},
		inject: []string{writes + ":error=ENOSPC:when=3"}, errno: unix.ENOSPC},
	{name: "write of the log fails with EDQUOT", paths: []string{"messages.jsonl"},
		inject: []string{writes + ":error=EDQUOT:when=2"}, errno: unix.EDQUOT},
	{name: "write of the arrivals fails with EIO", paths: []string{".ctxfs/arrivals"},
		inject: []string{writes + ":error=EIO:when=1"}, errno: unix.EIO},
	{name: "second write of the arrivals fails with ENOSPC", paths: []string{".ctxfs/arrivals"},
		inject: []string{writes + ":error=ENOSPC:when=2"}, errno: unix.ENOSPC},
	{name: "write of the log fails and so does cutting it back", paths: []string{"messages.jsonl"},
		inject: []string{writes + ":error=ENOSPC:when=1", cuts + ":error=EIO:when=1+"}, errno: unix.EIO, sticky: true},
	{name: "fsync of the log fails with EIO", paths: []string{"messages.jsonl"},
		inject: []string{syncs + ":error=EIO:when=1"}, errno: unix.EIO, do: appendAndSync, sticky: true},
	{name: "second fsync of the log fails with ENOSPC", paths: []string{"messages.jsonl"},
		inject: []string{syncs + ":error=ENOSPC:when=2"}, errno: unix.ENOSPC, do: appendAndSync},
	{name: "fsync of the log fails with EDQUOT", paths: []string{"messages.jsonl"},
		inject: []string{syncs + ":error=EDQUOT:when=1"}, errno: unix.EDQUOT, do: appendAndSync},
	{name: "write of the log and cutting it back fail with ENOSPC", paths: []string{"messages.jsonl"},
		inject: []string{writes + ":error=ENOSPC:when=1", cuts + ":error=ENOSPC:when=1"}, errno: unix.ENOSPC},
	{name: "putting a new session in its place fails with ENOSPC", paths: newSessions(),
		inject: []string{renames + ":error=ENOSPC:when=1"}, errno: unix.ENOSPC, do: makeSession},
	{name: "rename of a control file fails with ENOSPC", paths: []string{"context/budget"},
		inject: []string{renames + ":error=ENOSPC:when=1"}, errno: unix.ENOSPC, do: setBudget},
	{name: "rename of a control file fails with EIO", paths: []string{"state"},
		inject: []string{renames + ":error=EIO:when=1"}, errno: unix.EIO, do: setState},
	{name: "reading the log fails with EIO", paths: []string{"messages.jsonl"},
		inject: []string{"pread64,read,preadv,preadv2:error=EIO:when=1"}, errno: unix.EIO, do: readLog},
}

// System calls of the real daemon fail. The client sees the errno, the log
// stays whole and takes records again (or, after a failed fsync, refuses all
// until the restart), and nothing that was acknowledged is lost.
func TestInjectedFaults(t *testing.T) {
	tool(t, "strace", "strace")
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			if f.do == nil {
				f.do = appendOne
			}
			m := harness.Start(t, harness.Options{})
			s := m.Session(t, harness.Self(), "coder", "faulty")
			acked := -1 // attempts 0..acked succeeded
			try := func(n int) error {
				err := f.do(s, n)
				if err == nil {
					acked = n
				}
				return err
			}
			if err := try(0); err != nil {
				t.Fatalf("before the fault: %v", err)
			}
			detach := f.attach(t, m, s)
			var err error
			n := 1
			for ; err == nil && n < 200; n++ { // strace counts the calls of each thread of its own
				err = try(n)
			}
			if !errors.Is(err, f.errno) {
				t.Errorf("the client got %v, want %v", err, f.errno)
			}
			trace := detach()
			if !strings.Contains(trace, "(INJECTED)") {
				t.Fatalf("strace injected nothing:\n%s", trace)
			}
			failed := n - 1

			if f.sticky {
				for range 3 {
					if err := f.do(s, n); !errors.Is(err, unix.EIO) {
						t.Errorf("after a failed fsync or rollback the next append gives %v, want EIO", err)
					}
					n++
				}
			}
			contents(t, s, f, acked, failed, n)
			if f.sticky {
				if m.PID() != 0 {
					restart(t, m)
				}
			}
			for k := range 3 {
				if err := try(n + k); err != nil {
					t.Errorf("after the fault: %v", err)
				}
			}
			contents(t, s, f, acked, failed, n)
			m.Kill()
			m.Restart()
			contents(t, s, f, acked, failed, n)
			m.Stop()
			verify(t, m)
		})
	}
}

// restart ends the daemon as a crash would, so that nothing it still holds
// in memory can help it, and starts it again.
func restart(t *testing.T, m *harness.Mount) {
	t.Helper()
	m.Kill()
	m.Restart()
}

func appendOne(s *harness.Session, n int) error {
	return appendTo(s.Path("messages.jsonl"), faultRecord(n))
}

// appendAndSync appends a record and fails when either the write or the fsync does.
func appendAndSync(s *harness.Session, n int) error {
	f, err := os.OpenFile(s.Path("messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.WriteString(faultRecord(n)); err != nil {
		return err
	}
	return f.Sync()
}

// newSessions are the paths, relative to a session, of those that makeSession makes.
func newSessions() (paths []string) {
	for n := range 8 {
		paths = append(paths, "../made-"+fmt.Sprint(n))
	}
	return paths
}

// makeSession makes a session with one record.
func makeSession(s *harness.Session, n int) error {
	dir := filepath.Join(filepath.Dir(s.Dir), fmt.Sprintf("made-%d", n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		if _, there := os.Lstat(dir); !errors.Is(there, os.ErrNotExist) {
			return fmt.Errorf("mkdir failed (%v), but the session is there: %v", err, there)
		}
		return err
	}
	return appendTo(filepath.Join(dir, "messages.jsonl"), faultRecord(n))
}

func setBudget(s *harness.Session, n int) error {
	return os.WriteFile(s.Path("context/budget"), fmt.Appendf(nil, "%d\n", 20000+n), 0o600)
}

func setState(s *harness.Session, n int) error {
	return os.WriteFile(s.Path("state"), []byte([]string{"idle\n", "active\n"}[n%2]), 0o600)
}

func readLog(s *harness.Session, n int) error {
	if n == 0 {
		return appendOne(s, 0)
	}
	_, err := os.ReadFile(s.Path("messages.jsonl"))
	return err
}

func faultRecord(n int) string {
	return harness.Message("user", fmt.Sprintf("record %d %s", n, strings.Repeat("x", 500)))
}

// contents checks what the client's file holds: every acknowledged append
// once and whole, a refused one at most once and only where its write was not
// what failed.
func contents(t *testing.T, s *harness.Session, f fault, acked, failed, end int) {
	t.Helper()
	switch name := filepath.Base(f.paths[0]); {
	case name == "budget" || name == "state":
		got := s.Read(f.paths[0])
		want := fmt.Sprintf("%d\n", 20000+acked)
		if name == "state" {
			want = []string{"idle\n", "active\n"}[acked%2]
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s holds %q, want %q, the last value that was accepted", f.paths[0], got, want)
		}
		return
	case strings.HasPrefix(name, "made-"):
		for n := range acked + 1 {
			if n == failed {
				continue
			}
			got, err := os.ReadFile(filepath.Join(filepath.Dir(s.Dir), fmt.Sprintf("made-%d", n), "messages.jsonl"))
			if string(got) != faultRecord(n) {
				t.Errorf("the log of session made-%d holds %.80q (%v)", n, got, err)
			}
		}
		return
	}
	if acked < 0 {
		return
	}
	count := map[string]int{}
	for _, line := range harness.Lines(t, s.Read("messages.jsonl")) {
		count[line+"\n"]++
	}
	for n := 0; n < end+3; n++ {
		r := faultRecord(n)
		got := count[r]
		delete(count, r)
		isRead := strings.HasPrefix(f.name, "reading")
		switch {
		case isRead && n > 0:
		case n <= acked && n < failed || n == 0:
			if got != 1 {
				t.Errorf("acknowledged record %d stands %d times in the log", n, got)
			}
		case got > 1:
			t.Errorf("record %d stands %d times in the log", n, got)
		}
	}
	for line := range count {
		t.Errorf("the log holds a line nobody wrote: %.100q", line)
	}
}

// attach attaches strace to the running daemon so that the fault's calls
// fail; detach ends it and gives what it has seen.
func (f fault) attach(t *testing.T, m *harness.Mount, s *harness.Session) (detach func() string) {
	t.Helper()
	argv := []string{"-f", "-p", fmt.Sprint(m.PID())}
	for _, p := range f.paths {
		argv = append(argv, "-P", filepath.Join(s.InStore(), p))
	}
	var calls []string
	for _, i := range f.inject {
		call, _, _ := strings.Cut(i, ":")
		calls = append(calls, call)
		argv = append(argv, "-e", "inject="+i)
	}
	argv = append(argv, "-e", "trace="+strings.Join(calls, ","))
	cmd := exec.Command("strace", argv...)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	var trace strings.Builder
	attached := make(chan bool, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			line, err := r.ReadString('\n')
			trace.WriteString(line)
			if strings.Contains(line, "attached") {
				select {
				case attached <- true:
				default:
				}
			}
			if err != nil {
				if err != io.EOF {
					trace.WriteString(err.Error())
				}
				return
			}
		}
	}()
	ended := false
	detach = func() string {
		if !ended {
			ended = true
			cmd.Process.Signal(unix.SIGINT)
			<-done
			cmd.Wait()
		}
		return trace.String()
	}
	t.Cleanup(func() { detach() })
	select {
	case <-attached:
	case <-done:
		t.Fatalf("strace ended:\n%s", trace.String())
	case <-time.After(harness.Patience):
		t.Fatal("strace does not attach")
	}
	return detach
}
