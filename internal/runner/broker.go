package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Bounds of the readers alive, those included that were killed and that the
// kernel still holds: of all, and of one user, who must not use up the others'.
const (
	maxProcesses = 2 * maxLinks
	maxOfUser    = 16
)

// Main is the runner process itself: it serves the inherited socket
// (descriptor 3) until it closes.
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
	}
	return errors.New("runner: this command is for ctxfs itself")
}

// order is what the client asks of the broker, one packet each: a reader for a
// user, or the end of one.
type order struct {
	Reader uint64 `json:"reader"` // chosen by the client
	End    bool   `json:"end,omitempty"`
	UID    uint32 `json:"uid"`
	GID    uint32 `json:"gid"` // used for a uid that the system does not know
}

// started answers an order for a reader; without Failed, its socket comes along.
type started struct {
	Reader uint64 `json:"reader"`
	Failed string `json:"failed,omitempty"`
}

// broker starts, kills and reaps readers.
type broker struct {
	conn  *net.UnixConn
	spawn spawner
	euid  uint32

	mu      sync.Mutex
	readers map[uint64]*child // guarded by mu
}

// child is one reader process.
type child struct {
	uid   uint32
	cmd   *exec.Cmd // nil while it is started
	ended bool      // to be killed as soon as it is started
}

func brokerMain(conn *net.UnixConn) error {
	s, err := newSpawner()
	if err != nil {
		return err
	}
	b := &broker{conn: conn, spawn: s, euid: uint32(os.Geteuid()), readers: make(map[uint64]*child)}
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		if err != nil || n == 0 {
			return nil // the client is gone; readers die with this process
		}
		var o order
		if err := json.Unmarshal(buf[:n], &o); err != nil {
			return fmt.Errorf("runner: order: %w", err)
		}
		b.obey(o)
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
		b.tell(started{o.Reader, "the reader's number is taken"}, nil)
	default:
		if why := b.refuses(o); why != "" {
			b.tell(started{o.Reader, why}, nil)
			return
		}
		r = &child{uid: o.UID}
		b.readers[o.Reader] = r
		go b.run(o, r)
	}
}

// refuses says why there can be no reader for o, or "". Called with mu held.
func (b *broker) refuses(o order) string {
	const nobody = 1<<32 - 1 // to the kernel it would mean: stay who you are
	switch {
	case o.UID == nobody || o.GID == nobody:
		return "not a uid"
	case b.euid != 0 && o.UID != b.euid:
		return fmt.Sprintf("ctxfs runs as uid %d and cannot read as uid %d", b.euid, o.UID)
	case len(b.readers) >= maxProcesses:
		return "too many readers hang"
	}
	mine := 0
	for _, r := range b.readers {
		if r.uid == o.UID {
			mine++
		}
	}
	if mine >= maxOfUser {
		return "too many readers of this user hang"
	}
	return ""
}

// run is the life of one reader.
func (b *broker) run(o order, r *child) {
	cmd, err := b.start(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "ctxfs runner: starting a reader for uid %d: %v (that user must be allowed to execute the ctxfs binary)\n", o.UID, err)
		b.tell(started{o.Reader, "a reader for this user cannot be started"}, nil)
	} else {
		b.mu.Lock()
		r.cmd = cmd
		if r.ended {
			cmd.Process.Kill()
		}
		b.mu.Unlock()
		cmd.Wait() // as long as the kernel holds it
	}
	b.mu.Lock()
	delete(b.readers, o.Reader)
	b.mu.Unlock()
}

// start makes the process and hands its socket to the client.
func (b *broker) start(o order) (*exec.Cmd, error) {
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
	if err := b.spawn.start(cmd); err != nil {
		return nil, err
	}
	b.tell(started{Reader: o.Reader}, client)
	return cmd, nil
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
