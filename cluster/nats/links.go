package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"
)

// pair is two connections to different servers.
type pair struct {
	conns [2]*client.Conn           // set before anybody else sees the engine
	at    [2]atomic.Pointer[string] // URLs of the servers; nobody asks a connection for it, because that locks
}

// url returns the server of the i-th connection, or "".
func (p *pair) url(i int) string {
	if s := p.at[i].Load(); s != nil {
		return *s
	}
	return ""
}

// note takes an error that a connection reports on its own.
func (e *Engine) note(s *client.Subscription, err error) {
	if errors.Is(err, client.ErrSlowConsumer) {
		e.feeds.missAll()
	}
	e.denials.note(err)
}

// linkProblems returns the reasons why a connection is unsafe, none if it is safe.
func linkProblems(c *client.Conn) (list []string) {
	if v := c.ConnectedServerVersion(); !atLeast(v, minVersion) {
		list = append(list, fmt.Sprintf("server %s is %s, older than %s", c.ConnectedServerName(), v, minVersion))
	}
	state, err := c.TLSConnectionState()
	if err == nil && state.Version >= tls.VersionTLS13 || loopback(c.ConnectedUrl()) {
		return list
	}
	return append(list, c.ConnectedUrlRedacted()+" is reached without TLS 1.3")
}

// loopback reports whether a URL does not leave the machine.
func loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// minVersion is the oldest server that keeps what it acknowledges.
const minVersion = "2.15.2"

// atLeast reports whether a version is not older than another one. What stands behind a dash does not
// count, but for making it older than the same without.
func atLeast(version, least string) bool {
	var v, l [3]int
	version, before, _ := strings.Cut(version, "-")
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); n != 3 {
		return false
	}
	fmt.Sscanf(least, "%d.%d.%d", &l[0], &l[1], &l[2])
	c := slices.Compare(v[:], l[:])
	return c > 0 || c == 0 && before == ""
}

// restricted reports whether the credentials reach some owners alone.
func (e *Engine) restricted() bool { return len(e.opts.Owners) > 0 }

// choose makes a link the one that is asked first, and moves the feeds there.
func (e *Engine) choose(link int) {
	if !e.open.Load() || e.links.url(link) == "" {
		return
	}
	if int(e.prefer.Swap(int32(link))) != link {
		e.feeds.move(link)
	}
}

// pause waits a moment. It reports whether ctx goes on.
func (e *Engine) pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
	case <-e.ctx.Done():
	case <-time.After(50 * time.Millisecond):
		return true
	}
	return false
}
