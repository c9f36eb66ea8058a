package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// clientPath is the PATH of clients: what every user of a Debian has.
const clientPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// UserPath is the PATH of a user who has ctxfs installed.
func UserPath(tb testing.TB) string {
	tb.Helper()
	return filepath.Dir(Binary(tb)) + ":" + clientPath
}

// Client is a program that uses a mount.
type Client struct {
	UID    uint32
	GIDs   []uint32 // the first is the primary group; nil: the uid's number
	Dir    string   // where it runs; "": the mountpoint
	Argv   []string
	Env    []string // beside PATH, HOME=/tmp, LANG=C.UTF-8 and the mountpoint as CTX
	Stdin  io.Reader
	Stderr io.Writer // beside Result.Stderr
}

// Result is what a client did.
type Result struct {
	Stdout, Stderr string
	Code           int // exit status; -1: ended by a signal
	Err            error

	tb   testing.TB
	what string
}

// OK fails the test unless the client ended with status 0, and gives its output.
func (r Result) OK() string {
	r.tb.Helper()
	if r.Code != 0 {
		r.tb.Fatalf("%s\n\nended with %d (%v)\nstdout: %s\nstderr: %s", r.what, r.Code, r.Err, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

// Command prepares a client without starting it.
func (m *Mount) Command(ctx context.Context, c Client) *exec.Cmd {
	if c.Dir == "" {
		c.Dir = m.Dir
	}
	c.Env = append([]string{"CTX=" + m.Dir}, c.Env...)
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	if p := lookPath(c.Argv[0]); p != "" {
		cmd.Path, cmd.Err = p, nil
	}
	cmd.Dir = c.Dir
	cmd.Env = append([]string{"PATH=" + clientPath, "HOME=/tmp", "LANG=C.UTF-8"}, c.Env...)
	cmd.Stdin = c.Stdin
	if os.Getuid() == 0 && (c.UID != 0 || c.GIDs != nil) {
		gids := c.GIDs
		if gids == nil {
			gids = []uint32{c.UID}
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.UID, Gid: gids[0], Groups: gids}}
	}
	return cmd
}

// Run runs a client to its end. One that hangs is killed, and the mount's
// connection aborted, so that the test fails instead of hanging.
func (m *Mount) Run(tb testing.TB, c Client) Result {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := m.Command(ctx, c)
	cmd.Cancel = func() error {
		tb.Errorf("a client hangs: %q", c.Argv)
		m.abort("a client hangs")
		return cmd.Process.Kill()
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if c.Stderr != nil {
		cmd.Stderr = io.MultiWriter(&errOut, c.Stderr)
	}
	r := Result{Err: cmd.Run(), tb: tb, what: fmt.Sprintf("%q as uid %d in %s", c.Argv, c.UID, cmd.Dir)}
	r.Stdout, r.Stderr = out.String(), errOut.String()
	if exit := (*exec.ExitError)(nil); r.Err != nil && !errors.As(r.Err, &exit) {
		tb.Fatalf("%s: %v", r.what, r.Err)
	}
	r.Code = cmd.ProcessState.ExitCode()
	return r
}

// Bash runs a script in the session's directory as its owner.
func (s *Session) Bash(script string) Result {
	s.tb.Helper()
	return s.Run("bash", "-c", script)
}

// Python runs a script in the session's directory as its owner.
func (s *Session) Python(script string) Result {
	s.tb.Helper()
	Need(s.tb, "python3")
	return s.Run("python3", "-c", script)
}

// Node runs a script in the session's directory as its owner.
func (s *Session) Node(script string) Result {
	s.tb.Helper()
	Need(s.tb, "node")
	return s.Run("node", "-e", script)
}

// Run runs a program in the session's directory as its owner.
func (s *Session) Run(argv ...string) Result {
	s.tb.Helper()
	return s.Mount.Run(s.tb, Client{UID: s.UID, Dir: s.Dir, Argv: argv})
}

// Follow runs tail -f on a file of the session as its owner until the test ends. next returns the line that tail prints
// next, with its newline; it fails the test where none comes within Patience.
func (s *Session) Follow(name string) (next func() string) {
	s.tb.Helper()
	tail := s.Mount.Command(context.Background(), Client{UID: s.UID, Dir: s.Dir, Argv: []string{"tail", "-n", "+1", "-s", "0.05", "-f", name}})
	out, err := tail.StdoutPipe()
	if err != nil {
		s.tb.Fatal(err)
	}
	if err := tail.Start(); err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() {
		tail.Process.Kill()
		tail.Wait()
	})
	lines := bufio.NewReader(out)
	return func() string {
		s.tb.Helper()
		timer := time.AfterFunc(Patience, func() { tail.Process.Kill() })
		defer timer.Stop()
		line, err := lines.ReadString('\n')
		if err != nil {
			s.tb.Fatalf("tail -f %s printed %q and no whole line: %v", name, line, err)
		}
		return line
	}
}

// CLI runs the ctxfs binary as the tester.
func (m *Mount) CLI(tb testing.TB, args ...string) Result {
	tb.Helper()
	return m.Run(tb, Client{UID: Self(), Dir: "/", Argv: append([]string{Binary(tb)}, args...)})
}

const helperEnv = "CTXFS_TEST_HELPER"

var helpers = map[string]func(args []string) int{}

// Helper names a function that tests run in a process of its own, by
// [Mount.HelperCommand] or [HelperProcess]. It belongs in an init function.
func Helper(name string, run func(args []string) (exit int)) { helpers[name] = run }

// HelperProcess returns the command that runs the helper called name with args, without a mount.
func HelperProcess(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), helperEnv+"="+name)
	return cmd
}

var helperCopy struct {
	once sync.Once
	bin  string
	err  error
}

// HelperCommand prepares the helper called name; c.Argv holds its arguments.
func (m *Mount) HelperCommand(tb testing.TB, ctx context.Context, name string, c Client) *exec.Cmd {
	tb.Helper()
	// The test binary's directory is closed to other users.
	helperCopy.once.Do(func() {
		var dir, self string
		if dir, helperCopy.err = publicDir(); helperCopy.err != nil {
			return
		}
		if self, helperCopy.err = os.Executable(); helperCopy.err != nil {
			return
		}
		helperCopy.bin = filepath.Join(dir, "helper")
		if helperCopy.err = os.Link(self, helperCopy.bin); helperCopy.err != nil {
			var b []byte
			if b, helperCopy.err = os.ReadFile(self); helperCopy.err == nil {
				helperCopy.err = os.WriteFile(helperCopy.bin, b, 0o755)
			}
		}
	})
	if helperCopy.err != nil {
		tb.Fatal(helperCopy.err)
	}
	c.Argv = append([]string{helperCopy.bin}, c.Argv...)
	c.Env = append(c.Env, helperEnv+"="+name)
	return m.Command(ctx, c)
}
