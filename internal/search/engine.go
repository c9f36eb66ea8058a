package search

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lru"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/session"
)

// Config is how an engine searches. The zero value is right for a daemon but for Count.
type Config struct {
	Count    func(text string) int // exact tokens; nil: ctxabi.Weight
	Wait     time.Duration         // for an index that is not there yet; 0: 2 s. Negative: until it is
	Memory   int                   // bytes of indexes that are kept open; 0: 64 MiB
	Redact   *redact.Redactor      // nil: answers show secrets as they stand in the history
	ReadOnly bool                  // the store is open for reading only
	Limit    *memory.Limit         // of the process; nil: none
	Logger   *slog.Logger          // nil: discard
}

// Engine searches the sessions of one store. It is safe for concurrent use.
type Engine struct {
	store *session.Store
	c     Config
	log   *slog.Logger

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	slot chan struct{} // held by the one builder that is at work

	mu      sync.Mutex
	closed  bool // guarded by mu
	running sync.WaitGroup
	open    lru.Cache[*session.Session, *index] // with their bytes; guarded by mu
}

// New returns an engine for a store, which must outlive it.
func New(store *session.Store, c Config) *Engine {
	if c.Count == nil {
		c.Count = func(text string) int { return ctxabi.Weight(text) }
	}
	if c.Wait == 0 {
		c.Wait = 2 * time.Second
	}
	if c.Memory == 0 {
		c.Memory = c.Limit.Share(64 << 20)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Engine{store: store, c: c, log: c.Logger, slot: make(chan struct{}, 1)}
	c.Limit.Cache(unused{e})
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e
}

// Close stops the builder, and returns when it has ended.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stop()
	e.running.Wait()
}

// start runs fn when no other builder is at work. It gives false when the engine is closed.
func (e *Engine) start(fn func(ctx context.Context)) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.running.Add(1)
	go func() {
		defer e.running.Done()
		select {
		case e.slot <- struct{}{}:
			defer func() { <-e.slot }()
		case <-e.ctx.Done():
		}
		fn(e.ctx)
	}()
	return true
}

// index returns that of a session to be searched, from memory or with nothing read yet. It is kept until release.
func (e *Engine) index(x *session.Session) *index {
	n := e.indexOf(x)
	n.used.Store(x.Store().Now().UnixNano())
	return n
}

func (e *Engine) indexOf(x *session.Session) *index {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n, ok := e.open.Get(x); ok {
		n.users++
		return n
	}
	n := &index{e: e, x: x, work: make(chan struct{}, 1), users: 1}
	e.open.Put(x, n, 0)
	return n
}

// use counts a user of n, who may bring it up to date and did not get it from index.
func (e *Engine) use(n *index) {
	e.mu.Lock()
	n.users++
	e.mu.Unlock()
}

// release is called once for each index and use.
func (e *Engine) release(n *index) {
	e.mu.Lock()
	n.users--
	e.mu.Unlock()
}

// grown takes the present size of an index into account, and lets go of those that were not used for long.
func (e *Engine) grown(n *index) {
	size := n.memory()
	e.mu.Lock()
	defer e.mu.Unlock()
	if known, ok := e.open.Peek(n.x); !ok || known != n {
		return
	}
	e.open.Resize(n.x, int64(size))
	for x, old := range e.open.Oldest() {
		if e.open.Size() <= int64(e.c.Memory) || old == n {
			return
		}
		if old.users == 0 {
			e.open.Remove(x)
		}
	}
}

// unused is the indexes that nobody uses as a cache of memory.Limit.
type unused struct{ *Engine }

func (e unused) Loosen() {}

func (e unused) Size() (n int64) {
	if !e.mu.TryLock() {
		return 0
	}
	defer e.mu.Unlock()
	for x, i := range e.open.Oldest() {
		if i.users == 0 {
			n += e.open.SizeOf(x)
		}
	}
	return n
}

func (e unused) LetGo() {
	if !e.mu.TryLock() {
		return
	}
	defer e.mu.Unlock()
	for x, i := range e.open.Oldest() {
		if i.users == 0 {
			e.open.Remove(x)
		}
	}
}

// waiting is ctx that ends when an index is waited for no longer.
func (e *Engine) waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.c.Wait < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, e.c.Wait)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers
	}
	return b
}
