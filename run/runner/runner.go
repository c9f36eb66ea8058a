package runner

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/pack/source"
)

// overdue is when a read counts as hanging: nobody waits for it any more.
const overdue = 5 * time.Second

// maxReason is longer than any reason of readFile, in bytes.
const maxReason = 200

// The reasons that the client itself gives. They are the same words each time,
// because a pack's id depends on them.
const (
	reasonLate  = "not read in time"
	reasonHangs = "the reader of this user hangs"
	reasonGone  = "the runner process ended; ctxfs starts it again"
)

// Client talks to the runner's processes. It implements source.Workspace and
// source.Generators and is safe for concurrent use.
type Client struct {
	ended   func(times int, err error) // see Start
	closing chan struct{}              // closed by Close
	unswept chan struct{}              // has a value when there is a link or a pause that sweeper may not know of
	tasks   sync.WaitGroup

	mu             sync.Mutex
	*brokerProcess                 // guarded by mu: the last one that was started
	seq            uint64          // guarded by mu: orders arrivals of readers and starts of calls
	files          fileTable       // guarded by mu
	links          map[owner]*link // guarded by mu
	pauses         map[owner]pause // guarded by mu
	broken         bool            // guarded by mu: there is no broker now
	closed         bool            // guarded by mu: closing is closed
	runs           map[uint64]*run // guarded by mu: by the number of their shim

	running atomic.Int32 // len(runs)
	turns   turns
	plain   bool // for tests: shims without namespaces
}

var _ source.Workspace = (*Client)(nil)

// Start starts the runner process from the running binary (hidden verb "runner"). Call it before
// mounting. If the process ends unexpectedly, the client calls ended, unless it is nil, with the
// number of such ends and the reason, and restarts the process. Start returns ctx.Err() if ctx
// ends, and an error if it cannot start the process.
func Start(ctx context.Context, ended func(times int, err error)) (*Client, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := startBroker()
	if err != nil {
		return nil, err
	}
	if ended == nil {
		ended = func(int, error) {}
	}
	c := &Client{ended: ended, brokerProcess: p, closing: make(chan struct{}), unswept: make(chan struct{}, 1),
		links: make(map[owner]*link), pauses: make(map[owner]pause), runs: make(map[uint64]*run)}
	c.files.init()
	c.turns.init()
	c.tasks.Add(2)
	go c.supervise(p)
	go c.sweeper()
	return c, nil
}

// sweeper sweeps every sweepPeriod while there is something to sweep, until Close. An idle daemon is not woken.
func (c *Client) sweeper() {
	defer c.tasks.Done()
	var next <-chan time.Time // nil: there is nothing to sweep
	for {
		select {
		case <-c.unswept:
			if next == nil {
				next = time.After(sweepPeriod)
			}
		case now := <-next:
			if next = nil; c.sweep(now) {
				next = time.After(sweepPeriod)
			}
		case <-c.closing:
			return
		}
	}
}

// ReadFiles implements source.Workspace. A file that was not read in time, or
// that nobody can read now because the runner failed, is Stale: with its last
// known content if there is one, else with a Reason. The Data must not be changed. The error
// is always nil.
func (c *Client) ReadFiles(ctx context.Context, uid, gid uint32, paths []string, max int64, wait time.Duration) ([]source.WorkspaceFile, error) {
	keys := make([]fileKey, len(paths))
	for i, p := range paths {
		keys[i] = fileKey{wholeFile, uid, gid, min(max, maxFile), p}
	}
	files := make([]source.WorkspaceFile, len(paths))
	for i, a := range c.query(ctx, owner{uid, gid}, keys, wait) {
		f := source.WorkspaceFile{Path: paths[i], Exists: a.exists, Data: a.data, Reason: a.reason, Stale: a.stale != "", Foreign: a.exists && a.id.UID != 0 && a.id.UID != uint64(uid)}
		if f.Stale && !a.seen {
			f.Reason = a.stale
		}
		files[i] = f
	}
	return files, nil
}

// found is what was asked for; stale says why it is not current, and seen
// whether it was ever.
type found struct {
	content
	stale string
}

// query returns what the reader of o says to keys, all of which are o's.
func (c *Client) query(ctx context.Context, o owner, keys []fileKey, wait time.Duration) []found {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c.mu.Lock()
	c.seq++
	arrived := c.seq
	calls := make([]*call, len(keys))
	for i, k := range keys {
		calls[i] = c.begin(k)
	}
	c.send(o)
	c.mu.Unlock()
	answers := make([]found, len(keys))
	for i, k := range keys {
		answers[i] = c.await(ctx, k, calls[i], arrived)
	}
	return answers
}

// call is one read under way; result and failed are set before done closes.
type call struct {
	seq     uint64
	started time.Time
	file    *file
	sent    time.Time // to the reader; guarded by mu
	done    chan struct{}
	result  content
	failed  string
}

// begin returns the file's call under way, or starts one, which [Client.send] sends. Called with mu held.
func (c *Client) begin(k fileKey) *call {
	f := c.files.get(k)
	if f.call != nil {
		return f.call
	}
	c.seq++
	x := &call{seq: c.seq, started: time.Now(), done: make(chan struct{}), file: f}
	f.call = x
	l, why := c.linkFor(owner{k.uid, k.gid}, x.started)
	if l == nil {
		c.finish(x, answer{Failed: why})
		return x
	}
	l.waiting = append(l.waiting, x)
	return x
}

// send sends what was begun for o. Called with mu held.
func (c *Client) send(o owner) {
	if l := c.links[o]; l != nil {
		c.pump(l, time.Now())
	}
}

// request is what x asks its reader. Called with mu held.
func (x *call) request() request {
	req := request{Kind: x.file.key.kind, Path: []byte(x.file.key.path), Max: x.file.key.max}
	if x.file.last.settled {
		id := x.file.last.id
		req.Known = &id
	}
	return req
}

// await waits for a call of k that began after arrived, so that what was
// written before it was asked for is seen.
func (c *Client) await(ctx context.Context, k fileKey, x *call, arrived uint64) found {
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
			return found{known, reasonLate}
		case x.seq > arrived && x.failed != "":
			known := x.file.last
			c.mu.Unlock()
			return found{known, x.failed}
		case x.seq > arrived:
			c.mu.Unlock()
			return found{x.result, ""}
		}
		x = c.begin(k)
		c.send(owner{k.uid, k.gid})
		c.mu.Unlock()
	}
}

// finish ends a call with its answer. Called with mu held.
func (c *Client) finish(x *call, a answer) {
	f := x.file
	f.call = nil
	switch {
	case a.Failed != "":
		x.failed = a.Failed
	case a.Unchanged && !f.last.settled, int64(len(a.Data)) > f.key.max:
		x.failed = "the reader's answer makes no sense"
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

// Close ends the runner's processes and waits for the one it started. Calls
// under way end stale.
func (c *Client) Close() error {
	c.mu.Lock()
	first, p := !c.closed, c.brokerProcess
	c.closed = true
	c.mu.Unlock()
	if first {
		close(c.closing)
		p.control.Close()
		select {
		case <-p.exited:
		case <-time.After(5 * time.Second):
			p.proc.Process.Kill()
		}
	}
	c.tasks.Wait()
	return nil
}
