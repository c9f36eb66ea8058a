package world

import (
	"context"
	"errors"
	"iter"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/check"
)

// Collector collects the garbage of a store that is mounted, or that this process has for itself.
// It is a [gc.Collector] whose world are the sessions of the store, the packs of a builder and the
// files that are open in the mount. It is safe for concurrent use.
type Collector struct {
	*gc.Collector
	seen  *storeView
	watch atomic.Pointer[gc.Watch]
}

// New returns a collector, which must be closed before the store.
func New(store *session.Store, packs *builder.Builder, o gc.Options) *Collector {
	seen := &storeView{store: store, builder: packs, rootFd: -1, names: map[string]*names{}}
	return &Collector{Collector: gc.New(seen, o), seen: seen}
}

// Start runs a round every interval, and soon after a gc.policy of a session in use changed, until
// stop is called. stop waits for a round that runs.
func (c *Collector) Start(interval time.Duration) (stop func()) {
	w := c.Watch()
	c.watch.Store(w)
	end := c.Collector.Start(interval)
	return func() {
		end()
		w.Close()
	}
}

// Close closes the descriptor of the store. Plans that need to know what names a content return
// ctxabi.ErrIO from then on.
func (c *Collector) Close() { c.seen.close() }

// OpenFiles counts the open handles of a mount.
type OpenFiles interface {
	// Open returns how many handles are open on the file path of the session with that id, or on all
	// its files if path is "".
	Open(session, path string) int
}

// Mounted connects the collector with the files that are open in the mount that serves its store.
// Mount calls it once, before requests come.
func (c *Collector) Mounted(open OpenFiles) { c.seen.mount.Store(&mount{open}) }

// Use watches the gc.policy of a session that is in use, if the collector was started.
func (c *Collector) Use(x *session.Session) { c.watch.Load().Use(x.Ref(), x.Dir()) }

// storeView is the store, as [gc.Store].
type storeView struct {
	store   *session.Store
	builder *builder.Builder
	mount   atomic.Pointer[mount] // nil: nothing is mounted

	mu     sync.Mutex
	rootFd int               // the store's directory, O_PATH; -1: not opened yet; guarded by mu
	closed bool              // guarded by mu
	names  map[string]*names // by session id; guarded by mu
}

// mount is what the collector knows of a mount of the store.
type mount struct {
	open OpenFiles
}

var _ = (gc.Store)((*storeView)(nil))

func (c *storeView) Now() time.Time                 { return c.store.Now() }
func (c *storeView) Sessions() iter.Seq[ctxabi.Ref] { return c.store.Sessions() }

func (c *storeView) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rootFd >= 0 {
		unix.Close(c.rootFd)
	}
	c.rootFd, c.closed = -1, true
}

// root returns a descriptor of the store's directory, which the caller closes.
func (c *storeView) root() (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return -1, ctxabi.E("collect", "", ctxabi.ErrIO, "the collector was closed")
	}
	if c.rootFd < 0 {
		fd, err := handles.Open(func() (int, error) {
			return unix.Open(c.store.Dir(), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		})
		if err != nil {
			return -1, err
		}
		c.rootFd = fd
	}
	return handles.Open(func() (int, error) { return unix.FcntlInt(uintptr(c.rootFd), unix.F_DUPFD_CLOEXEC, 0) })
}

// maxNames is for how many sessions the names in them are cached.
const maxNames = 64

func (c *storeView) namesOf(id string) *names {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.names[id]
	if n == nil {
		for other := range c.names {
			if len(c.names) < maxNames {
				break
			}
			delete(c.names, other)
		}
		n = &names{}
		c.names[id] = n
	}
	return n
}

func (c *storeView) Glance(ref ctxabi.Ref, was string) (gc.Glance, error) {
	const remembered = " remembered" // a session in use has memory that may go
	mark := ""
	if x := c.store.InUse(ref); x != nil {
		if _, ok := c.builder.Remembered(x); ok {
			mark = remembered
		}
	}
	g, err := c.store.Glance(ref, strings.TrimSuffix(was, remembered))
	if err != nil {
		return gc.Glance{}, err
	}
	stamp := g.Stamp + mark
	return gc.Glance{Stamp: stamp, Derived: g.Derived || mark != "" || g.Policy.ArchiveAfter > 0 || g.Policy.DeleteAfter > 0}, nil
}

func (c *storeView) Session(ref ctxabi.Ref) (gc.Session, error) {
	x, err := c.store.Session(ref)
	if err != nil {
		return nil, err
	}
	return &sweptSession{c: c, x: x}, nil
}

func (c *storeView) Tmp(before time.Time) (list []gc.Item) {
	for _, k := range c.store.Unowned(before) {
		list = append(list, gc.Item{Kind: gc.Tmp, Path: k.Name, Size: k.Size, Used: k.Time})
	}
	return list
}

func (c *storeView) RemoveTmp(it gc.Item) (int64, error) {
	return it.Size, c.store.RemoveUnowned(it.Path)
}

// sweptSession is a session, as [gc.Session].
type sweptSession struct {
	c    *storeView
	x    *session.Session
	rows *blob.Served
}

var _ = (gc.Session)((*sweptSession)(nil))

func (s *sweptSession) Policy() ctxabi.Policy { return s.x.Policy() }

func (s *sweptSession) served() (*blob.Served, error) {
	if s.rows != nil {
		return s.rows, nil
	}
	var err error
	s.rows, err = s.x.Served()
	return s.rows, err
}

func (s *sweptSession) Packs() (list []gc.Pack, err error) {
	k, err := s.served()
	if err != nil {
		return nil, err
	}
	for _, r := range k.Times() {
		list = append(list, gc.Pack{ID: r.ID, At: r.At})
	}
	return list, nil
}

func (s *sweptSession) PackBytes(before time.Time) int64 {
	k, err := s.served()
	if err != nil {
		return 0
	}
	return k.Expired(before)
}

func (s *sweptSession) DropPacks(before time.Time) (rows int, freed int64, err error) {
	k, err := s.served()
	if err != nil {
		return 0, 0, err
	}
	was, _ := k.Size()
	rows, freed, err = k.Drop(before)
	if rows > 0 {
		s.c.builder.Dropped(s.x)
	}
	is, _ := k.Size()
	return rows, freed + max(0, was-is), err
}

func (s *sweptSession) Open(path string) int {
	m := s.c.mount.Load()
	if m == nil {
		return 0
	}
	return m.open.Open(s.x.ID(), path)
}

func (s *sweptSession) Parents(ctx context.Context) (list []string, err error) {
	links, err := s.c.store.Parents(s.x.Ref())
	for _, l := range links {
		if l.Parent != s.x.Ref() {
			list = append(list, path.Join(l.Parent.Agent, l.Parent.Session))
		}
	}
	return list, err
}

func (s *sweptSession) Names(ctx context.Context, ids []string) (map[string]gc.Named, error) {
	root, err := s.c.root()
	if err != nil {
		return nil, err
	}
	defer unix.Close(root)
	var current []byte
	if r, ok := s.c.builder.Remembered(s.x); ok && r.Build != nil {
		current = r.Build.Markdown
	}
	return s.c.namesOf(s.x.ID()).find(ctx, root, s.x, current, ids)
}

// reportName is the derived content that context/gc.report shows.
const reportName = "gc.report"

func (s *sweptSession) SetReport(text []byte) error { return s.x.SetDerived(reportName, text) }

// FileKinds returns the files of a session that the collector keeps, for [check.Fsck].
func FileKinds() []check.FileKind {
	return []check.FileKind{{Name: ctxabi.InternalDir + "/" + reportName, Class: check.Cache,
		Check: check.DerivedFile(func(_ *check.CheckedFile, text []byte) error {
			_, err := gc.ParseReport(text)
			return err
		})}}
}

// Report returns what context/gc.report of a session shows, and when it was written. It returns
// ctxabi.ErrNotFound if the session was removed.
func Report(x *session.Session) ([]byte, time.Time, error) {
	data, err := x.Derived(reportName)
	if x.Removed() {
		return nil, time.Time{}, ctxabi.E("read", ctxabi.GCReportFile, ctxabi.ErrNotFound, "the session was removed")
	}
	if err != nil {
		return gc.NoReport(x.Ref(), x.Policy()), x.Updated(), nil
	}
	at := x.Updated()
	if r, err := gc.ParseReport(data); err == nil {
		at = r.At
	}
	return data, at, nil
}

// Run plans or sweeps a session, as the value of the attribute ctxabi.CollectAttr asks for it. It
// returns ctxabi.ErrMalformed if asked is neither gc.RunPlan nor gc.RunSweep, and ctxabi.ErrIO if
// ctx was cancelled.
func (c *Collector) Run(ctx context.Context, x *session.Session, asked string) error {
	var err error
	switch asked {
	case gc.RunPlan:
		_, err = c.Plan(ctx, x.Ref())
	case gc.RunSweep:
		_, err = c.Sweep(ctx, x.Ref())
	default:
		return ctxabi.E("gc", "", ctxabi.ErrMalformed, "%.40q is neither %s nor %s", asked, gc.RunPlan, gc.RunSweep)
	}
	if errors.Is(err, context.Canceled) {
		return ctxabi.E("gc", "", ctxabi.ErrIO, "it was interrupted; what it removed before stays removed")
	}
	return err
}
