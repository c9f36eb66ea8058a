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
	open    lru.Cache[string, *index] // by owner, with their bytes; guarded by mu
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
	if !c.ReadOnly {
		store.Watch(e)
	}
	return e
}

// Close stops the builder and writes the tails to the disk. It returns when that is done.
func (e *Engine) Close() {
	e.mu.Lock()
	closed := e.closed
	e.closed = true
	e.mu.Unlock()
	e.stop()
	e.running.Wait()
	if closed || e.c.ReadOnly {
		return
	}
	e.store.Watch(nil)
	e.mu.Lock()
	var open []*index
	for _, n := range e.open.Oldest() {
		open = append(open, n)
	}
	e.mu.Unlock()
	for _, n := range open {
		n.finish()
	}
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

// index returns that of an owner, from memory or with nothing read yet. It is kept until release.
func (e *Engine) index(of ctxabi.Ref) *index {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n, ok := e.open.Get(of.Owner()); ok {
		n.users++
		return n
	}
	n := newIndex(e, of)
	e.open.Put(of.Owner(), n, 0)
	return n
}

// peek returns the index of an owner if it is in memory; else nil.
func (e *Engine) peek(of ctxabi.Ref) *index {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, _ := e.open.Peek(of.Owner())
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
	size, key := n.memory(), n.of.Owner()
	e.mu.Lock()
	defer e.mu.Unlock()
	if known, ok := e.open.Peek(key); !ok || known != n {
		return
	}
	e.open.Resize(key, int64(size))
	for of, old := range e.open.Oldest() {
		if e.open.Size() <= int64(e.c.Memory) || old == n {
			return
		}
		if old.users == 0 {
			e.open.Remove(of)
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
	for of, i := range e.open.Oldest() {
		if i.users == 0 {
			n += e.open.SizeOf(of)
		}
	}
	return n
}

func (e unused) LetGo() {
	if !e.mu.TryLock() {
		return
	}
	defer e.mu.Unlock()
	for of, i := range e.open.Oldest() {
		if i.users == 0 {
			e.open.Remove(of)
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
