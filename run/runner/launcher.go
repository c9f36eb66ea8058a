package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/pack/source"
)

// launch is what a launcher is told, as JSON in the file at descriptor 3. The
// strings are bytes, as JSON strings cannot hold every name.
type launch struct {
	Args   [][]byte       `json:"args"`
	Env    [][]byte       `json:"env"`
	Dir    []byte         `json:"dir"`
	Limits map[int]uint64 `json:"limits"`
	Delta  *delta         `json:"delta,omitempty"`
}

// launcherMain is the last step before a command, already as its user: it gives up what is left
// to give up and becomes the command. Why it did not, it writes to descriptor
// 4, which closes when it did.
func launcherMain() error {
	runtime.LockOSThread() // capabilities belong to the thread that executes
	status := os.NewFile(4, "status")
	err := become(os.NewFile(3, "launch"))
	io.WriteString(status, err.Error())
	os.Exit(1)
	return nil
}

// become returns only when it failed.
func become(spec *os.File) error {
	var l launch
	if err := json.NewDecoder(spec).Decode(&l); err != nil {
		return fmt.Errorf("the command was not understood: %w", err)
	}
	if err := renounce(); err != nil {
		return fmt.Errorf("the sandbox cannot be set up: %w", err)
	}
	os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0) // it goes before what people work with
	unix.KeyctlJoinSessionKeyring("")                          // the daemon's keys are not the user's
	signal.Notify(make(chan os.Signal, 1))                     // what is caught, and not ignored, is default again after exec
	for sig := firstLibcSignal; sig <= lastLibcSignal; sig++ {
		disposition(sig, 0)
	}
	unix.Umask(0o077)
	for resource, want := range l.Limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("the sandbox cannot be set up: rlimit %d: %w", resource, err)
		}
		want = min(want, now.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: want, Max: want}); err != nil {
			return fmt.Errorf("the sandbox cannot be set up: rlimit %d: %w", resource, err)
		}
	}
	if err := unix.Chdir(string(l.Dir)); err != nil {
		return fmt.Errorf("directory %s: %w", l.Dir, err)
	}
	if l.Delta != nil {
		if err := l.Delta.put(); err != nil && l.Delta.Make { // else the command has nothing to do with it, most likely
			fmt.Fprintf(os.Stderr, "ctxfs: %s/%s could not be put in place: %v\n", source.DeltaDir, l.Delta.Run, err)
		}
	}
	args, env := texts(l.Args), texts(l.Env)
	path, err := find(args[0], env)
	if err != nil {
		return err
	}
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		unix.CloseOnExec(3) // an old kernel; all others are made close-on-exec
		unix.CloseOnExec(4)
	}
	err = syscall.Exec(path, args, env)
	if err.Error() == "exec format error" {
		return fmt.Errorf("%s: %w (a script begins with a line like #!/bin/sh)", args[0], err)
	}
	return fmt.Errorf("%s: %w", args[0], err)
}

// What C libraries keep for themselves. Package signal leaves these signals alone, and
// whoever starts a daemon by posix_spawn (make, for one) leaves them ignored.
const firstLibcSignal, lastLibcSignal = 32, 34

// disposition sets what the process does on a signal: 0 is the default, 1 is to ignore it.
func disposition(sig int, handler uintptr) {
	action := [8]uintptr{handler} // struct sigaction of the kernel, which is no larger
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
}

// find looks a command up as its user: in the PATH it was given, or relative to
// its directory.
func find(name string, env []string) (string, error) {
	os.Clearenv()
	for _, v := range env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			os.Setenv("PATH", path)
		}
	}
	path, err := exec.LookPath(name)
	switch {
	case err == nil, errors.Is(err, exec.ErrDot):
		return path, nil
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s: not found in PATH %s", name, os.Getenv("PATH"))
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: not found", name)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("%s: not executable", name)
	}
	return "", err
}

func texts(list [][]byte) []string {
	s := make([]string, len(list))
	for i, b := range list {
		s[i] = string(b)
	}
	return s
}

func blobs(list []string) [][]byte {
	b := make([][]byte, len(list))
	for i, s := range list {
		b[i] = []byte(s)
	}
	return b
}
