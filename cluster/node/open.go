package node

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/gate"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Options say how a node reaches its cluster.
type Options struct {
	Nats      nats.Options  // servers and credentials; Host is the name of the host, Unsafe goes on where Open would refuse
	Freshness time.Duration // how old what is shown may be; 0: every look-up asks
	Timeout   time.Duration // of a commit; 0: host.Timeout
	Version   string        // of this program, for others to see
	Logger    *slog.Logger  // nil: discard
}

// Open returns a node that others can reach. It returns the errors of nats.Open, ctxabi.ErrLocked if another mount
// has the host's name, and ctxabi.ErrUnreachable. The node is to be closed.
func Open(ctx context.Context, o Options) (*Node, error) {
	if o.Timeout > 0 {
		o.Nats.Timeout = o.Timeout
	}
	e, err := nats.Open(ctx, o.Nats)
	if err != nil {
		return nil, err
	}
	n, err := open(ctx, o, e)
	if err != nil {
		e.Close()
		return nil, err
	}
	return n, nil
}

// open is Open with the engine, which stays open if it fails.
func open(ctx context.Context, o Options, e *nats.Engine) (*Node, error) {
	s, err := e.Statement(ctx)
	if err != nil {
		return nil, err
	}
	name, owner := o.Nats.Host, "u0"
	if len(o.Nats.Owners) > 0 {
		owner = o.Nats.Owners[0]
	}
	if err := claim(ctx, e, name, owner); err != nil {
		return nil, err
	}
	n := New(Setup{
		Name: name, Cluster: s.Store, Engine: e, Peers: wire{e}, Owners: e.Owners,
		Freshness: o.Freshness, Timeout: o.Timeout, Logger: o.Logger,
	})
	g := gate.New(e)
	n.parts.gate = g.Pass
	row := nats.HostRow{Host: name, Boot: strings.ToLower(rand.Text()), Version: o.Version, Since: n.began.UTC(), Address: address()}
	err = e.WatchHosts(n.told(row))
	if err == nil {
		err = e.Serve(n.answer(row.Boot))
	}
	if err != nil {
		n.Close()
		return nil, &ctxabi.Error{Op: "mount", Kind: ctxabi.ErrUnreachable, Err: err, Why: "other hosts cannot reach this one"}
	}
	n.tasks.Go(func() { n.live(e, row) })
	n.tasks.Go(func() { g.Watch(n.ctx) })
	n.shut = append(n.shut, func() { e.Close() })
	n.extra = func() [][2]string {
		list := [][2]string{{"cluster_servers", strings.Join(o.Nats.Servers, ",")}}
		if why := e.Unsafe(); len(why) > 0 {
			list = append(list, [2]string{"cluster_unsafe", strings.Join(why, "; ")})
		}
		var hosts []string
		for _, r := range e.Living() {
			hosts = append(hosts, r.Host)
		}
		waited, refused, unattested := g.Stats()
		return append(list, [2]string{"cluster_hosts", strings.Join(hosts, ",")}, [2]string{"cluster_hedges", fmt.Sprint(e.Hedges())},
			[2]string{"cluster_first_copies_waited", fmt.Sprint(waited)}, [2]string{"cluster_first_copies_refused", fmt.Sprint(refused)},
			[2]string{"cluster_unattested_shards", fmt.Sprint(unattested)})
	}
	return n, nil
}
