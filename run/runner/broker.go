package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of the readers alive, those included that were killed and that the
// kernel still holds: of all, and of one user, who must not use up the others'.
const (
	maxProcesses = 2 * maxLinks
	maxOfUser    = 16
)

// closeTime is how long a broker that ends waits for what it has killed, before it kills what is left. Who closes it waits longer.
const closeTime = 3 * time.Second

// Main is the runner process itself: it serves the inherited socket
// (descriptor 3) until it closes. It returns an error if the socket cannot be used.
func Main() error {
	socket := os.NewFile(3, "runner socket")
	switch os.Getenv(roleEnv) {
	case roleBroker:
		conn, err := unixConn(socket)
		if err != nil {
			return err
		}
		return brokerMain(conn)
	case roleReader:
		return readerMain(socket) // blocking, which wakes it sooner than the poller would
	case roleShim:
		return shimMain(socket)
	case roleLauncher:
		return launcherMain()
	}
	return errors.New("runner: this command is for ctxfs itself")
}

// order is what the client asks of the broker, one packet each: a reader or a
// shim for a user, or the end of one.
type order struct {
	Reader uint64 `json:"reader"` // chosen by the client
	End    bool   `json:"end,omitempty"`
	Shim   bool   `json:"shim,omitempty"`  // for one run of a generator
	Plain  bool   `json:"plain,omitempty"` // a shim without namespaces, as where the system allows none
	UID    uint32 `json:"uid"`
	GID    uint32 `json:"gid"` // used for a uid that the system does not know
}

// started answers an order: without Failed, the process's socket comes along.
// A second one tells that nothing is left of a shim and of what it started.
type started struct {
	Reader uint64 `json:"reader"`
	PID    int    `json:"pid,omitempty"`
	Failed string `json:"failed,omitempty"`
	Gone   bool   `json:"gone,omitempty"`
}

// broker starts, kills and reaps readers and shims.
type broker struct {
	conn  *net.UnixConn
	spawn spawner
	euid  uint32

	mu      sync.Mutex
	readers map[uint64]*child // guarded by mu
	closing bool              // guarded by mu: nothing is started any more

	births sync.RWMutex // read-held from a fork until the child is in known
	known  sync.Map     // pid of a child → true; what else comes to be a child is an orphan of a shim
}

// child is one reader or shim.
type child struct {
	uid   uint32
	shim  bool
	cmd   *exec.Cmd // nil while it is started
	ended bool      // to be killed as soon as it is started
}

func brokerMain(conn *net.UnixConn) error {
	s, err := newSpawner()
	if err != nil {
		return err
	}
	// What outlives its shim comes here, and no further.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("runner: subreaper: %w", err)
	}
	closeInherited()
	oomFirst()
	b := &broker{conn: conn, spawn: s, euid: uint32(os.Geteuid()), readers: make(map[uint64]*child)}
	defer b.close()
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		if err != nil || n == 0 {
			return nil // the client is gone
		}
		var o order
		if err := json.Unmarshal(buf[:n], &o); err != nil {
			return fmt.Errorf("runner: order: %w", err)
		}
		b.obey(o)
	}
}

// closeInherited closes all inherited descriptors except the standard streams and the socket. A
// broker that starts after the mount inherits /dev/fuse, and an open /dev/fuse keeps the mount of a
// dead daemon alive.
func closeInherited() {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, entry := range fds {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 3 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// oomFirst raises the OOM score of this process and its future children above the daemon's score.
// The daemon can replace a killed broker, but a killed daemon ends the mount for all users.
func oomFirst() {
	const file, above, most = "/proc/self/oom_score_adj", 100, 1000
	b, err := os.ReadFile(file)
	if err != nil {
		return
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
		os.WriteFile(file, []byte(strconv.Itoa(min(n+above, most))), 0)
	}
}

// close kills everything and waits for it, not for ever: what the kernel holds
// ends when it lets go.
func (b *broker) close() {
	b.mu.Lock()
	b.closing = true
	for _, r := range b.readers {
		if r.ended = true; r.cmd != nil {
			r.cmd.Process.Kill()
		}
	}
	b.mu.Unlock()
	for deadline := time.Now().Add(closeTime); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		b.mu.Lock()
		left := len(b.readers)
		b.mu.Unlock()
		if left == 0 {
			return
		}
	}
	// On a machine that is so busy, a shim that is not gone yet may leave something behind that nobody would end any more.
	// It is killed at once and not stopped first, as this process may be killed itself by whoever waits for it.
	for range maxPasses {
		left := descendants(func(int) bool { return false })
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// obey never waits: it is the broker's only loop.
func (b *broker) obey(o order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.readers[o.Reader]
	switch {
	case o.End && r == nil:
	case o.End && r.cmd == nil:
		r.ended = true
	case o.End:
		r.cmd.Process.Kill()
	case r != nil:
		b.tell(started{Reader: o.Reader, Failed: "the reader's number is taken"}, nil)
	default:
		if why := b.refuses(o); why != "" {
			b.tell(started{Reader: o.Reader, Failed: why}, nil)
			return
		}
		r = &child{uid: o.UID, shim: o.Shim}
		b.readers[o.Reader] = r
		go b.run(o, r)
	}
}

// refuses returns why there can be no process for o, or "". Called with mu held.
func (b *broker) refuses(o order) string {
	const nobody = 1<<32 - 1 // to the kernel it would mean: stay who you are
	mine, all := 0, 0
	for _, r := range b.readers {
		if r.shim != o.Shim {
			continue
		}
		all++
		if r.uid == o.UID {
			mine++
		}
	}
	switch {
	case o.UID == nobody || o.GID == nobody:
		return "not a uid"
	case b.euid != 0 && o.UID != b.euid:
		return fmt.Sprintf("ctxfs runs as uid %d and cannot read as uid %d", b.euid, o.UID)
	case all >= maxProcesses:
		return "too many readers hang"
	case mine >= maxOfUser:
		return "too many readers of this user hang"
	}
	return ""
}

// run is the life of one reader or shim.
func (b *broker) run(o order, r *child) {
	cmd, err := b.start(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "ctxfs runner: starting a process for uid %d: %v (that user must be allowed to execute the ctxfs binary)\n", o.UID, err)
		b.tell(started{Reader: o.Reader, Failed: "a reader for this user cannot be started"}, nil)
	} else {
		b.mu.Lock()
		r.cmd = cmd
		if r.ended {
			cmd.Process.Kill()
		}
		b.mu.Unlock()
		cmd.Wait() // as long as the kernel holds it
		b.known.Delete(cmd.Process.Pid)
		if o.Shim && cmd.SysProcAttr.Cloneflags&unix.CLONE_NEWPID == 0 {
			b.endOrphans()
		}
	}
	b.mu.Lock()
	delete(b.readers, o.Reader)
	b.mu.Unlock()
	if o.Shim && err == nil {
		b.tell(started{Reader: o.Reader, Gone: true}, nil)
	}
}

// start makes the process and hands its socket to the client.
func (b *broker) start(o order) (*exec.Cmd, error) {
	if o.Shim {
		return b.startShim(o)
	}
	cmd, client, theirs, err := command(roleReader, unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	defer client.Close()
	cmd.Stderr = nil // the daemon's log is not the user's to write
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if b.euid == 0 {
		cmd.SysProcAttr.Credential = credential(o.UID, o.GID)
	}
	if err := b.bear(cmd); err != nil {
		return nil, err
	}
	b.tell(started{Reader: o.Reader, PID: cmd.Process.Pid}, client)
	return cmd, nil
}

// bear starts a process that counts as known from its first moment.
func (b *broker) bear(cmd *exec.Cmd) error {
	b.births.RLock()
	defer b.births.RUnlock()
	if err := b.spawn.start(cmd); err != nil {
		return err
	}
	b.known.Store(cmd.Process.Pid, true)
	return nil
}

// tell sends one packet; a client that is gone shows in the read loop.
func (b *broker) tell(s started, socket *os.File) {
	packet, err := json.Marshal(s)
	if err != nil {
		panic(err) // a number and a string
	}
	var rights []byte
	if socket != nil {
		rights = unix.UnixRights(int(socket.Fd()))
	}
	b.conn.WriteMsgUnix(packet, rights, nil)
}
