package node

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/carry"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/files"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/names/keeper"
	"github.com/ctxfs/ctxfs/cluster/peers"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
)

const (
	// Freshness is how old what is shown may be unless options say otherwise.
	Freshness = time.Second
	// Bound is how long a look-up waits for the cluster where there is something that can be shown.
	Bound = 500 * time.Millisecond
	// Idle is how long an owner or a session is followed after it was looked at last.
	Idle = 10 * time.Minute
)

// Setup is what a node is made of on any engine.
type Setup struct {
	Name      string // of the host
	Cluster   string // id of the cluster's store
	Engine    engine.Engine
	Peers     peers.Peers                                 // nil: there are no other hosts to ask
	Owners    func(ctx context.Context) ([]string, error) // that have a journal; nil: nobody knows
	Freshness time.Duration                               // 0: every look-up asks
	Timeout   time.Duration                               // of a commit; 0: host.Timeout
	Idle      time.Duration                               // 0: Idle
	Logger    *slog.Logger                                // nil: discard
}

// Node is one mount of a cluster. It is the Committer of its store. It is safe for concurrent use.
type Node struct {
	*host.Host // the committer; some of its methods are the node's own
	o          Setup
	log        *slog.Logger
	keeper     *keeper.Keeper
	files      *files.Files
	parts      parts
	store      atomic.Pointer[session.Store]
	began      time.Time
	ctx        context.Context
	end        context.CancelFunc
	tasks      sync.WaitGroup
	stopped    atomic.Pointer[error] // why nothing is committed any more; nil: it is
	opened     func(id string) int   // how many handles are open on a session; set by Opened
	extra      func() [][2]string    // more for Status; nil: nothing
	away       func() error          // why the cluster was not reached yet, or nil; nil: it is always there
	shut       []func()              // behind all else, at the end

	step  func(what string) error // before each step of carrying a session; a test makes it fail
	known sync.Map                // ids of sessions that are in the cluster

	mu       sync.Mutex
	owners   map[string]*entered        // by their names in subjects; guarded by mu
	sessions map[*session.Session]*seen // guarded by mu
	listed   []ctxabi.Ref               // owners that have a journal; guarded by mu
	listedAt time.Time                  // guarded by mu
	listing  flight
}

// New returns a node, which is the Committer of the store's options. The store is then handed to Attach.
func New(o Setup) *Node {
	if o.Timeout == 0 {
		o.Timeout = host.Timeout
	}
	if o.Idle == 0 {
		o.Idle = Idle
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	n := &Node{o: o, log: o.Logger, began: time.Now(), owners: map[string]*entered{}, sessions: map[*session.Session]*seen{}, opened: func(string) int { return 0 }}
	n.ctx, n.end = context.WithCancel(context.Background())
	n.parts = newParts(n)
	n.files = files.New(files.Options{Freshness: o.Freshness, Logger: o.Logger})
	n.keeper = keeper.New(keeper.Options{Engine: o.Engine, Host: o.Name, Timeout: o.Timeout, Logger: o.Logger, Changing: n.files.Changing, Keep: carry.Keep})
	n.files.Attach(n.keeper)
	n.Host = host.New(host.Options{
		Name: o.Name, Engine: o.Engine, Peers: o.Peers, Names: committer{n}, Timeout: o.Timeout, Logger: o.Logger,
		InUse:    func(id string) bool { return n.opened(id) > 0 },
		Handlers: n.parts.handlers, Restore: n.parts.restore, Resume: n.parts.resume, Parked: n.parts.parked,
	})
	return n
}

// Parts is for Options of the store: what reads sealed parts that have no file in it.
func (n *Node) Parts() archive.Source { return n.parts.source }

// Keeper returns what keeps the names of owners.
func (n *Node) Keeper() *keeper.Keeper { return n.keeper }

// Files returns what shares ordinary files, for Options of the mount.
func (n *Node) Files() *files.Files { return n.files }

// Engine returns the engine.
func (n *Node) Engine() engine.Engine { return n.o.Engine }

// Name returns the name of the host.
func (n *Node) Name() string { return n.o.Name }

// Opened has the node ask open how many handles are open on the session with an id. It is called before the mount
// answers.
func (n *Node) Opened(open func(id string) int) { n.opened = open }

// Attach makes s the store of the node. It is called once, before anything is asked of the node. It returns
// ctxabi.ErrProtected if the store is of another cluster, and the error of the disk.
func (n *Node) Attach(s *session.Store) error {
	if err := markStore(s, mark{n.o.Cluster, n.o.Name}); err != nil {
		return err
	}
	if err := n.keeper.Attach(s); err != nil {
		return err
	}
	n.Host.Attach(s)
	n.store.Store(s)
	n.tasks.Go(n.sweep)
	for _, f := range n.parts.run {
		n.tasks.Go(func() { f(n.ctx) })
	}
	return nil
}

// Close ends all that is under way, which fails, and waits for it. The store is closed after that. It returns
// the error of a disk that cannot take the copies of journals; they are read again then.
func (n *Node) Close() (err error) {
	n.end()
	for _, f := range n.parts.close {
		f()
	}
	n.Host.Close()
	n.tasks.Wait()
	if n.store.Load() != nil {
		err = n.keeper.Close()
	}
	for _, f := range n.shut {
		f()
	}
	return err
}

// sweep ends the following of what was not looked at for long, until the node ends.
func (n *Node) sweep() {
	tick := time.NewTicker(n.o.Idle / 10)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			n.leaveOwners(now.Add(-n.o.Idle))
			n.leaveSessions(now.Add(-n.o.Idle))
		case <-n.ctx.Done():
			return
		}
	}
}
