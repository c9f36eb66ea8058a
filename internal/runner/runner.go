package runner

import (
	"context"
	"encoding/json"
	"net"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/ctxfs/ctxfs/pack"
)

// overdue is when a read counts as hanging: nobody waits for it any more.
const overdue = 5 * time.Second

// maxReason is longer than any reason of readFile, in bytes.
const maxReason = 200

// The reasons that the client itself gives. They are the same words each time,
// because a pack's id depends on them.
const (
	reasonLate = "not read in time"
	reasonGone = "the runner process is gone; restart ctxfs to read workspace files"
)

// Client talks to a runner process. It implements pack.Workspace and is safe
// for concurrent use.
type Client struct {
	conn   net.Conn
	out    chan []byte   // frames to the runner
	gone   chan struct{} // closed when the runner no longer answers
	exited chan struct{} // closed when its process is reaped
	proc   *exec.Cmd
	tasks  sync.WaitGroup

	mu      sync.Mutex
	seq     uint64           // guarded by mu: orders arrivals of readers and starts of calls
	calls   map[uint64]*call // guarded by mu: under way, by seq
	files   fileTable        // guarded by mu
	closing bool             // guarded by mu
}

var _ pack.Workspace = (*Client)(nil)

// Start starts the runner process from the running binary (hidden verb
// "runner"). Call it before the mount is made.
func Start(ctx context.Context) (*Client, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cmd, conn, theirs, err := command(roleBroker)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	// A session of its own: a Ctrl-C in the daemon's terminal is not for it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		conn.Close()
		return nil, err
	}
	c := &Client{conn: conn, out: make(chan []byte, 1024), gone: make(chan struct{}), exited: make(chan struct{}), proc: cmd,
		calls: make(map[uint64]*call)}
	c.files.init()
	c.tasks.Add(3)
	go c.write()
	go c.read()
	go func() {
		defer c.tasks.Done()
		cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

// ReadFiles implements pack.Workspace. A file that was not read in time, or
// that nobody can read now because the runner failed, is Stale: with its last
// known content if there is one, else with a Reason. The Data must not be changed. The error
// is always nil.
func (c *Client) ReadFiles(ctx context.Context, uid, gid uint32, paths []string, max int64, wait time.Duration) ([]pack.WorkspaceFile, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	max = min(max, maxFile)
	c.mu.Lock()
	c.seq++
	arrived := c.seq
	calls := make([]*call, len(paths))
	for i, p := range paths {
		calls[i] = c.begin(fileKey{uid, gid, max, p})
	}
	c.mu.Unlock()
	files := make([]pack.WorkspaceFile, len(paths))
	for i, p := range paths {
		files[i] = c.await(ctx, fileKey{uid, gid, max, p}, calls[i], arrived)
	}
	return files, nil
}

// call is one read under way. What is not seq, started and done is set before done closes.
type call struct {
	seq     uint64
	started time.Time
	done    chan struct{}
	file    *file
	result  content
	failed  string
}

// begin gives the file's call under way, or starts one. Called with mu held.
func (c *Client) begin(k fileKey) *call {
	f := c.files.get(k)
	if f.call != nil {
		return f.call
	}
	c.seq++
	x := &call{seq: c.seq, started: time.Now(), done: make(chan struct{}), file: f}
	f.call = x
	c.calls[x.seq] = x
	req := request{UID: k.uid, GID: k.gid, Path: k.path, Max: k.max}
	if f.last.settled {
		id := f.last.id
		req.Known = &id
	}
	select {
	case <-c.gone: // asked alone first: of two ready cases select takes any
		c.finish(x, answer{Failed: reasonGone})
		return x
	default:
	}
	select {
	case c.out <- frame(x.seq, req):
	default:
		c.finish(x, answer{Failed: "the runner does not answer"})
	}
	return x
}

// await waits for a call of k that began after arrived, so that what was
// written before ReadFiles was called is seen.
func (c *Client) await(ctx context.Context, k fileKey, x *call, arrived uint64) pack.WorkspaceFile {
	for {
		late := x.seq < arrived && time.Since(x.started) > overdue
		if !late {
			select {
			case <-x.done:
			default:
				select {
				case <-x.done:
				case <-ctx.Done():
					late = true
				}
			}
		}
		c.mu.Lock()
		switch {
		case late:
			known := x.file.last
			c.mu.Unlock()
			return stale(k.path, known, reasonLate)
		case x.failed != "":
			known := x.file.last
			c.mu.Unlock()
			return stale(k.path, known, x.failed)
		case x.seq > arrived:
			c.mu.Unlock()
			return pack.WorkspaceFile{Path: k.path, Exists: x.result.exists, Data: x.result.data, Reason: x.result.reason}
		}
		x = c.begin(k)
		c.mu.Unlock()
	}
}

// stale is the answer from memory; why is told where there is none.
func stale(path string, known content, why string) pack.WorkspaceFile {
	if !known.seen {
		return pack.WorkspaceFile{Path: path, Stale: true, Reason: why}
	}
	return pack.WorkspaceFile{Path: path, Exists: known.exists, Stale: true, Data: known.data, Reason: known.reason}
}

// finish ends a call with its answer. Called with mu held.
func (c *Client) finish(x *call, a answer) {
	delete(c.calls, x.seq)
	f := x.file
	f.call = nil
	switch {
	case a.Failed != "":
		x.failed = a.Failed
	case a.Unchanged && !f.last.settled, int64(len(a.Data)) > f.key.max:
		x.failed = "the runner's answer makes no sense"
	case a.Unchanged:
		x.result = f.last
	default:
		if len(a.Reason) > maxReason { // a reader belongs to its user, who may make it say anything
			a.Reason = "not readable"
		}
		x.result = content{seen: true, exists: a.Exists, settled: a.Settled, id: a.ID, data: a.Data, reason: a.Reason}
		c.files.keep(f, x.result)
	}
	close(x.done)
}

// write sends frames until the client ends.
func (c *Client) write() {
	defer c.tasks.Done()
	for {
		select {
		case f := <-c.out:
			if _, err := c.conn.Write(f); err != nil {
				c.conn.Close() // read notices
				return
			}
		case <-c.gone:
			return
		}
	}
}

// read takes answers until the runner is gone.
func (c *Client) read() {
	defer c.tasks.Done()
	for {
		id, payload, err := readFrame(c.conn)
		if err != nil {
			break
		}
		var a answer
		if json.Unmarshal(payload, &a) != nil {
			a = answer{Failed: "the runner's answer makes no sense"}
		}
		c.mu.Lock()
		if x := c.calls[id]; x != nil {
			c.finish(x, a)
		}
		c.mu.Unlock()
	}
	c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.gone)
	for _, x := range c.calls {
		c.finish(x, answer{Failed: reasonGone})
	}
}

// Close ends the runner process and waits for it. Calls under way end stale.
func (c *Client) Close() error {
	c.mu.Lock()
	again := c.closing
	c.closing = true
	c.mu.Unlock()
	if !again {
		c.conn.Close()
		select {
		case <-c.exited:
		case <-time.After(5 * time.Second):
			c.proc.Process.Kill()
		}
	}
	c.tasks.Wait()
	return nil
}
