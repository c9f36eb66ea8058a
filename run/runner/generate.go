package runner

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/source"
)

const (
	defaultTimeout = 30 * time.Second // of a command that says none
	maxCommand     = 1 << 20          // bytes of arguments and environment
	maxStdin       = 4 << 20          // bytes
	maxHeld        = 32 << 20         // bytes of files that stand in for others
	maxHeldNames   = 4 << 20          // bytes of their names
	birthTime      = 15 * time.Second // within which a shim takes its command
	grace          = 10 * time.Second // within which a shim ends what it was told to end, or the kernel a shim
	outputTime     = 10 * time.Second // within which the output file is looked at
)

const (
	reasonCancelled = "cancelled"
	reasonSurvives  = "it does not end when it is killed"
)

var _ source.Generators = (*Client)(nil)

// run is one run of a command, from the order of its shim until nothing is left of it.
type run struct {
	id      uint64
	session string

	pid   int           // of the shim; guarded by Client.mu, 0 until it runs
	conn  *net.UnixConn // to it; set before born closes
	why   string        // there is none; set before born closes
	heard bool          // born is closed; guarded by Client.mu
	given bool          // up, before it was heard of; guarded by Client.mu
	born  chan struct{}
	gone  chan struct{} // closed when nothing is left
}

// Run implements source.Generators. A command waits until less than
// maxRunsOfUser of its user run. What the kernel holds although it
// was killed (a dead network mount) is not waited for longer than grace; it
// keeps its user's place until it is gone.
// It returns an error if the runner is gone; a command that fails is an Output that says why.
func (c *Client) Run(ctx context.Context, uid, gid uint32, cmd source.Command) (source.Output, error) {
	if why := unfit(cmd); why != "" {
		return source.Output{Failed: why}, nil
	}
	if cmd.Timeout <= 0 {
		cmd.Timeout = defaultTimeout
	}
	leave, ok := c.turns.take(ctx, uid)
	if !ok {
		return source.Output{Failed: reasonCancelled}, nil
	}
	before, why := c.outputFile(ctx, identityOf, uid, gid, cmd.Output)
	if why != "" {
		leave()
		return source.Output{Failed: why}, nil
	}
	r, err := c.orderRun(uid, gid, cmd.Session, leave)
	if err != nil {
		leave()
		return source.Output{}, err
	}
	out, data, why := c.follow(ctx, r, cmd)
	if why == reasonGone {
		return source.Output{}, ctxabi.E("run", "", ctxabi.ErrIO, "%s", reasonGone)
	}
	o := source.Output{Data: data, Failed: out.Failed, Stderr: strings.ToValidUTF8(string(out.Stderr), "\uFFFD"), Sandbox: out.Sandbox}
	if why != "" {
		o.Failed = why
	}
	if o.Failed != "" || cmd.Output == "" {
		return o, nil
	}
	o.Data, o.Failed = c.output(ctx, uid, gid, cmd.Output, len(cmd.Held) > 0, before, data)
	return o, nil
}

// unfit returns why a command cannot even be tried, or "".
func unfit(cmd source.Command) string {
	size := 0
	for _, list := range [][]string{cmd.Args, cmd.Env, {cmd.Dir, cmd.Output}} {
		for _, s := range list {
			size += len(s)
			if strings.IndexByte(s, 0) >= 0 {
				return "a word of the command holds a zero byte"
			}
		}
	}
	switch {
	case len(cmd.Args) == 0 || cmd.Args[0] == "":
		return "no command"
	case size > maxCommand:
		return fmt.Sprintf("the command and its environment are larger than %d bytes", maxCommand)
	case len(cmd.Stdin) > maxStdin:
		return fmt.Sprintf("standard input is larger than %d bytes", maxStdin)
	case !filepath.IsAbs(cmd.Dir):
		return "the directory is not an absolute path"
	case cmd.Output != "" && !filepath.IsAbs(cmd.Output):
		return "the output is not an absolute path"
	}
	return unfitHeld(cmd)
}

// outputFile looks at the output of a command as its user; nothing when there is none.
func (c *Client) outputFile(ctx context.Context, what kind, uid, gid uint32, path string) (content, string) {
	if path == "" {
		return content{}, ""
	}
	f := c.query(ctx, owner{uid, gid}, []fileKey{{what, uid, gid, source.MaxGenerated, path}}, outputTime)[0]
	switch {
	case ctx.Err() != nil:
		return content{}, reasonCancelled
	case f.stale != "":
		return content{}, "the output cannot be looked at: " + f.stale
	}
	return f.content, ""
}

// output decides what the content of a run is that ended well: the output file
// if the command touched that, else standard output, else the file. made: an empty one may have been made before the command ran.
func (c *Client) output(ctx context.Context, uid, gid uint32, path string, made bool, before content, stdout []byte) (data []byte, failed string) {
	after, why := c.outputFile(ctx, wholeFile, uid, gid, path)
	touched := after.exists != before.exists || after.id != before.id || after.id == identity{} && after.reason != before.reason
	if made && after.exists && len(after.data) == 0 && after.reason == "" && (!touched || !before.exists) {
		after, touched = content{}, false // it was made for a command that did not use it
	}
	switch {
	case why != "":
		return nil, why
	case !touched && len(stdout) > 0: // whatever is there
		return stdout, ""
	case strings.HasSuffix(after.reason, "not a regular file"), strings.HasPrefix(after.reason, "larger than"):
		return nil, "the output is " + after.reason
	case after.reason != "":
		return nil, "the output cannot be read: " + after.reason
	case after.exists:
		return after.data, ""
	case len(stdout) == 0:
		return nil, "neither the output file nor standard output was written"
	}
	return stdout, ""
}

// orderRun orders a shim for a run. leave is called when nothing of it is left.
func (c *Client) orderRun(uid, gid uint32, session string, leave func()) (*run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken || c.closed {
		return nil, ctxabi.E("run", "", ctxabi.ErrIO, "%s", reasonGone)
	}
	c.seq++
	r := &run{id: c.seq, session: session, born: make(chan struct{}), gone: make(chan struct{})}
	if !c.order(order{Reader: r.id, Shim: true, Plain: c.plain, UID: uid, GID: gid}) {
		return nil, ctxabi.E("run", "", ctxabi.ErrIO, "the runner process accepts no commands")
	}
	c.runs[r.id] = r
	c.running.Add(1)
	c.tasks.Add(1)
	go func() {
		defer c.tasks.Done()
		<-r.gone // at the latest when the broker is gone
		leave()
	}()
	return r, nil
}

// hear takes what the broker says of a run. Called with mu held.
func (c *Client) hear(r *run, s started, conn *net.UnixConn) {
	if !r.heard {
		r.heard = true
		if r.given && conn != nil {
			conn.Close()
		}
		r.pid, r.conn, r.why = s.PID, conn, s.Failed
		if conn == nil && r.why == "" {
			r.why = "the broker's answer makes no sense"
		}
		close(r.born)
	} else if conn != nil {
		conn.Close()
	}
	if s.Gone || s.Failed != "" {
		delete(c.runs, r.id)
		c.running.Add(-1)
		close(r.gone)
	}
}

// follow returns the run its command, and returns with what it came to when
// nothing of it is left.
func (c *Client) follow(ctx context.Context, r *run, cmd source.Command) (out outcome, data []byte, why string) {
	birth := time.NewTimer(birthTime)
	defer birth.Stop()
	select {
	case <-r.born:
	case <-ctx.Done():
		return out, nil, c.giveUp(r, reasonCancelled)
	case <-birth.C:
		return out, nil, c.giveUp(r, "it did not start in time")
	}
	if r.conn == nil {
		if r.why == reasonGone {
			return out, nil, reasonGone
		}
		return out, nil, "it cannot be started: " + r.why
	}
	type reply struct {
		out  outcome
		data []byte
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		var a reply
		a.out, a.data, a.err = talk(r.conn, cmd)
		replies <- a
	}()
	late := time.NewTimer(cmd.Timeout + grace)
	defer late.Stop()
	var a reply
	answered := false
	select {
	case a = <-replies:
		answered = true
		why = c.kill(r, "") // it ends anyway
	case <-ctx.Done():
		why = c.kill(r, reasonCancelled)
	case <-late.C:
		why = c.kill(r, fmt.Sprintf("timed out after %v", cmd.Timeout))
	}
	r.conn.Close()
	if !answered {
		<-replies
	}
	if why == "" && a.err != nil {
		why = "what watched over it was killed"
		if c.isBroken() {
			why = reasonGone
		}
	}
	return a.out, a.data, why
}

// giveUp kills a run that was not heard of.
func (c *Client) giveUp(r *run, why string) string {
	c.mu.Lock()
	r.given = true
	if r.heard && r.conn != nil {
		r.conn.Close()
	}
	c.mu.Unlock()
	return c.kill(r, why)
}

// kill has a run's shim killed, and with it all that it started, and waits
// until it is gone; the answer is why, or that it does not go.
func (c *Client) kill(r *run, why string) string {
	c.mu.Lock()
	c.order(order{Reader: r.id, End: true})
	c.mu.Unlock()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-r.gone:
		return why
	case <-timer.C:
		return reasonSurvives
	}
}

func (c *Client) isBroken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// talk sends a shim its command and takes what that came to.
func talk(conn *net.UnixConn, cmd source.Command) (out outcome, data []byte, err error) {
	j := job{Args: blobs(cmd.Args), Env: blobs(cmd.Env), Dir: []byte(cmd.Dir), Empty: cmd.Empty, Timeout: cmd.Timeout,
		Root: []byte(cmd.Root)}
	if d := cmd.Delta; d != nil {
		j.Delta = &delta{[]byte(d.Run), []byte(d.Journal), d.Make}
	}
	content := cmd.Stdin
	for _, h := range cmd.Held {
		j.Held = append(j.Held, held{Path: []byte(h.Path), Kind: h.Kind, Exec: h.Exec, Size: len(h.Data)})
		content = append(content[:len(content):len(content)], h.Data...)
	}
	if _, err := conn.Write(frame(0, packet{j, content})); err != nil {
		return out, nil, err
	}
	_, payload, err := readFrame(conn)
	if err != nil {
		return out, nil, err
	}
	data, err = parsePacket(payload, &out)
	return out, data, err
}
