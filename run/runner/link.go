package runner

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// What the client allows readers.
const (
	maxLinks    = 64               // readers at once
	idleAfter   = time.Minute      // a reader without work ends
	oldAfter    = 10 * time.Minute // a reader ends and a new one learns the user's groups anew
	stuckAfter  = 30 * time.Second // a reader that answered nothing it has for so long is given up
	maxWaiting  = 1024             // requests that wait for a slot of their user's reader
	maxPause    = 10 * time.Second // between starts of a reader that keeps dying
	firstPause  = 100 * time.Millisecond
	sweepPeriod = 10 * time.Second
)

// owner is for whom a reader reads.
type owner struct{ uid, gid uint32 }

// pause keeps a reader that dies from being started all the time.
type pause struct {
	length time.Duration
	until  time.Time
}

// link is the connection to one reader. Client.mu guards all of it.
type link struct {
	id      uint64
	owner   owner
	born    time.Time
	used    time.Time
	conn    *net.UnixConn    // nil until the reader runs
	pending map[uint64]*call // sent and not answered, at most slots
	waiting []*call          // to be sent
	served  bool             // it has answered something
	ended   bool             // no longer in Client.links
}

// linkFor returns the link of o, asking for a reader if there is none, or why
// there is none. Called with mu held.
func (c *Client) linkFor(o owner, now time.Time) (*link, string) {
	l := c.links[o]
	if l != nil && len(l.pending) >= slots && l.stuck(now) {
		c.end(l, reasonHangs)
		l = nil
	}
	if l != nil && len(l.waiting) >= maxWaiting {
		return nil, "too many reads of this user are under way"
	}
	if l != nil {
		return l, ""
	}
	if c.broken {
		return nil, reasonGone
	}
	if now.Before(c.pauses[o].until) {
		return nil, "the reader of this user keeps ending"
	}
	if len(c.links) >= maxLinks && !c.retireOne() {
		return nil, "too many users at once"
	}
	c.seq++
	l = &link{id: c.seq, owner: o, born: now, used: now, pending: make(map[uint64]*call)}
	if !c.order(order{Reader: l.id, UID: o.uid, GID: o.gid}) {
		return nil, reasonGone
	}
	c.links[o] = l
	c.wakeSweeper()
	return l, ""
}

// stuck reports whether l's reader hangs in all that it was sent.
func (l *link) stuck(now time.Time) bool {
	for _, x := range l.pending {
		if now.Sub(x.sent) <= stuckAfter {
			return false
		}
	}
	return len(l.pending) > 0
}

func (l *link) idle() bool { return len(l.pending) == 0 && len(l.waiting) == 0 }

// pump sends what waits, as far as there are slots, all at once. Called with mu held.
func (c *Client) pump(l *link, now time.Time) {
	var frames []byte
	for l.conn != nil && len(l.waiting) > 0 && len(l.pending) < slots && !l.ended {
		x := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.pending[x.seq] = x
		x.sent, l.used = now, now
		frames = appendFrame(frames, x.seq, x.request())
	}
	if frames != nil && !post(l.conn, frames) { // it died, or takes nothing: half a frame cannot be mended
		c.end(l, "the reader of this user accepts no requests")
	}
}

// post writes b without ever waiting and says whether all of it went.
func post(conn *net.UnixConn, b []byte) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	n := 0
	err = raw.Write(func(fd uintptr) bool {
		n, _ = unix.Write(int(fd), b)
		return true
	})
	return err == nil && n == len(b)
}

// connect sets the socket of l. Called with mu held.
func (c *Client) connect(l *link, conn *net.UnixConn) {
	l.conn = conn
	c.tasks.Add(1)
	go c.listen(l, conn)
	c.pump(l, time.Now())
}

// listen takes a reader's answers until it ends or says what it was not asked.
func (c *Client) listen(l *link, conn *net.UnixConn) {
	defer c.tasks.Done()
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		id, payload, err := readFrame(in)
		a, ok := parseAnswer(payload)
		if !ok {
			a = answer{Failed: "the reader's answer makes no sense"}
		}
		c.mu.Lock()
		x := l.pending[id]
		if err != nil || x == nil {
			if !l.ended { // it died by itself, or worse
				c.punish(l)
			}
			c.end(l, "the reader of this user ended")
			c.mu.Unlock()
			return
		}
		delete(l.pending, id)
		now := time.Now()
		l.used, l.served = now, true
		c.finish(x, a)
		c.pump(l, now)
		c.mu.Unlock()
	}
}

// punish makes the next start of l's owner wait. Called with mu held.
func (c *Client) punish(l *link) {
	p := c.pauses[l.owner]
	if p.length = max(firstPause, min(2*p.length, maxPause)); l.served {
		p.length = firstPause
	}
	p.until = time.Now().Add(p.length)
	c.pauses[l.owner] = p
	c.wakeSweeper()
}

// wakeSweeper makes sweeper sweep, because there is a new link or pause.
func (c *Client) wakeSweeper() {
	select {
	case c.unswept <- struct{}{}:
	default:
	}
}

// end takes l out of use, fails what it has not answered and has its process
// killed. Called with mu held; twice does no harm.
func (c *Client) end(l *link, why string) {
	if l.ended {
		return
	}
	l.ended = true
	delete(c.links, l.owner)
	c.order(order{Reader: l.id, End: true})
	if l.conn != nil {
		l.conn.Close() // listen ends
	}
	for _, x := range l.pending {
		c.finish(x, answer{Failed: why})
	}
	for _, x := range l.waiting {
		c.finish(x, answer{Failed: why})
	}
	l.pending, l.waiting = nil, nil
}

// retireOne ends the idle reader that was used least recently. Called with mu held.
func (c *Client) retireOne() bool {
	var oldest *link
	for _, l := range c.links {
		if l.idle() && (oldest == nil || l.used.Before(oldest.used)) {
			oldest = l
		}
	}
	if oldest == nil {
		return false
	}
	c.end(oldest, "")
	return true
}

// sweep ends the readers that are idle, old or hang, and forgets pauses that are over. It reports whether any are
// left.
func (c *Client) sweep(now time.Time) (left bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.links {
		switch {
		case l.idle() && (now.Sub(l.used) > idleAfter || now.Sub(l.born) > oldAfter):
			c.end(l, "")
		case l.stuck(now):
			c.end(l, reasonHangs)
		}
	}
	for o, p := range c.pauses {
		if now.Sub(p.until) > maxPause {
			delete(c.pauses, o)
		}
	}
	return len(c.links)+len(c.pauses) > 0
}

// order sends an order to the broker, without waiting. Called with mu held.
func (c *Client) order(o order) bool {
	packet, err := json.Marshal(o)
	if err != nil {
		panic(err) // numbers
	}
	return post(c.control, packet)
}

// attend receives the answers of a broker, each with the socket of a reader or shim, until the
// broker closes the connection.
func (c *Client) attend(p *brokerProcess) {
	buf, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := p.control.ReadMsgUnix(buf, oob)
		if err != nil || n == 0 {
			break
		}
		conn := socketIn(oob[:oobn])
		var s started
		if json.Unmarshal(buf[:n], &s) != nil {
			s.Failed = "the broker's answer makes no sense"
		}
		c.mu.Lock()
		var l *link
		for _, x := range c.links {
			if x.id == s.Reader {
				l = x
			}
		}
		switch {
		case l == nil && c.runs[s.Reader] != nil:
			c.hear(c.runs[s.Reader], s, conn)
		case l == nil: // given up meanwhile
			if conn != nil {
				conn.Close()
			}
		case s.Failed != "" || conn == nil:
			c.punish(l)
			c.end(l, s.Failed)
		default:
			c.connect(l, conn)
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = true
	for _, l := range c.links { // the readers end with the broker
		c.end(l, reasonGone)
	}
	for _, r := range c.runs { // so do the shims
		c.hear(r, started{Failed: reasonGone, Gone: true}, nil)
	}
}

// socketIn returns the socket that came with a packet, or nil.
func socketIn(oob []byte) *net.UnixConn {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) != 1 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil
	}
	unix.CloseOnExec(fds[0])
	conn, err := unixConn(os.NewFile(uintptr(fds[0]), "reader socket"))
	if err != nil {
		return nil
	}
	return conn
}
