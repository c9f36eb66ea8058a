package fs

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
	"github.com/ctxfs/ctxfs/pack/build"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
)

// Collector collects the garbage of a store that is mounted, or that this process has for itself. It is the [gc.Collector] with
// what that has to be told: what sessions hold and name, and what is open in the mount.
type Collector struct {
	*gc.Collector
	seen  *collected
	watch atomic.Pointer[gc.Watch]
}

// NewCollector makes a collector; the store must outlive it.
func NewCollector(store *session.Store, builder *build.Builder, o gc.Options) *Collector {
	seen := &collected{store: store, builder: builder, rootFd: -1, names: map[string]*names{}}
	return &Collector{Collector: gc.New(seen, o), seen: seen}
}

// Start begins to collect, every interval and when a gc.policy of a session in use changes; stop ends that.
func (c *Collector) Start(interval time.Duration) (stop func()) {
	w := c.Watch()
	c.watch.Store(w)
	end := c.Collector.Start(interval)
	return func() {
		end()
		w.Close()
	}
}

// Close lets go of what the collector has open.
func (c *Collector) Close() { c.seen.close() }

// use says that a session is in use.
func (c *Collector) use(x *session.Session) { c.watch.Load().Use(x.Ref(), x.Dir()) }

// collected is the store as the collector sees it.
type collected struct {
	store   *session.Store
	builder *build.Builder
	open    atomic.Pointer[openFiles]     // of the mount; nil: nothing is mounted
	search  atomic.Pointer[search.Engine] // of the mount

	mu     sync.Mutex
	rootFd int               // the store's directory, O_PATH; -1: not opened yet; guarded by mu
	closed bool              // guarded by mu
	names  map[string]*names // by session id; guarded by mu
}

var _ = (gc.Store)((*collected)(nil))

func (c *collected) Now() time.Time                 { return c.store.Now() }
func (c *collected) Sessions() iter.Seq[ctxabi.Ref] { return c.store.Sessions() }

func (c *collected) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rootFd >= 0 {
		unix.Close(c.rootFd)
	}
	c.rootFd, c.closed = -1, true
}

// root gives a descriptor of the store's directory that the caller closes.
func (c *collected) root() (int, error) {
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

// maxNames is of how many sessions it is remembered what they name.
const maxNames = 64

func (c *collected) namesOf(id string) *names {
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

func (c *collected) Look(ref ctxabi.Ref, was string) (gc.Look, error) {
	const remembered = " remembered" // a session in use has memory that may go
	mark := ""
	if x := c.store.InUse(ref); x != nil {
		if _, ok := c.builder.Remembered(x); ok {
			mark = remembered
		}
	}
	g, err := c.store.Glance(ref, strings.TrimSuffix(was, remembered))
	if err != nil {
		return gc.Look{}, err
	}
	stamp := g.Stamp + mark
	return gc.Look{Stamp: stamp, Derived: g.Derived || mark != "" || g.Policy.ArchiveAfter > 0 || g.Policy.DeleteAfter > 0}, nil
}

func (c *collected) Session(ref ctxabi.Ref) (gc.Session, error) {
	x, err := c.store.Session(ref)
	if err != nil {
		return nil, err
	}
	return &collectedSession{c: c, x: x}, nil
}

func (c *collected) Tmp(before time.Time) (list []gc.Item) {
	for _, k := range c.store.Unowned(before) {
		list = append(list, gc.Item{Kind: gc.Tmp, Path: k.Name, Size: k.Size, Used: k.Time})
	}
	return list
}

func (c *collected) RemoveTmp(it gc.Item) (int64, error) {
	return it.Size, c.store.RemoveUnowned(it.Path)
}

// collectedSession is a session as the collector sees it, for one plan and the sweep after it.
type collectedSession struct {
	c    *collected
	x    *session.Session
	kept *session.Served
}

var _ = (gc.Session)((*collectedSession)(nil))

func (s *collectedSession) Policy() ctxabi.Policy { return s.x.Policy() }

func (s *collectedSession) served() (*session.Served, error) {
	if s.kept != nil {
		return s.kept, nil
	}
	var err error
	s.kept, err = s.x.Served()
	return s.kept, err
}

func (s *collectedSession) Packs() (list []gc.Pack, err error) {
	k, err := s.served()
	if err != nil {
		return nil, err
	}
	for _, r := range k.Times() {
		list = append(list, gc.Pack{ID: r.ID, At: r.At})
	}
	return list, nil
}

func (s *collectedSession) PackBytes(before time.Time) int64 {
	k, err := s.served()
	if err != nil {
		return 0
	}
	return k.Expired(before)
}

func (s *collectedSession) DropPacks(before time.Time) (rows int, freed int64, err error) {
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

func (s *collectedSession) Open(path string) int {
	o := s.c.open.Load()
	if o == nil {
		return 0
	}
	return o.open(s.x.ID(), path)
}

func (s *collectedSession) Parents(ctx context.Context) (list []string, err error) {
	links, err := s.c.store.Parents(s.x.Ref())
	for _, l := range links {
		if l.Parent != s.x.Ref() {
			list = append(list, path.Join(l.Parent.Agent, l.Parent.Session))
		}
	}
	return list, err
}

func (s *collectedSession) Names(ctx context.Context, ids []string) (map[string]gc.Named, error) {
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

func (s *collectedSession) SetReport(text []byte) error { return s.x.SetDerived(reportName, text) }

// FileKinds are the files of a session that the collector keeps, for [session.Fsck].
func FileKinds() []session.FileKind {
	return []session.FileKind{{Name: ctxabi.InternalDir + "/" + reportName, Class: session.Cache,
		Check: session.DerivedFile(func(_ *session.CheckedFile, text []byte) error {
			_, err := gc.ParseReport(text)
			return err
		})}}
}

// gcReport is context/gc.report.
func (p *place) gcReport() ([]byte, time.Time, error) {
	data, err := p.x.Derived(reportName)
	if p.x.Removed() {
		return nil, time.Time{}, ctxabi.E("read", ctxabi.GCReportFile, ctxabi.ErrNotFound, "the session was removed")
	}
	if err != nil {
		return gc.NoReport(p.x.Ref(), p.x.Policy()), p.x.Updated(), nil
	}
	at := p.x.Updated()
	if r, err := gc.ParseReport(data); err == nil {
		at = r.At
	}
	return data, at, nil
}

// collectNow answers who sets the attribute ctxabi.CollectAttr.
func (c *Collector) collectNow(ctx context.Context, x *session.Session, asked string) error {
	late, cancel := patient(ctx)
	defer cancel()
	var err error
	switch asked {
	case gc.RunPlan:
		_, err = c.Plan(late, x.Ref())
	case gc.RunSweep:
		_, err = c.Sweep(late, x.Ref())
	default:
		return ctxabi.E("gc", "", ctxabi.ErrMalformed, "%.40q is neither %s nor %s", asked, gc.RunPlan, gc.RunSweep)
	}
	if errors.Is(err, context.Canceled) {
		return ctxabi.E("gc", "", ctxabi.ErrIO, "it was interrupted; what it removed by then is gone")
	}
	return err
}
