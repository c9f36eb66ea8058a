package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/gate"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Options say how a node reaches its cluster.
type Options struct {
	Nats      nats.Options  // servers and credentials; Host is the name of the host, Unsafe goes on where Open would refuse
	Known     string        // id of the cluster that the store is of already, see StoreOf; "": of none yet
	Freshness time.Duration // how old what is shown may be; 0: every look-up asks
	Timeout   time.Duration // of a commit; 0: host.Timeout
	Version   string        // of this program, for others to see
	Logger    *slog.Logger  // nil: discard
}

const (
	arriveWithin = time.Minute     // of one more attempt to reach the cluster
	retryAfter   = 2 * time.Second // before the next one
)

// Open returns a node that others can reach. It returns the errors of nats.Open, ctxabi.ErrLocked if another mount
// has the host's name, and ctxabi.ErrUnreachable. Where the cluster is not reached before ctx ends, and Options.Known
// says that the store has copies of what is in it, Open returns a node all the same: what it has can be read, what
// needs the cluster waits, and the node goes on trying. The node is to be closed.
func Open(ctx context.Context, o Options) (*Node, error) {
	if o.Timeout == 0 {
		o.Timeout = host.Timeout
	}
	o.Nats.Timeout = o.Timeout
	u := &uplink{o: o, late: newLate(o.Timeout)}
	f, err := u.find(ctx)
	if err != nil {
		if !isUnreachable(err) || o.Known == "" {
			return nil, err
		}
		u.note(err)
		n := u.node(o.Known, u.late)
		n.parts.run = append(n.parts.run, func(context.Context) { n.arrive(u) })
		return n, nil
	}
	n := u.node(f.cluster, f.e)
	if err := n.join(u, f); err != nil {
		n.Close()
		f.e.Close()
		return nil, err
	}
	return n, nil
}

// isUnreachable reports whether an error may be one of a cluster that is down.
func isUnreachable(err error) bool {
	return errors.Is(err, engine.ErrUnreachable) || errors.Is(err, ctxabi.ErrUnreachable)
}

// uplink is how a node reaches its cluster, perhaps after the node began.
type uplink struct {
	o Options
	*late
	found atomic.Pointer[found] // nil: not yet
}

// found is a cluster that was reached.
type found struct {
	cluster string // id of its store
	e       *nats.Engine
	gate    *gate.Gate
}

// find reaches the cluster, and waits until nobody has the name of this host. It returns the errors of Open.
func (u *uplink) find(ctx context.Context) (*found, error) {
	e, err := nats.Open(ctx, u.o.Nats)
	if err != nil {
		return nil, err
	}
	owner := "u0"
	if len(u.o.Nats.Owners) > 0 {
		owner = u.o.Nats.Owners[0]
	}
	s, err := e.Statement(ctx)
	if err == nil {
		err = claim(ctx, e, u.o.Nats.Host, owner)
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return &found{s.Store, e, gate.New(e)}, nil
}

// node returns a node of a cluster whose other parts wait for the uplink.
func (u *uplink) node(cluster string, e engine.Engine) *Node {
	n := New(Setup{
		Name: u.o.Nats.Host, Cluster: cluster, Engine: e, Peers: wire{u}, Owners: u.owners,
		Freshness: u.o.Freshness, Timeout: u.o.Timeout, Logger: u.o.Logger,
	})
	n.parts.gate, n.extra, n.away = u.pass, u.status, u.missing
	return n
}

// join makes the node one that others can reach, and the uplink one that is there. It returns ctxabi.ErrUnreachable.
func (n *Node) join(u *uplink, f *found) error {
	row := nats.HostRow{Host: n.o.Name, Boot: strings.ToLower(rand.Text()), Version: u.o.Version, Since: time.Now().UTC(), Address: address()}
	err := f.e.WatchHosts(n.told(row))
	if err == nil {
		err = f.e.Serve(n.answer(row.Boot))
	}
	if err != nil {
		return &ctxabi.Error{Op: "mount", Kind: ctxabi.ErrUnreachable, Err: err, Why: "other hosts cannot reach this one"}
	}
	u.found.Store(f)
	u.set(f.e)
	n.tasks.Go(func() { n.live(f.e, row) })
	n.tasks.Go(func() { f.gate.Watch(n.ctx) })
	n.shut = append(n.shut, func() { f.e.Close() })
	return nil
}

// arrive tries to reach the cluster until that succeeds or the node ends, and logs what keeps it from that.
func (n *Node) arrive(u *uplink) {
	n.log.Warn("the cluster is not reached: what this host has can be read, and appends wait", "err", u.missing())
	for {
		err := n.tryArrive(u)
		if n.ctx.Err() != nil {
			return
		}
		if err == nil {
			n.log.Info("the cluster is reached")
			return
		}
		if err.Error() != u.missing().Error() {
			n.log.Warn("the cluster is not reached", "err", err)
		}
		u.note(err)
		select {
		case <-time.After(retryAfter):
		case <-n.ctx.Done():
			return
		}
	}
}

// tryArrive tries it once. It returns the errors of Open, and ctxabi.ErrProtected if it is another cluster than the
// store's.
func (n *Node) tryArrive(u *uplink) error {
	ctx, cancel := context.WithTimeout(n.ctx, arriveWithin)
	defer cancel()
	f, err := u.find(ctx)
	if err != nil {
		return err
	}
	if f.cluster != n.o.Cluster {
		err = otherCluster(n.store.Load(), n.o.Cluster, f.cluster)
	} else {
		err = n.join(u, f)
	}
	if err != nil {
		f.e.Close()
	}
	return err
}

// owners returns the owners that have a journal. It returns engine.ErrUnreachable.
func (u *uplink) owners(ctx context.Context) ([]string, error) {
	if _, err := u.get(ctx); err != nil {
		return nil, err
	}
	return u.found.Load().e.Owners(ctx)
}

// pass returns the errors of [gate.Gate.Pass].
func (u *uplink) pass(ctx context.Context, s engine.Subject) error {
	if _, err := u.get(ctx); err != nil {
		return err
	}
	return u.found.Load().gate.Pass(ctx, s)
}

// status returns what is known of the servers and the other hosts.
func (u *uplink) status() [][2]string {
	list := [][2]string{{"cluster_servers", strings.Join(u.o.Nats.Servers, ",")}}
	f := u.found.Load()
	if f == nil {
		return list
	}
	if why := f.e.Unsafe(); len(why) > 0 {
		list = append(list, [2]string{"cluster_unsafe", strings.Join(why, "; ")})
	}
	var hosts []string
	for _, r := range f.e.Living() {
		hosts = append(hosts, r.Host)
	}
	waited, refused, unattested := f.gate.Stats()
	return append(list, [2]string{"cluster_hosts", strings.Join(hosts, ",")}, [2]string{"cluster_hedges", fmt.Sprint(f.e.Hedges())},
		[2]string{"cluster_first_copies_waited", fmt.Sprint(waited)}, [2]string{"cluster_first_copies_refused", fmt.Sprint(refused)},
		[2]string{"cluster_unattested_shards", fmt.Sprint(unattested)}, [2]string{"cluster_received_bytes", fmt.Sprint(f.e.Received())})
}
