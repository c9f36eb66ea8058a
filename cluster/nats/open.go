package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Options are what an engine needs to know.
type Options struct {
	Servers []string        // URLs: "tls://host:port", or "nats://127.0.0.1:port" on one machine
	Host    string          // name of this host: letters, digits and dashes; nobody else has it
	Auth    []client.Option // credentials and certificates
	Owners  []string        // whom the credentials reach; all if there are none

	// System are the credentials of the system account, which Attest needs. Account is the account of
	// the store, "CTX" if empty.
	System  []client.Option
	Account string

	Timeout time.Duration // of a call; 0: 30 s
	Unsafe  bool          // go on where Open would return ErrUnsafe
}

// Engine is the engine of one host.
type Engine struct {
	opts     Options
	links    pair
	system   pair         // of nil without Options.System
	prefer   atomic.Int32 // index of the link that is asked first
	hedges   atomic.Int64
	open     atomic.Bool // links are set
	denials  denials
	feeds    feeds
	requests requests
	lives    lives
	unsafe   []string
	stop     context.CancelFunc
	ctx      context.Context
}

var _ engine.Engine = (*Engine)(nil)

// Open connects to servers on which Create has been. It returns ErrUnsafe if the cluster does not keep
// what it must, ErrUnreachable, ErrDenied if the credentials are wrong, ErrGone if it is not the store of
// a cluster, and ErrInvalid for options that cannot be. The engine is to be closed.
func Open(ctx context.Context, o Options) (*Engine, error) {
	e, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	reasons, err := e.inspect(ctx)
	if err != nil {
		e.Close()
		return nil, err
	}
	if e.unsafe = append(e.unsafe, reasons...); len(e.unsafe) > 0 && !o.Unsafe {
		e.Close()
		return nil, fmt.Errorf("%w: %s", engine.ErrUnsafe, strings.Join(e.unsafe, "; "))
	}
	return e, nil
}

// connect opens the links and records the reasons why they are unsafe.
func connect(ctx context.Context, o Options) (*Engine, error) {
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Account == "" {
		o.Account = "CTX"
	}
	if len(o.Servers) == 0 || o.Host == "" || strings.Trim(o.Host, hostBytes) != "" {
		return nil, fmt.Errorf("%w: %d servers, host %q", engine.ErrInvalid, len(o.Servers), o.Host)
	}
	for _, owner := range o.Owners {
		if err := engine.CheckOwner(owner); err != nil {
			return nil, err
		}
	}
	e := &Engine{opts: o}
	e.ctx, e.stop = context.WithCancel(context.Background())
	e.feeds.start(e)
	for i := range e.links.conns {
		err := e.dial(ctx, i, o.Auth, &e.links)
		if err == nil && o.System != nil {
			err = e.dial(ctx, i, o.System, &e.system)
		}
		if err != nil {
			e.Close()
			return nil, err
		}
		e.unsafe = append(e.unsafe, linkProblems(e.links.conns[i])...)
	}
	e.open.Store(true)
	slices.Sort(e.unsafe)
	e.unsafe = slices.Compact(e.unsafe)
	return e, nil
}

const hostBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// dial opens the i-th connection of a pair, which prefers the i-th server and keeps away from that of the
// other one. It returns ErrDenied or ErrUnreachable.
func (e *Engine) dial(ctx context.Context, i int, auth []client.Option, p *pair) error {
	servers := slices.Concat(e.opts.Servers[i%len(e.opts.Servers):], e.opts.Servers[:i%len(e.opts.Servers)])
	options := []client.Option{
		client.Name("ctxfs " + e.opts.Host), client.CustomInboxPrefix(Inbox(e.opts.Host)), client.DontRandomize(),
		client.MaxReconnects(-1), client.ReconnectBufSize(-1), client.Timeout(2 * time.Second), client.NoEcho(),
		client.PingInterval(5 * time.Second), client.MaxPingsOutstanding(2), client.PermissionErrOnSubscribe(true),
		client.ErrorHandler(func(_ *client.Conn, s *client.Subscription, err error) { e.note(s, err) }),
		client.FlusherTimeout(5 * time.Second),
		client.ReconnectHandler(func(c *client.Conn) {
			at := c.ConnectedUrl()
			p.at[i].Store(&at)
			if p == &e.links {
				e.feeds.missOver(i)
			}
		}),
		client.DisconnectErrHandler(func(*client.Conn, error) {
			p.at[i].Store(nil)
			if p == &e.links {
				e.choose(1 - i)
			}
		}),
		client.ReconnectToServer(func(list []client.Server, _ client.ServerInfo) (*client.Server, time.Duration) {
			return pick(p.url(1-i), list)
		}),
		func(o *client.Options) error { o.IgnoreDiscoveredServers = true; return nil },
	}
	if slices.ContainsFunc(servers, func(s string) bool { return strings.HasPrefix(s, "tls:") }) {
		options = append(options, client.Secure(&tls.Config{MinVersion: tls.VersionTLS13}))
	}
	var err error
	for {
		var c *client.Conn
		if c, err = client.Connect(strings.Join(servers, ","), append(options, auth...)...); err == nil {
			at := c.ConnectedUrl()
			p.at[i].Store(&at)
			p.conns[i] = c
			return nil
		}
		if errors.Is(err, client.ErrAuthorization) || strings.Contains(err.Error(), "uthorization") {
			return fmt.Errorf("%w: %w", engine.ErrDenied, err)
		}
		if !e.pause(ctx) {
			return fmt.Errorf("%w: %s: %w", engine.ErrUnreachable, strings.Join(servers, " "), err)
		}
	}
}

// pick returns to which server a connection connects again: that with the fewest attempts which is not
// the one at other. The connection is locked meanwhile.
func pick(other string, list []client.Server) (*client.Server, time.Duration) {
	if len(list) == 0 {
		return nil, maxPause
	}
	best := -1
	for k := range list {
		if list[k].URL.String() == other && len(list) > 1 {
			continue
		}
		if best < 0 || list[k].Reconnects < list[best].Reconnects {
			best = k
		}
	}
	best = max(best, 0)
	if list[best].Reconnects == 0 {
		return &list[best], 0
	}
	return &list[best], maxPause / 2
}

// Unsafe returns why the cluster does not keep what it must; nothing if it does.
func (e *Engine) Unsafe() []string { return slices.Clone(e.unsafe) }

// Hedges returns how many requests were answered over another link than the one that was asked first.
func (e *Engine) Hedges() int64 { return e.hedges.Load() }

// Received returns how many bytes the servers have sent: answers, entries that are followed, and requests of other
// hosts, with their headers. It takes no lock.
func (e *Engine) Received() (n int64) {
	for _, c := range e.links.conns {
		if c != nil {
			n += int64(atomic.LoadUint64(&c.InBytes))
		}
	}
	return n
}

// Close ends feeds and connections. Calls that wait for an answer end with ErrUnknown or ErrUnreachable
// at their time limit. It returns nil.
func (e *Engine) Close() error {
	e.stop()
	for _, c := range slices.Concat(e.links.conns[:], e.system.conns[:]) {
		if c != nil {
			c.Close()
		}
	}
	return nil
}
