package runner

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// roleEnv names to a started process what it is; there is nothing else in its environment.
const (
	roleEnv      = "CTXFS_RUNNER"
	roleBroker   = "broker"
	roleReader   = "reader"
	roleShim     = "shim"
	roleLauncher = "launcher"
)

// command is this program again, with one end of a socket as descriptor 3.
// The other end is ours; the caller closes theirs when the process is started.
func command(role string, socketType int) (cmd *exec.Cmd, ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, socketType|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("runner: socketpair: %w", err)
	}
	ours = os.NewFile(uintptr(fds[0]), "runner socket")
	theirs = os.NewFile(uintptr(fds[1]), "runner socket")
	return &exec.Cmd{
		// The image that runs, even after an upgrade put another file in its place.
		Path:       "/proc/self/exe",
		Args:       []string{os.Args[0], "runner"},
		Env:        []string{roleEnv + "=" + role, "GOMAXPROCS=1"}, // they mostly wait; one P saves waking threads
		Dir:        "/",
		Stderr:     os.Stderr,
		ExtraFiles: []*os.File{theirs},
	}, ours, theirs, nil
}

// unixConn makes a connection of a socket and closes f.
func unixConn(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("runner: %w", err)
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, fmt.Errorf("runner: not a unix socket")
	}
	return u, nil
}

// spawner starts processes from one thread that lives as long as the broker:
// PR_SET_PDEATHSIG and no_new_privs belong to the thread that forks.
type spawner chan spawn

type spawn struct {
	cmd  *exec.Cmd
	done chan error
}

func newSpawner() (spawner, error) {
	s, ready := make(spawner), make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlock: the thread ends with this goroutine
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		ready <- err
		if err != nil {
			return
		}
		for sp := range s {
			sp.done <- sp.cmd.Start()
		}
	}()
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("runner: no_new_privs: %w", err)
	}
	return s, nil
}

func (s spawner) start(cmd *exec.Cmd) error {
	sp := spawn{cmd, make(chan error, 1)}
	s <- sp
	return <-sp.done
}

// credential returns the rights of a user as a login would: the groups of the
// system's database. gid stands in for a uid that the system does not know.
func credential(uid, gid uint32) *syscall.Credential {
	c := &syscall.Credential{Uid: uid, Gid: gid, Groups: []uint32{}}
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return c
	}
	if g, err := strconv.ParseUint(u.Gid, 10, 32); err == nil {
		c.Gid = uint32(g)
	}
	groups, err := u.GroupIds()
	if err != nil {
		return c
	}
	for _, s := range groups {
		if g, err := strconv.ParseUint(s, 10, 32); err == nil {
			c.Groups = append(c.Groups, uint32(g))
		}
	}
	return c
}
