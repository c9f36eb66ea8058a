package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/pack/source"
)

// job is the head of the one frame that a shim gets; standard input follows it, and then the bytes of what is held.
type job struct {
	Args    [][]byte      `json:"args"`
	Env     [][]byte      `json:"env"`
	Dir     []byte        `json:"dir"`
	Empty   bool          `json:"empty,omitempty"`
	Timeout time.Duration `json:"timeout"`
	Root    []byte        `json:"root,omitempty"` // what the held paths are relative to
	Held    []held        `json:"held,omitempty"`
	Delta   *delta        `json:"delta,omitempty"`
}

// outcome is the head of the one frame that a shim answers; standard output follows it.
type outcome struct {
	Failed  string `json:"failed,omitempty"`
	Stderr  []byte `json:"stderr,omitempty"`
	Sandbox string `json:"sandbox"`
}

// shim watches over one run. In a PID namespace it is the first process: what
// is in there can neither kill nor trace it, and ends with it. Elsewhere it is
// the subreaper of all that the command starts.
type shim struct {
	who    as
	level  level
	lost   chan struct{} // closed when the client is gone
	nobody chan struct{} // closed when no descendant is left
	exited chan syscall.WaitStatus
}

// shimMain runs the command that comes over the socket, says what it came to
// when nothing of it is left, and ends.
func shimMain(socket *os.File) error {
	unix.CloseOnExec(int(socket.Fd()))
	// Caught, not ignored: an ignored signal would be ignored by the command, too.
	signal.Notify(make(chan os.Signal, 1))
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	s := &shim{lost: make(chan struct{}), nobody: make(chan struct{}), exited: make(chan syscall.WaitStatus, 1)}
	if err := json.Unmarshal([]byte(os.Getenv(asEnv)), &s.who); err != nil {
		return fmt.Errorf("runner: shim: %w", err)
	}
	var threads uint64
	if !s.who.UserNS { // which counts anew
		threads = threadsOf(s.who.UID) // before the others are out of sight
	}
	s.level = enter(s.who)
	holdThreads()
	id, payload, err := readFrameOf(socket, maxJob)
	if err != nil {
		return nil // not wanted any more
	}
	var j job
	content, err := parsePacket(payload, &j)
	if err != nil {
		return err
	}
	stdin, err := j.part(content)
	if err != nil {
		return err
	}
	if s.level.pidNS {
		letGo(j)
	}
	go func() {
		io.Copy(io.Discard, socket)
		close(s.lost)
	}()
	var out outcome
	var data []byte
	if err := s.hold(j); err != nil {
		out.Failed = "the files that it names cannot be kept as they are: " + err.Error()
	} else {
		out, data = s.run(j, stdin, threads)
	}
	out.Sandbox = s.level.words(s.who.UID)
	_, err = socket.Write(frame(id, packet{out, data}))
	return err
}

// holdThreads makes the threads that the shim can need: when the command has
// used up all pids of the namespace there are none to be had.
func holdThreads() {
	const threads = 16
	var here, all sync.WaitGroup
	here.Add(threads)
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread() // and the thread waits for other work
			here.Done()
			here.Wait()
		})
	}
	all.Wait()
}

var flooded = fmt.Sprintf("wrote more than %d MiB", source.MaxGenerated>>20)

// run is one run of a command. Nothing of it is left when it returns.
func (s *shim) run(j job, stdin []byte, threads uint64) (out outcome, data []byte) {
	stdout, err1 := s.capture(source.MaxGenerated, false)
	stderr, err2 := s.capture(source.StderrTail, true)
	status, err3 := s.capture(1<<10, false)
	if err := errors.Join(err1, err2, err3); err != nil {
		return outcome{Failed: "it cannot be started: " + err.Error()}, nil
	}
	if j.Empty {
		dir, err := s.emptyDir()
		if err != nil {
			return outcome{Failed: "it cannot be started: " + err.Error()}, nil
		}
		defer os.RemoveAll(dir) // runs after all processes of the command have ended
		j.Dir, j.Delta = []byte(dir), nil
	}
	pid, err := s.start(launch{j.Args, j.Env, j.Dir, limits(j.Timeout, threads), j.Delta}, stdin, stdout.w, stderr.w, status.w)
	for _, c := range []*capture{stdout, stderr, status} {
		c.w.Close()
	}
	if err != nil {
		return outcome{Failed: "it cannot be started: " + err.Error()}, nil
	}
	go s.reap(pid)
	timer := time.NewTimer(j.Timeout)
	defer timer.Stop()
	select {
	case ws := <-s.exited:
		out.Failed = verdict(ws)
	case <-stdout.full:
		out.Failed = flooded
	case <-timer.C:
		out.Failed = fmt.Sprintf("timed out after %v", j.Timeout)
	case <-s.lost:
		out.Failed = "nobody waits for it"
	}
	s.end()
	data, out.Stderr = stdout.take(), stderr.take()
	said := status.take()
	switch {
	case len(said) > 0: // it was never the command that ran
		out.Failed = string(said)
	case out.Failed == "" && len(data) > source.MaxGenerated: // and ended before anybody saw it
		out.Failed = flooded
	}
	if out.Failed != "" {
		data = nil
	}
	return out, data
}

// emptyDir creates a temporary directory that belongs to the command's user. The caller removes it.
func (s *shim) emptyDir() (string, error) {
	dir, err := os.MkdirTemp("", "ctxfs-run-")
	if err == nil && os.Geteuid() == 0 && !s.who.UserNS {
		err = os.Chown(dir, int(s.who.UID), int(s.who.GID))
	}
	return dir, err
}

// start starts the launcher of a command as the command's user.
func (s *shim) start(l launch, stdin []byte, stdout, stderr, status *os.File) (pid int, err error) {
	b, err := json.Marshal(l)
	if err != nil {
		return 0, err
	}
	spec, err := memory("launch", b)
	if err != nil {
		return 0, err
	}
	defer spec.Close()
	in, err := os.Open(os.DevNull)
	if stdin != nil {
		in, err = memory("stdin", stdin)
	}
	if err != nil {
		return 0, err
	}
	defer in.Close()
	attr := &syscall.ProcAttr{
		Dir: "/", Env: []string{roleEnv + "=" + roleLauncher, "GOMAXPROCS=1"},
		Files: []uintptr{in.Fd(), stdout.Fd(), stderr.Fd(), spec.Fd(), status.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	if os.Geteuid() == 0 && !s.who.UserNS {
		attr.Sys.Credential = credential(s.who.UID, s.who.GID)
	}
	runtime.LockOSThread() // the sets belong to the thread that forks; it is good for nothing else
	dropBounds()
	return syscall.ForkExec("/proc/self/exe", []string{os.Args[0], "runner"}, attr)
}

// memory returns a file that exists nowhere, at its beginning.
func memory(name string, content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.WriteAt(content, 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// reap takes every child that ends, until there is none.
func (s *shim) reap(command int) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == nil && pid == command:
			s.exited <- ws
		case err != nil && !isInterrupted(err):
			close(s.nobody)
			return
		}
	}
}

// end kills all that is left and waits until it is gone.
func (s *shim) end() {
	for {
		if s.level.pidNS {
			unix.Kill(-1, unix.SIGKILL)
		} else {
			sweep(func() []int { return descendants(func(int) bool { return false }) })
		}
		select {
		case <-s.nobody:
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// verdict returns how a command failed, or "".
func verdict(ws syscall.WaitStatus) string {
	switch {
	case ws.Signaled():
		return "ended by signal: " + ws.Signal().String()
	case ws.ExitStatus() != 0:
		return fmt.Sprintf("exit status %d", ws.ExitStatus())
	}
	return ""
}
