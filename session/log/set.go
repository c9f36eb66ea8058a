package log

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/session/archive"
)

// Open logs cost logHandles descriptors, their index and their last request keys.
// They are closed after idleTicks ticks without use, or earlier when they have more
// than handles.Idle descriptors, or when these are needed elsewhere.
const (
	LogHandles = 2
	idleTick   = 30 * time.Second
	IdleTicks  = 10
)

// Limits are the sizes at which a log changes its method. Tests lower them.
type Limits struct {
	InMemory  int64 // bytes of an incomplete record that a stage keeps in memory; a larger one goes to a file
	SealMin   int64 // new bytes that a log must have to be sealed
	Frame     int   // bytes of records in a frame of a sealed part, about
	Resident  int   // rows of an index that are all kept in memory; of more, those that are used
	Held      int   // chunks of them that are in memory at most
	MarkEvery int64 // bytes of arrival rows between two places of which the time is remembered
}

// DefaultLimits returns the limits of a daemon.
func DefaultLimits() Limits {
	return Limits{InMemory: 64 << 10, SealMin: SealMin, Frame: 256 << 10, Resident: 64 << 10, Held: 128, MarkEvery: 256 << 10}
}

// Set tracks the open logs. Its janitor closes idle logs and writes their caches to the disk;
// Store.Close waits for it.
type Set struct {
	memory  *memory.Limit // nil: none
	limits  *Limits
	frames  archive.Cache
	windows archive.Windows
	closed  atomic.Bool // the lock on the store is gone, or about to go: no log is opened any more

	clock atomic.Int64 // ticks so far
	quit  chan struct{}
	done  chan struct{}
	keep  func() // ends what start asked of package handles

	mu   sync.Mutex
	logs map[*Log]struct{} // guarded by mu
}

// Init makes o the logs of a store. It is called once, before o is used.
func (o *Set) Init(m *memory.Limit, limits *Limits) {
	o.memory, o.limits = m, limits
	o.logs = map[*Log]struct{}{}
}

// Start starts the janitor.
func (o *Set) Start() {
	o.quit, o.done = make(chan struct{}), make(chan struct{})
	o.keep = handles.OnShortage(o.Shed)
	go func() {
		defer close(o.done)
		t := time.NewTicker(idleTick)
		defer t.Stop()
		for {
			select {
			case <-o.quit:
				return
			case <-t.C:
				o.Tick()
			}
		}
	}()
}

// Stop ends the janitor, where it was started, and waits for it.
func (o *Set) Stop() {
	if o.quit != nil {
		o.keep()
		close(o.quit)
		<-o.done
	}
}

// Tick moves the clock and closes what has been idle for idleTicks of it.
func (o *Set) Tick() {
	now := o.clock.Add(1)
	o.windows.Tick()
	for _, l := range o.List() {
		if now-l.used.Load() >= IdleTicks {
			o.close(l)
		} else {
			l.saveIndex()
		}
	}
}

// List returns the logs that are open.
func (o *Set) List() []*Log {
	o.mu.Lock()
	defer o.mu.Unlock()
	logs := make([]*Log, 0, len(o.logs))
	for l := range o.logs {
		logs = append(logs, l)
	}
	return logs
}

// add notes that l is open now, and closes the longest unused log when that
// makes too many. The caller holds l.mu; others' are only tried.
func (o *Set) add(l *Log) {
	o.mu.Lock()
	o.logs[l] = struct{}{}
	var oldest *Log
	if len(o.logs)*LogHandles > handles.Idle() {
		for c := range o.logs {
			if c != l && (oldest == nil || c.used.Load() < oldest.used.Load()) {
				oldest = c
			}
		}
	}
	o.mu.Unlock()
	if oldest != nil {
		o.close(oldest)
	}
}

// close closes a log that nobody uses at the moment. A broken log stays open: opening it anew would
// trust its disk again.
func (o *Set) close(l *Log) { o.closeAfter(l, (*logIndex).saveLocked) }

// Shed closes all logs that nobody uses at the moment, because descriptors are needed. What their
// indexes have not written is made again: to write it would need descriptors, and locks that the
// caller may have.
func (o *Set) Shed() (closed int) {
	for _, l := range o.List() {
		if o.closeAfter(l, func(*logIndex) {}) {
			closed += LogHandles
		}
	}
	return closed
}

func (o *Set) closeAfter(l *Log, save func(x *logIndex)) bool {
	if l.broken.Load() || l.full.Load() {
		return false
	}
	// Only tried: the caller may hold locks of another log.
	x := l.made.Load()
	if x != nil {
		if !x.mu.TryLock() {
			return false
		}
		defer x.mu.Unlock()
		save(x)
	}
	if !l.mu.TryLock() {
		return false
	}
	defer l.mu.Unlock()
	if l.files == nil || l.users > 0 {
		return false
	}
	l.files.close()
	l.files = nil
	if x != nil {
		x.dropLocked()
	}
	o.forget(l)
	return true
}

// forget notes that l is not open any more.
func (o *Set) forget(l *Log) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.logs, l)
}

// indexes is the indexes of open logs as a cache of memory.Limit. One that somebody has a snapshot
// of would only be there twice if it were dropped.
type indexes struct{ logs *Set }

// each calls do for the indexes that nobody brings up to date at the moment.
func (c indexes) each(do func(x *logIndex)) {
	for _, l := range c.logs.List() {
		if x := l.made.Load(); x != nil && x.mu.TryLock() {
			do(x)
			x.mu.Unlock()
		}
	}
}

// Loosen forgets the snapshots, so that only those are there that somebody uses.
func (c indexes) Loosen() {
	c.each(func(x *logIndex) { x.snapshot = nil })
}

// Size returns what the indexes take of memory that nobody uses.
func (c indexes) Size() (n int64) {
	c.each(func(x *logIndex) {
		if x.use.Value() == nil {
			n += x.bytes.Load()
		}
	})
	return n
}

// LetGo drops them. What was not written out is read again.
func (c indexes) LetGo() {
	c.each(func(x *logIndex) {
		if x.use.Value() == nil {
			x.dropLocked()
		}
	})
}

// CloseRemoved closes the files of a log whose session was removed; those that somebody reads at
// this moment are closed when they are idle.
func (l *Log) CloseRemoved() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil || l.users > 0 {
		return
	}
	l.files.close()
	l.files = nil
	l.set.forget(l)
}

// Sync makes everything that is committed in any open log survive the loss of power. It returns
// ctxabi.ErrIO of disks that could not take all.
func (o *Set) Sync() error {
	var failed error
	for _, l := range o.List() {
		failed = errors.Join(failed, l.syncAll())
	}
	return failed
}

// Refuse makes every later opening of a log of the set fail.
func (o *Set) Refuse() { o.closed.Store(true) }

// Cache is the indexes of open logs as a cache of [memory.Limit].
func (o *Set) Cache() memory.Cache { return indexes{o} }
