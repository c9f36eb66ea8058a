package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ID identifies a process uniquely, even after it ended and another process reuses its pid.
type ID struct {
	PID       int    `json:"pid"`
	Start     string `json:"start"` // in clock ticks after the boot
	Host      string `json:"host"`
	Boot      string `json:"boot"`
	Namespace string `json:"pid_namespace"` // in which PID counts
}

// initialNamespace is the pid namespace of the host. Process 1 of this namespace is never an agent.
const initialNamespace = "pid:[4026531836]"

// identify returns the ID of a process without Start, for comparing boots and namespaces.
func identify(pid int) ID {
	id := ID{PID: pid}
	id.Host, _ = os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	id.Boot = strings.TrimSpace(string(boot))
	id.Namespace, _ = os.Readlink("/proc/self/ns/pid")
	return id
}

// stat returns the state, the parent, and the start time of a process. It returns an error if it
// cannot read them.
func stat(pid int) (state string, parent int, start string, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, "", err
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])) // the name before it may contain anything
	if len(f) < 20 {
		return "", 0, "", fmt.Errorf("/proc/%d/stat has %d fields", pid, len(f))
	}
	parent, err = strconv.Atoi(f[1])
	return f[0], parent, f[19], err
}

// ended reports whether the process has certainly ended. It returns false for a process of another
// host or pid namespace.
func (id ID) ended() bool {
	here := identify(id.PID)
	switch {
	case id.PID <= 0 || id.Host != here.Host:
		return false
	case id.Boot != here.Boot:
		return true // of a boot before this one
	case id.Namespace != here.Namespace:
		return false
	}
	state, _, start, err := stat(id.PID)
	if err != nil {
		p, err := os.FindProcess(id.PID)
		return err == nil && errors.Is(p.Signal(unix.Signal(0)), os.ErrProcessDone) // /proc may hide a process
	}
	return start != id.Start || state == "Z" || state == "X"
}

// agent returns the agent process that started this hook: the nearest ancestor with a different
// standard input. Shells and wrappers around the hook pass on the standard input that the agent
// opened for it.
func agent() (id ID, ok bool) {
	input := inputOf(os.Getpid())
	for pid := os.Getppid(); pid > 0; {
		_, parent, start, err := stat(pid)
		if err != nil {
			return id, false
		}
		if input == "" || inputOf(pid) != input || redirects(pid) {
			id = identify(pid)
			id.Start = start
			return id, pid > 1 || id.Namespace != initialNamespace
		}
		pid = parent
	}
	return id, false
}

// inputOf returns the link target of a process's standard input; "" if it cannot read the link.
func inputOf(pid int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", pid))
	return name
}

// redirects reports whether a shell currently has another standard input than at its start. While a
// shell runs `command <file`, it may use the file as its own input and keep the original input as a
// close-on-exec descriptor, 10 or above.
func redirects(pid int) bool {
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil || !isShell(pid) {
		return false
	}
	for _, fd := range fds {
		if len(fd.Name()) < 2 {
			continue
		}
		info, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, fd.Name()))
		_, flags, _ := strings.Cut(string(info), "flags:")
		flags, _, _ = strings.Cut(strings.TrimSpace(flags), "\n")
		bits, _ := strconv.ParseUint(flags, 8, 64)
		to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name()))
		script := strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/dev/")
		if bits&unix.O_CLOEXEC != 0 && !script {
			return true
		}
	}
	return false
}

// shells are programs that run between an agent program and its MCP server.
var shells = []string{"sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "mksh", "zsh"}

func isShell(pid int) bool {
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return slices.Contains(shells, filepath.Base(exe))
}

// starters returns this process and its ancestors, nearest first, that may be the agent program.
// The list ends at the first ancestor that is not a shell and does not pass on its standard input.
func starters() (all []ID) {
	here := identify(0)
	input := inputOf(os.Getpid())
	for pid := os.Getpid(); pid > 0; {
		_, parent, start, err := stat(pid)
		if err != nil {
			break
		}
		id := here
		id.PID, id.Start = pid, start
		all = append(all, id)
		if wraps := input != "" && inputOf(pid) == input; !wraps && !isShell(pid) {
			break
		}
		pid = parent
	}
	return all
}
