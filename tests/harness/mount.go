package harness

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Patience is how long a test waits for something that ought to happen at
// once. It bounds failures only: no test that passes depends on it.
const Patience = 3 * time.Minute

// Options say how a daemon is started. The zero value is a root mount of a new
// store (of the tester's own uid where the tester is not root).
type Options struct {
	UID, GID uint32   // as whom the daemon runs
	Args     []string // further flags of ctxfs mount
	Env      []string // further environment of the daemon
	Wrap     []string // a command to run the daemon under, such as strace -f -o FILE
	Store    string   // "": a new temporary directory
	MaxFDs   int      // descriptors the daemon may still hold at the end; 0: 1200
	NoStart  bool     // prepare directories only; Restart starts it
}

// Mount is a daemon, its store and its mountpoint.
type Mount struct {
	Dir   string // the mountpoint
	Store string
	Log   *Log // what the daemon printed, over all its lives

	o    Options
	tb   testing.TB
	base string // a public temporary directory around both

	mu   sync.Mutex
	proc *process // guarded by mu; nil while no daemon runs
}

// process is one life of a daemon.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when the daemon was waited for
	closed chan struct{} // closed when nobody holds its output any more
	ready  chan struct{} // closed when it serves
	state  *os.ProcessState
}

// Start starts a daemon on a new store and waits until it serves. The daemon
// is stopped, and checked for leaks, when the test ends.
func Start(tb testing.TB, o Options) *Mount {
	tb.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil {
		skip(tb, "no FUSE here: %v", err)
	}
	base, err := os.MkdirTemp("", "ctxfs-test-")
	if err != nil {
		tb.Fatal(err)
	}
	m := &Mount{Dir: filepath.Join(base, "mnt"), Store: o.Store, Log: &Log{}, o: o, tb: tb, base: base}
	if m.Store == "" {
		m.Store = filepath.Join(base, "store")
	}
	os.Chmod(base, 0o755)
	for _, dir := range []string{m.Dir, m.Store} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		if os.Getuid() == 0 {
			os.Chown(dir, int(o.UID), int(o.GID))
		}
	}
	tb.Cleanup(m.cleanup)
	live.Store(m, nil)
	if !o.NoStart {
		m.Restart()
	}
	return m
}

// Restart starts the daemon, ending a running one cleanly before.
func (m *Mount) Restart() {
	m.tb.Helper()
	if m.PID() != 0 {
		m.Stop()
	}
	if err := m.TryStart(); err != nil {
		m.tb.Fatalf("start: %v", err)
	}
}

// TryStart starts the daemon. It returns an error with the reason if the daemon does not come to serve.
func (m *Mount) TryStart() error {
	m.tb.Helper()
	argv := append(slices.Clone(m.o.Wrap), Binary(m.tb), "mount", "--store", m.Store, "--foreground")
	argv = append(append(argv, m.o.Args...), m.Dir)
	p, err := m.spawn(argv)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.proc = p
	m.mu.Unlock()
	select {
	case <-p.ready:
		return nil
	case <-p.exited:
		m.forget(p)
		select { // its last words may still be on their way
		case <-p.closed:
		case <-time.After(Patience):
		}
		return fmt.Errorf("the daemon ended before it served: %v; it said:\n%s", p.state, m.Log)
	case <-time.After(Patience):
		m.abort("it never came to serve")
		return fmt.Errorf("the daemon does not come to serve; it said:\n%s", m.Log)
	}
}

func (m *Mount) spawn(argv []string) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), m.o.Env...)
	// Its own process group, so that whoever it starts can be found at the end.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 && m.o.UID != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: m.o.UID, Gid: m.o.GID, Groups: []uint32{m.o.GID}}
		cmd.Env = append(cmd.Env, "HOME=/tmp", "XDG_RUNTIME_DIR="+m.base)
	}
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	p := &process{cmd: cmd, exited: make(chan struct{}), closed: make(chan struct{}), ready: make(chan struct{})}
	go func() {
		defer close(p.closed)
		defer r.Close()
		for s, serves := bufio.NewReader(r), false; ; {
			line, err := s.ReadBytes('\n')
			m.Log.Write(line)
			if !serves && bytes.HasPrefix(line, []byte("serving ")) {
				serves = true
				close(p.ready)
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		cmd.Wait()
		p.state = cmd.ProcessState
		close(p.exited)
	}()
	return p, nil
}

// PID is the daemon's process id (the wrapper's under Options.Wrap), 0 while none runs.
func (m *Mount) PID() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.proc == nil {
		return 0
	}
	return m.proc.cmd.Process.Pid
}

func (m *Mount) take() *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.proc
	m.proc = nil
	return p
}

func (m *Mount) forget(p *process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.proc == p {
		m.proc = nil
	}
}

// Kill ends the daemon as a crash would: SIGKILL, to it alone. It returns when
// the daemon and all it started are gone. The mountpoint stays, dead.
func (m *Mount) Kill() {
	m.tb.Helper()
	p := m.take()
	if p == nil {
		m.tb.Fatal("kill: no daemon runs")
	}
	p.cmd.Process.Signal(unix.SIGKILL)
	m.await(p)
}

// Stop ends the daemon with SIGTERM and fails the test unless it ends with
// status 0 and leaves neither mount nor process nor too many descriptors.
func (m *Mount) Stop() {
	m.tb.Helper()
	p := m.take()
	if p == nil {
		m.tb.Fatal("stop: no daemon runs")
	}
	limit := m.o.MaxFDs
	if limit == 0 {
		limit = 1200 // 512 open logs have two each
	}
	if fds := openFiles(p.cmd.Process.Pid); len(fds) > limit {
		m.tb.Errorf("the daemon holds %d descriptors at the end, more than %d:\n%s", len(fds), limit, strings.Join(fds, "\n"))
	}
	p.cmd.Process.Signal(unix.SIGTERM)
	if !m.await(p) {
		return // it was ended by force, and has been reported
	}
	if !p.state.Success() {
		m.tb.Errorf("the daemon ended with %v after SIGTERM", p.state)
	}
	if Mounted(m.Dir) {
		m.tb.Errorf("the daemon left %s mounted", m.Dir)
	}
}

// await waits until the daemon was reaped and nobody it started is left. It
// says whether the daemon ended by itself.
func (m *Mount) await(p *process) bool {
	m.tb.Helper()
	late := time.NewTimer(Patience)
	defer late.Stop()
	for _, gone := range []<-chan struct{}{p.exited, p.closed} {
		select {
		case <-gone:
		case <-late.C:
			m.tb.Errorf("the daemon or a process of it does not end: %v", group(p.cmd.Process.Pid))
			m.end(p, "it does not end")
			return false
		}
	}
	if left := group(p.cmd.Process.Pid); len(left) > 0 {
		m.tb.Errorf("the daemon left processes: %v", left)
		unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	}
	return true
}

// abort ends a daemon that hangs; its goroutines end up in the log.
func (m *Mount) abort(why string) {
	if p := m.take(); p != nil {
		m.end(p, why)
	}
}

func (m *Mount) end(p *process, why string) {
	pid := p.cmd.Process.Pid
	m.Log.Write([]byte("harness: ending the daemon: " + why + "\n"))
	unix.Kill(pid, unix.SIGQUIT)
	select {
	case <-p.exited:
	case <-time.After(5 * time.Second):
	}
	unix.Kill(-pid, unix.SIGKILL)
	AbortConnection(m.Dir)
	unix.Unmount(m.Dir, unix.MNT_DETACH)
	fmt.Fprintf(os.Stderr, "harness: ended a daemon: %s\n%s", why, m.Log)
}

func (m *Mount) cleanup() {
	tb := m.tb
	if m.PID() != 0 {
		m.Stop()
	}
	live.Delete(m)
	if Mounted(m.Dir) { // after Kill
		if err := unix.Unmount(m.Dir, unix.MNT_DETACH); err != nil {
			exec.Command("fusermount3", "-uz", m.Dir).Run()
		}
	}
	Unprotect(m.Dir)
	if tb.Failed() {
		tb.Logf("the daemon's log:\n%s", m.Log)
	}
	if err := os.RemoveAll(m.base); err != nil && !tb.Failed() {
		tb.Errorf("clean up: %v", err)
	}
}

// Unprotect makes the directory of a mount that is gone one that can be removed: a daemon that was killed leaves it
// immutable.
func Unprotect(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	const immutable = 0x10 // FS_IMMUTABLE_FL of linux/fs.h
	if flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS); err == nil && flags&immutable != 0 {
		unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags&^immutable)
	}
}
