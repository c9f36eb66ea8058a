package pack

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/tokens"
)

// Config is what a mount decides for all its packs.
type Config struct {
	Budget    int                 // tokens; used when neither the session nor the recipe says; 0: no limit
	Encoding  string              // an encoding or a model name; "": o200k_base
	Workspace Workspace           // nil: no workspace files
	Wait      time.Duration       // how long a read may wait for workspace files; 0: 500 ms
	MapPath   func(string) string // translates a cwd as a container calls it; nil: as it is
}

// Builder makes and remembers packs. It is safe for concurrent use; one
// session is compiled once at a time.
type Builder struct {
	config  Config
	counter *tokens.Counter
	wait    time.Duration

	compiled, reused atomic.Uint64 // see Counts

	mu       sync.Mutex
	sessions map[string]*list.Element // of *entry, by session id; guarded by mu
	recent   *list.List               // most recently used first; guarded by mu
	size     int                      // about, of all entries; guarded by mu
}

// entry is what a builder remembers of one session.
type entry struct {
	id   string
	size int // guarded by Builder.mu

	flights atomic.Uint64 // begun so far

	busy  chan struct{} // holds one token while somebody compiles; guards what follows
	done  uint64        // the last flight that gave a build
	last  *gathered
	build *Build
	memo  *memo
}

// What a builder remembers at most. An evicted session is compiled from its index again.
const (
	maxRemembered      = 48 << 20 // bytes
	maxRememberedCount = 2048     // sessions
)

// NewBuilder fails on an unknown encoding.
func NewBuilder(c Config) (*Builder, error) {
	counter, err := tokens.For(c.Encoding)
	if err != nil {
		return nil, err
	}
	b := &Builder{config: c, counter: counter, wait: c.Wait, sessions: map[string]*list.Element{}, recent: list.New()}
	if b.wait == 0 {
		b.wait = 500 * time.Millisecond
	}
	return b, nil
}

// Current gives the session's pack: the last build while nothing it was made from changed, else a new one.
// Callers that come while another one is busy with the same session share the next build, so
// that a slow workspace holds each of them up twice at most.
func (b *Builder) Current(ctx context.Context, x *session.Session) (*Build, error) {
	e := b.entry(x.ID())
	before := e.flights.Load()
	select {
	case e.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.done > before { // begun after this call, so it saw all that this call may ask for
		build := e.build
		<-e.busy
		b.reused.Add(1)
		return build, nil
	}
	flight := e.flights.Add(1)
	last := e.build
	build, err := b.current(ctx, x, e)
	if err == nil {
		e.done = flight
	}
	size := 0
	if build != last {
		size = e.bytes()
	}
	switch {
	case err != nil:
	case build == last:
		b.reused.Add(1)
	default:
		b.compiled.Add(1)
	}
	<-e.busy
	if size > 0 {
		b.weigh(e, size)
	}
	if err != nil {
		report(x, err)
	}
	return build, err
}

func (b *Builder) current(ctx context.Context, x *session.Session, e *entry) (*Build, error) {
	g, err := b.gather(ctx, x, e.last)
	if err != nil {
		return nil, err
	}
	if g == e.last && e.build != nil {
		return e.build, nil
	}
	in := g.input(x.Ref(), b.counter.Encoding())
	t, err := snapshot(ctx, x, &in)
	if err != nil {
		return nil, err
	}
	g.length, g.events = t.Messages.Size(), t.Settled
	if e.build != nil && in.id(b.counter.Encoding()) == e.build.ID {
		e.last = g
		return e.build, nil
	}
	b.persistCounts(e.memo, x, t)
	build, err := compile(&in, e.memo)
	if err != nil {
		return nil, err
	}
	e.last, e.build = g, build
	return build, nil
}

// Counts says how many packs Current compiled so far, and how often it gave
// one that was there already.
func (b *Builder) Counts() (compiled, reused uint64) { return b.compiled.Load(), b.reused.Load() }

// persistCounts lets the memo read and write the exact counts kept beside the index.
func (b *Builder) persistCounts(mm *memo, x *session.Session, t *session.Timeline) {
	key := fmt.Sprintf("%s/%d", b.counter.Encoding(), RendererVersion)
	of := func(at address) (*session.Log, *session.Index) {
		if at.event {
			return x.Events(), t.Events
		}
		return x.Messages(), t.Messages
	}
	mm.known = func(at address) int {
		if _, ix := of(at); ix.Encoding() == key {
			return int(ix.At(at.n).Tokens)
		}
		return 0
	}
	mm.counted = func(at address, tokens int) {
		log, _ := of(at)
		log.SetTokens(key, at.n, int32(tokens))
	}
}

// A tool event has its place when no message is on its way any more that may
// stand in front of it; one takes microseconds, and so much of them is waited for.
const (
	settleTries = 100
	settlePause = 200 * time.Microsecond
)

// snapshot fills in both logs as they were at one moment. An event whose place
// is not certain in time stands in a later pack.
func snapshot(ctx context.Context, x *session.Session, in *Input) (t *session.Timeline, err error) {
	for range settleTries {
		if t, err = x.Timeline(); err != nil {
			return nil, err
		}
		if t.Settled == t.Events.Size() {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(settlePause):
		}
	}
	in.Messages = t.Messages
	if in.Head, err = x.Messages().HeadAt(t.Messages.Size()); err != nil {
		return nil, err
	}
	if n := len(t.Tools); n > 0 {
		last := t.Events.At(int(t.Tools[n-1].Line))
		in.Tools, in.Events = t.Tools, t.Events
		in.EventsHead, err = x.Events().HeadAt(last.Offset + int64(last.Len) + 1)
	}
	return t, err
}

// entry finds or makes what is remembered of a session.
func (b *Builder) entry(id string) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, ok := b.sessions[id]; ok {
		b.recent.MoveToFront(at)
		return at.Value.(*entry)
	}
	e := &entry{id: id, busy: make(chan struct{}, 1), memo: newMemo()}
	b.sessions[id] = b.recent.PushFront(e)
	return e
}

func (e *entry) bytes() int {
	n := 1024 + e.memo.size()
	if e.build != nil {
		n += len(e.build.Markdown) + len(e.build.JSON) + len(e.build.Report)
	}
	if e.last != nil {
		for _, files := range [][]File{e.last.read, e.last.guides} {
			for _, f := range files {
				n += len(f.Data)
			}
		}
	}
	return n
}

// weigh notes the size of an entry and lets go of the least recently used ones beyond the bounds.
func (b *Builder) weigh(e *entry, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, ok := b.sessions[e.id]; !ok || at.Value != e {
		return // forgotten meanwhile
	}
	b.size += size - e.size
	e.size = size
	for b.recent.Len() > 1 && (b.size > maxRemembered || b.recent.Len() > maxRememberedCount) {
		b.remove(b.recent.Back())
	}
}

// remove forgets an entry. A build of it that is going on ends unremembered. b.mu is held.
func (b *Builder) remove(at *list.Element) {
	e := b.recent.Remove(at).(*entry)
	b.size -= e.size
	delete(b.sessions, e.id)
}

// Drop forgets the session's build; the next Current compiles anew.
func (b *Builder) Drop(x *session.Session) { b.Forget(x.ID()) }

// Forget lets go of all memory kept for the session id.
func (b *Builder) Forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, ok := b.sessions[id]; ok {
		b.remove(at)
	}
}

// CheckFits says whether data, written as the session file name (context/budget or a pin, relative to the session),
// leaves the required parts of a pack within its limit; if not, ctxabi.ErrOverBudget with the numbers.
func (b *Builder) CheckFits(x *session.Session, name string, data []byte) error {
	dir := x.Dir()
	names, err := pinNames(dir + "/" + ctxabi.PinnedDir)
	if err != nil {
		return err
	}
	g := &gathered{dir: dir, files: storeFiles(names)}
	here := openDirectory(dir)
	look(here, g.files, false)
	here.close()
	if err := b.readFiles(g); err != nil {
		return err
	}
	switch pin, isIn := strings.CutPrefix(name, ctxabi.PinnedDir+"/"); {
	case name == ctxabi.BudgetFile:
		n, ok, err := ctxabi.ParseBudget(data)
		if err != nil {
			return err
		}
		if g.tokens = b.config.Budget; ok {
			g.tokens = n
		}
	case isIn && ctxabi.IsPin(pin):
		f := File{At: pinnedAt(), ID: "pinned/" + pin, Path: name, Data: data}
		replaced := false
		for i := range g.read {
			if g.read[i].Path == name {
				g.read[i], replaced = f, true
			}
		}
		if !replaced {
			g.read = append(g.read, f)
		}
	default:
		return nil
	}
	in := Input{Budget: g.tokens, Encoding: b.counter.Encoding(), Files: g.read}
	required, limit := in.required(b.counter)
	if limit > 0 && required+minJournal > limit {
		return ctxabi.E("set", name, ctxabi.ErrOverBudget,
			"system_prompt.md and pinned/ would take %d of %d tokens, and the conversation needs at least %d; raise %s or shorten them",
			required, limit, minJournal, ctxabi.BudgetFile)
	}
	return nil
}

// report tells the session why its pack could not be built.
func report(x *session.Session, err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return // whoever asked has gone
	}
	x.Report(session.RowOf("pack", ctxabi.PackFile, 0, err))
}
