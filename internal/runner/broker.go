package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// What the broker allows readers.
const (
	maxReaders  = 64               // processes, those that are ending included
	idleAfter   = time.Minute      // a reader without work ends
	oldAfter    = 10 * time.Minute // a reader ends and a new one learns the user's groups anew
	stuckAfter  = 30 * time.Second // with all slots taken and the oldest request that old, a reader is given up
	maxPause    = 10 * time.Second // between starts of a reader that keeps dying
	firstPause  = 100 * time.Millisecond
	sweepPeriod = 10 * time.Second
)

// Main is the runner process itself: it serves requests on the inherited
// socket (descriptor 3) until it closes.
func Main() error {
	conn, err := inherited()
	if err != nil {
		return fmt.Errorf("runner: this command is for ctxfs itself: %w", err)
	}
	switch os.Getenv(roleEnv) {
	case roleBroker:
		return brokerMain(conn)
	case roleReader:
		return shimMain(conn)
	}
	return errors.New("runner: this command is for ctxfs itself")
}

// broker passes requests to the readers of their users.
type broker struct {
	conn  net.Conn // to the client
	spawn spawner
	euid  uint32

	wmu sync.Mutex // one frame at a time to conn

	mu      sync.Mutex
	readers map[owner]*reader // guarded by mu; each has a process or will have one
	live    int               // guarded by mu: processes, those that are ending included
	pauses  map[owner]pause   // guarded by mu
}

// owner is for whom a reader reads.
type owner struct{ uid, gid uint32 }

// pause keeps a reader that dies from being started all the time.
type pause struct {
	length time.Duration
	until  time.Time
}

// reader is one reader process as the broker sees it.
type reader struct {
	owner owner
	in    chan []byte // frames to it; never full, as pending is bounded by slots
	born  time.Time

	// guarded by broker.mu
	pending map[uint64]time.Time // requests it has not answered, since when
	used    time.Time
	gone    bool      // no longer in broker.readers; in is closed
	cmd     *exec.Cmd // nil until started
	served  bool      // it has answered something
}

func brokerMain(conn net.Conn) error {
	s, err := newSpawner()
	if err != nil {
		return err
	}
	b := &broker{conn: conn, spawn: s, euid: uint32(os.Geteuid()), readers: make(map[owner]*reader), pauses: make(map[owner]pause)}
	go func() {
		for now := range time.Tick(sweepPeriod) {
			b.sweep(now)
		}
	}()
	for {
		id, payload, err := readFrame(conn)
		if err != nil {
			b.end()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		var req request
		if err := json.Unmarshal(payload, &req); err != nil {
			b.fail(id, "the request was not understood")
			continue
		}
		if failed := b.dispatch(id, req, payload, time.Now()); failed != "" {
			b.fail(id, failed)
		}
	}
}

// dispatch hands a request to its user's reader. It never waits. It gives "" or
// why the request cannot be served.
func (b *broker) dispatch(id uint64, req request, payload []byte, now time.Time) string {
	if b.euid != 0 && req.UID != b.euid {
		return fmt.Sprintf("ctxfs runs as uid %d and cannot read as uid %d", b.euid, req.UID)
	}
	if nobody := uint32(1<<32 - 1); req.UID == nobody || req.GID == nobody {
		return "not a uid" // to the kernel it would mean: stay who you are
	}
	o := owner{req.UID, req.GID}
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.readers[o]
	if r != nil && len(r.pending) >= slots {
		if !r.stuck(now) {
			return "too many reads of this user are under way"
		}
		b.remove(r)
		r = nil
	}
	if r == nil {
		if now.Before(b.pauses[o].until) {
			return "the reader of this user keeps ending"
		}
		if b.live >= maxReaders && !b.retireOne() {
			return "too many users at once"
		}
		if b.live >= 2*maxReaders { // ended, but the kernel still holds them
			return "too many readers hang"
		}
		r = &reader{owner: o, in: make(chan []byte, slots), born: now, used: now, pending: make(map[uint64]time.Time)}
		b.readers[o] = r
		b.live++
		go b.run(r)
	}
	r.pending[id] = now
	r.used = now
	r.in <- rawFrame(id, payload)
	return ""
}

// stuck says that r does not answer any more. Called with mu held.
func (r *reader) stuck(now time.Time) bool {
	for _, since := range r.pending {
		if now.Sub(since) > stuckAfter {
			return true
		}
	}
	return false
}

// run is the life of one reader.
func (b *broker) run(r *reader) {
	why := "the reader of this user ended"
	conn, err := b.start(r)
	if err != nil {
		why = err.Error()
	} else {
		written := make(chan struct{})
		go func() {
			defer close(written)
			for f := range r.in {
				if _, err := conn.Write(f); err != nil {
					break
				}
			}
			conn.(*net.UnixConn).CloseWrite() // the reader sees the end and ends
		}()
		b.forward(r, conn)
		conn.Close()
		defer func() { <-written }()
	}
	b.mu.Lock()
	if !r.gone { // it died by itself
		p := b.pauses[r.owner]
		if p.length = max(firstPause, min(2*p.length, maxPause)); r.served {
			p.length = firstPause
		}
		p.until = time.Now().Add(p.length)
		b.pauses[r.owner] = p
	}
	b.remove(r)
	lost := r.pending
	r.pending = nil
	b.mu.Unlock()
	for id := range lost {
		b.fail(id, why)
	}
	if r.cmd != nil {
		r.cmd.Process.Kill()
		r.cmd.Wait() // as long as the kernel holds it
	}
	b.mu.Lock()
	b.live--
	b.mu.Unlock()
}

// start makes r's process.
func (b *broker) start(r *reader) (net.Conn, error) {
	cmd, conn, theirs, err := command(roleReader)
	if err != nil {
		return nil, errors.New("a reader cannot be started")
	}
	defer theirs.Close()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if b.euid == 0 {
		cmd.SysProcAttr.Credential = credential(r.owner.uid, r.owner.gid)
	}
	if err := b.spawn.start(cmd); err != nil {
		conn.Close()
		fmt.Fprintf(os.Stderr, "ctxfs runner: starting a reader for uid %d: %v (the binary must be executable for that user)\n", r.owner.uid, err)
		return nil, errors.New("a reader for this user cannot be started")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r.cmd = cmd
	if r.gone {
		cmd.Process.Kill()
	}
	return conn, nil
}

// forward passes r's answers on until it ends or says what it was not asked.
func (b *broker) forward(r *reader, conn net.Conn) {
	for {
		id, payload, err := readFrame(conn)
		if err != nil {
			return
		}
		b.mu.Lock()
		_, asked := r.pending[id]
		delete(r.pending, id)
		r.used, r.served = time.Now(), true
		b.mu.Unlock()
		if !asked {
			return
		}
		b.send(rawFrame(id, payload))
	}
}

// remove takes r out of use: it gets no more requests, and its process is
// ended, at once if it has unanswered ones. Called with mu held; twice does no harm.
func (b *broker) remove(r *reader) {
	if r.gone {
		return
	}
	r.gone = true
	delete(b.readers, r.owner)
	close(r.in)
	if len(r.pending) > 0 && r.cmd != nil {
		r.cmd.Process.Kill()
	}
}

// retireOne ends the idle reader that was used least recently. Called with mu held.
func (b *broker) retireOne() bool {
	var oldest *reader
	for _, r := range b.readers {
		if len(r.pending) == 0 && (oldest == nil || r.used.Before(oldest.used)) {
			oldest = r
		}
	}
	if oldest == nil {
		return false
	}
	b.remove(oldest)
	return true
}

// sweep ends the readers that are idle or old and forgets pauses that are over.
func (b *broker) sweep(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.readers {
		if len(r.pending) == 0 && (now.Sub(r.used) > idleAfter || now.Sub(r.born) > oldAfter) {
			b.remove(r)
		}
	}
	for o, p := range b.pauses {
		if now.Sub(p.until) > maxPause {
			delete(b.pauses, o)
		}
	}
}

// end kills all readers; the kernel reaps what the broker leaves behind.
func (b *broker) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.readers {
		if r.cmd != nil {
			r.cmd.Process.Kill()
		}
	}
}

func (b *broker) fail(id uint64, why string) { b.send(frame(id, answer{Failed: why})) }

func (b *broker) send(f []byte) {
	b.wmu.Lock()
	defer b.wmu.Unlock()
	b.conn.Write(f) // a client that is gone shows in the read loop
}
