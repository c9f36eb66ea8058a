package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/cluster/peers"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Kinds of requests between hosts.
const (
	askAppend = "append"
	askHead   = "head"
	askAlive  = "alive" // is answered with the boot of the host
)

// wire reaches the other hosts over the servers.
type wire struct{ u *uplink }

var _ peers.Peers = wire{}

// Alive reports whether a host was heard of lately.
func (w wire) Alive(name string) bool {
	f := w.u.found.Load()
	return f != nil && f.e.Lives(name)
}

// Append asks a host; see [peers.Peers]. It returns peers.ErrNobody, peers.ErrForm, and the errors of [nats.Engine.Ask].
func (w wire) Append(ctx context.Context, name string, a *peers.Append) (*peers.Receipt, error) {
	body, err := w.ask(ctx, name, nats.Request{Kind: askAppend, Owner: a.Subject.Owner, Body: a.Encode()})
	if err != nil {
		return nil, err
	}
	return peers.ParseReceipt(body)
}

// Head asks a host; see [peers.Peers]. It returns the errors of Append.
func (w wire) Head(ctx context.Context, name string, s engine.Subject) (peers.Head, error) {
	body, err := w.ask(ctx, name, nats.Request{Kind: askHead, Owner: s.Owner, Body: []byte(s.Session)})
	if err != nil {
		return peers.Head{}, err
	}
	return peers.ParseHead(body)
}

// ask returns the errors of Ask, with peers.ErrNobody where the host certainly takes nothing. What is denied may be
// another request of the same kind.
func (w wire) ask(ctx context.Context, name string, r nats.Request) ([]byte, error) {
	f := w.u.found.Load()
	if f == nil {
		return nil, fmt.Errorf("%w: the cluster was not reached yet", peers.ErrNobody)
	}
	body, err := f.e.Ask(ctx, name, r)
	if errors.Is(err, nats.ErrNobody) || errors.Is(err, engine.ErrUnreachable) {
		return nil, fmt.Errorf("%w: %w", peers.ErrNobody, err) // nothing was sent
	}
	return body, err
}

// answer answers what another host asks. The owner of a request is the one that the servers have looked at.
func (n *Node) answer(boot string) func(ctx context.Context, r nats.Request) ([]byte, error) {
	return func(ctx context.Context, r nats.Request) ([]byte, error) {
		switch r.Kind {
		case askAlive:
			return []byte(boot), nil
		case askHead:
			head, err := n.TakeHead(ctx, engine.Subject{Owner: r.Owner, Session: string(r.Body)})
			if err != nil {
				return nil, nats.ErrNobody
			}
			return head.Encode(), nil
		case askAppend:
			a, err := peers.ParseAppend(r.Body)
			if err != nil || a.Subject.Owner != r.Owner || n.stopped.Load() != nil {
				return nil, nats.ErrNobody
			}
			receipt, err := n.TakeAppend(ctx, a)
			if err != nil { // it takes nothing of it
				return nil, nats.ErrNobody
			}
			return receipt.Encode(), nil
		}
		return nil, nats.ErrNobody
	}
}

// claim waits until nobody has the name of this host. It returns ctxabi.ErrLocked if somebody has, and
// ctxabi.ErrUnreachable.
func claim(ctx context.Context, e *nats.Engine, name, owner string) error {
	var last uint64     // what was told last
	var since time.Time // when that was seen first
	for {
		there, err := e.Probe(ctx, name, owner, 2*time.Second)
		if err == nil && !there {
			return nil // who had it is gone
		}
		row, told, bad := e.HostRow(ctx, name)
		switch {
		case there:
			at := row.Address
			if at == "" {
				at = "elsewhere"
			}
			return ctxabi.E("mount", "", ctxabi.ErrLocked, "a mount of the cluster is called %q already (%s); give this one another name, with --host", name, at)
		case bad == nil && told == 0:
			return nil // not heard of for long
		case bad == nil && told > last:
			last, since = told, time.Now()
		case bad == nil && time.Since(since) >= nats.HostLife:
			return nil // the servers still have what it told long ago, by their clocks
		}
		select {
		case <-ctx.Done():
			return &ctxabi.Error{Op: "mount", Kind: ctxabi.ErrUnreachable, Err: errors.Join(err, bad), Why: fmt.Sprintf("whether a mount of the cluster is called %q is not known", name)}
		case <-time.After(time.Second):
		}
	}
}

// live publishes the row of the host until the node ends.
func (n *Node) live(e *nats.Engine, row nats.HostRow) {
	tick := time.NewTicker(nats.Beat)
	defer tick.Stop()
	for {
		count, oldest := n.Followed()
		row.Sessions, row.BehindMs = count, 0
		if late := time.Since(oldest); count > 0 && !oldest.IsZero() && late > 2*host.ConfirmEvery {
			row.BehindMs = late.Milliseconds()
		}
		row.Stuck = stuckRows(n.Stuck())
		if err := e.Tell(row); err != nil {
			n.log.Debug("nobody is told that this host lives", "err", err)
		}
		select {
		case <-tick.C:
		case <-n.ctx.Done():
			row.Left = true
			e.Tell(row)
			return
		}
	}
}

// maxStuck is how many journals a host names that it cannot continue, and maxWhy how long the reason is.
const (
	maxStuck = 8
	maxWhy   = 300
)

// stuckRows returns the first of the journals that a host cannot continue as it tells them.
func stuckRows(list []host.Stuck) (rows []nats.StuckRow) {
	for _, s := range list[:min(len(list), maxStuck)] {
		why := s.Why.Error()
		rows = append(rows, nats.StuckRow{Owner: s.Subject.Owner, Session: s.Subject.Session, Seq: s.Seq, Why: strings.ToValidUTF8(why[:min(len(why), maxWhy)], "")})
	}
	return rows
}

// told looks at what a host tells of itself: the one of two with the same name that began earlier gives up.
func (n *Node) told(mine nats.HostRow) func(nats.HostRow) {
	return func(row nats.HostRow) {
		if row.Host != mine.Host || row.Boot == mine.Boot || row.Left || n.stopped.Load() != nil {
			return
		}
		if row.Since.Before(mine.Since) || row.Since.Equal(mine.Since) && row.Boot < mine.Boot {
			return // that one gives up
		}
		var err error = ctxabi.E("commit", "", ctxabi.ErrDenied, "another mount of the cluster is called %q, too (%s), and began later; unmount one of both", row.Host, row.Address)
		n.stopped.Store(&err)
		n.log.Error("this mount commits nothing any more", "err", err)
	}
}

// address describes this process for people.
func address() string {
	machine, err := os.Hostname()
	if err != nil {
		machine = "a machine without a name"
	}
	return fmt.Sprintf("%s, pid %d", machine, os.Getpid())
}
