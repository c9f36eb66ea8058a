package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lru"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// Config is what a mount decides for all its packs.
type Config struct {
	Budget    int                 // tokens; used when neither the session nor the recipe says; 0: no limit
	Instead   int                 // tokens; in place of what the session or the recipe says; 0: as they say
	Encoding  string              // an encoding or a model name; "": o200k_base
	Workspace source.Workspace    // nil: no workspace files
	Wait      time.Duration       // how long a read may wait for workspace files and generators; 0: what the recipe says
	MapPath   func(string) string // translates a path outside of the store as a container calls it; nil: as it is
	// Mountpoint is where the store is mounted: generators find their session there. "": it is not, and they are given the store itself.
	Mountpoint string
	Generators source.Generators // nil: commands are not run
	Redact     *redact.Redactor  // nil: packs show secrets as they stand in the history
	Inside     bool              // this process is part of a generator: it gets packs without generators
	Memory     *memory.Limit     // nil: none
	WaitForAll bool              // a build waits for all generators, however long they take
}

// Builder makes and remembers packs. It is safe for concurrent use; one
// session is compiled once at a time.
type Builder struct {
	config  Config
	outputs *outputs // nil: commands are not run
	homes   sync.Map // home directories of users, by uid
	inputs  source.Gatherer
	watcher atomic.Pointer[watcher]

	compiled, reused atomic.Uint64 // see Counts
	opened           opened
	digests          digests

	work    context.Context // of what goes on behind the readers' backs
	endWork context.CancelFunc
	working sync.WaitGroup
	indexes chan struct{} // holds one token while a block of an index is made that nobody asked for
	quiet   time.Duration // how long nobody asks for a pack of a session before its history is indexed

	mu       sync.Mutex
	sessions lru.Cache[string, *entry] // by session id, with about how many bytes they take; guarded by mu
}

// present is a build and what it was made from, but for the records.
type present struct {
	build *pack.Build
	in    pack.Input
}

// NewBuilder fails on an unknown encoding.
func NewBuilder(c Config) (*Builder, error) {
	if _, err := tokens.For(c.Encoding); err != nil {
		return nil, err
	}
	b := &Builder{config: c, indexes: make(chan struct{}, 1), quiet: quietTime, inputs: source.Gatherer{Config: source.Config{Budget: c.Budget, Instead: c.Instead, Encoding: c.Encoding, Workspace: c.Workspace, Wait: c.Wait,
		MapPath: c.MapPath, Mountpoint: c.Mountpoint, Memory: c.Memory, WaitForAll: c.WaitForAll}}}
	c.Memory.Cache(remembered{b})
	c.Memory.Cache(&b.digests)
	b.work, b.endWork = context.WithCancel(context.Background())
	if c.Generators != nil {
		b.outputs = newOutputs(c.Generators)
	}
	return b, nil
}

// Close ends all generators and returns when nothing of them is left.
func (b *Builder) Close() {
	b.mu.Lock()
	b.endWork()
	b.mu.Unlock()
	b.working.Wait()
	if w := b.watcher.Load(); w != nil {
		w.close()
	}
	if b.outputs != nil {
		b.outputs.Close()
	}
}

// Current returns the session's pack: the last build while nothing it was made from changed, else a new one.
// Callers that come while another one is busy with the same session share the next build, so
// that a slow workspace holds each of them up twice at most.
//
// A process that is part of a generator of this session ([WithCaller]) gets the last build at once, or one
// without generators: it must not wait for itself.
// It returns ctxabi.ErrOverBudget, ctxabi.ErrNoData or ctxabi.ErrIO as [pack.CompileWith] does,
// ctxabi.ErrNoMemory when there is no memory for it, an error for which [Waits] reports true under
// [AtOnce], and that of ctx when ctx ends.
func (b *Builder) Current(ctx context.Context, x *session.Session) (*pack.Build, error) {
	p, err := b.present(ctx, x)
	if err != nil {
		return nil, err
	}
	return p.build, nil
}

// errWaits means that generators run which a pack has to wait for.
var errWaits = errors.New("generators are still running")

type atOnceKey struct{}

// AtOnce returns a context under which the builder does not wait for generators: instead of starting
// one that a pack needs, it returns an error for which [Waits] is true.
func AtOnce(ctx context.Context) context.Context { return context.WithValue(ctx, atOnceKey{}, true) }

// Waits reports whether err means that the pack needs a generator to finish first; see [AtOnce].
func Waits(err error) bool { return errors.Is(err, errWaits) }

// mustNotWait reports whether ctx is of AtOnce.
func mustNotWait(ctx context.Context) bool { return ctx.Value(atOnceKey{}) != nil }

// present is Current with what the build was made from.
func (b *Builder) present(ctx context.Context, x *session.Session) (*present, error) {
	e := b.use(x)
	if b.IsInside(ctx, x) {
		return b.inside(ctx, x, e)
	}
	var generators <-chan struct{}
	if mustNotWait(ctx) {
		generators = e.waits.raised()
	}
	before := e.flights.Load()
	select {
	case <-generators:
		return nil, errWaits
	default:
	}
	select {
	case e.busy <- struct{}{}:
	case <-generators:
		return nil, errWaits
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.done > before { // begun after this call, so it saw all that this call may ask for
		p := e.shown.Load()
		<-e.busy
		b.reused.Add(1)
		return p, nil
	}
	flight := e.flights.Add(1)
	last := e.build
	build, err := b.current(ctx, x, e)
	var p *present
	if err == nil {
		e.done, e.failed = flight, ""
		if p = e.shown.Load(); p == nil || p.build != build {
			p = &present{build, e.made}
			e.shown.Store(p)
		}
	} else if e.failed != err.Error() && !errors.Is(err, errWaits) {
		e.failed = err.Error()
		defer report(x, err)
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
		if b.outputs != nil {
			size += b.outputs.size(x.ID())
		}
		b.weigh(e, size)
	}
	return p, err
}

func (b *Builder) current(ctx context.Context, x *session.Session, e *entry) (*pack.Build, error) {
	g, err := b.inputs.Gather(ctx, x, &e.Logs, e.last)
	if err != nil {
		return nil, err
	}
	kept := x.KeptChanges()
	asking := b.asking(x, e, g)
	if g == e.last && e.build != nil && e.kept == kept && reflect.DeepEqual(asking, e.made.Asking) &&
		b.unchanged(ctx, x, e, g) {
		return e.build, nil
	}

	in := g.Input()
	in.Asking = asking
	t, done, err := e.Snapshot(ctx, x, &in)
	if err != nil {
		return nil, err
	}
	defer done()
	release, err := b.room(t, "pack", ctxabi.PackFile)
	if err != nil {
		return nil, err
	}
	defer release()
	g.Length, g.Events = t.Messages.Size(), t.Settled
	if in.Errors, err = e.failures.Newest(g.Chosen.Recipe, e.Readable(t, true), e.Readable(t, false)); err != nil {
		return nil, err
	}
	if in.Decided, err = e.decided.UpTo(g.Chosen.Recipe, e.Readable(t, true), func(line int) int { return t.Before(true, line) }); err != nil {
		return nil, err
	}
	c, err := tokens.For(g.Encoding)
	if err != nil {
		return nil, err
	}

	b.useEncoding(e, x, c.Encoding())
	b.persistCounts(e, e.memo, x, t, c.Encoding())
	if err := e.Redact(&in, t); err != nil {
		return nil, err
	}
	if err := b.addProject(ctx, x, e, &in, c, 0); err != nil {
		return nil, err
	}
	if err := b.compute(ctx, x, e, g, &in, c); err != nil {
		return nil, err
	}
	b.summarize(ctx, x, e, g, &in)
	if err := e.Redact(&in, t); err != nil { // outputs and the summary have come
		return nil, err
	}

	around := in.Around(c.Encoding())
	if e.build != nil && in.IDOf(around) == e.build.ID && sameNotes(&in, &e.made) {
		e.last, e.kept = g, kept
		return e.build, nil
	}
	e.memo.Context, e.memo.Fetch = ctx, fetcher(ctx, x, t)
	build, err := b.compileEpoch(x, e, &in, c, around, func(build *pack.Build) error {
		return b.checkProject(x, e, &in, build)
	})
	if old, ok := errors.AsType[oldProject](err); ok {
		if err = b.addProject(ctx, x, e, &in, c, int(old)); err == nil {
			err = e.Redact(&in, t)
		}
		if err == nil {
			build, err = b.compileEpoch(x, e, &in, c, in.Around(c.Encoding()), func(*pack.Build) error { return nil })
		}
	}
	if err != nil {
		return nil, err
	}

	e.swap.Note(x, in.History(), build.Left)
	b.foldAhead(e, &in)
	b.indexAhead(e, x, in.History().Len()) // whose moment of quiet begins behind the build
	b.summarizeNext(ctx, x, e, g, &in, build)
	reportCut(x, build, e.build)
	in.Messages, in.Events, in.Tools = nil, nil, nil // they hold a snapshot of the whole index
	e.last, e.build, e.made, e.kept = g, build, in, kept
	return build, nil
}

// useEncoding replaces the memo of an entry if it was made for another encoding.
func (b *Builder) useEncoding(e *entry, x *session.Session, encoding string) {
	if e.encoding == encoding {
		return
	}
	e.memo, e.encoding = b.newMemo(), encoding
	e.memo.Finds = e.findsOf(x)
	e.memo.Share(e.termsOf(x))
	if !e.Redacts() {
		e.memo.Store(keptMemo{x, foldsName}, keptMemo{x, statesName}, pack.RendererVersion)
		e.memo.Near = keptFinds{x, nearName}
	}
}

// sameNotes compares what stands in the report without being part of the pack's id.
func sameNotes(a, b *pack.Input) bool {
	return slices.Equal(a.Notes, b.Notes) && a.SummaryNote == b.SummaryNote && reflect.DeepEqual(a.Asking, b.Asking) &&
		len(a.Summaries) == len(b.Summaries) &&
		slices.EqualFunc(a.Files, b.Files, func(f, g blocks.File) bool { return f.Note == g.Note })
}

// Counts returns how many packs Current compiled so far, and how often it gave
// one that was there already.
func (b *Builder) Counts() (compiled, reused uint64) { return b.compiled.Load(), b.reused.Load() }

// persistCounts makes the memo read and write the exact counts kept beside the index.
func (b *Builder) persistCounts(e *entry, mm *pack.Memo, x *session.Session, t *log.Timeline, encoding string) {
	key := fmt.Sprintf("%s/%d", encoding, pack.RendererVersion)
	of := func(at record.Address) (*log.Log, *log.Index) {
		if at.Event {
			return x.Events(), t.Events
		}
		return x.Messages(), t.Messages
	}
	mm.Known = func(at record.Address) int {
		if _, ix := of(at); ix.Encoding() == key && !e.Masked(t, at) {
			return int(ix.At(at.Line).Tokens)
		}
		return 0
	}
	mm.Counted = func(at record.Address, tokens int) {
		if e.Masked(t, at) {
			return // the count is that of what is shown
		}
		log, _ := of(at)
		log.SetTokens(key, at.Line, int32(tokens))
	}
}

// report notes in the session's errors.jsonl why its pack could not be built.
func report(x *session.Session, err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return // whoever asked has gone
	}
	x.Report(disk.RowOf("pack", ctxabi.PackFile, 0, err))
}

// FailureReport returns what pack.report.md of x holds while there is no pack, because err came of the attempt to make one. ok is false
// for an error that is of the moment, or of the disk: then the file cannot be read either.
func (b *Builder) FailureReport(x *session.Session, err error) (page []byte, ok bool) {
	var e *ctxabi.Error
	if !errors.As(err, &e) || !errors.Is(err, ctxabi.ErrNoData) && !errors.Is(err, ctxabi.ErrOverBudget) {
		return nil, false
	}
	ref := x.Ref()
	var w strings.Builder
	fmt.Fprintf(&w, "# Pack of %s (agent %s)\n\nThere is no pack: %s.\n\n%s\n\n", ref.Session, ref.Agent, e.Kind, record.OneLine(e.Why))
	fmt.Fprintf(&w, "Until this is corrected, all other files of the pack fail to open. %s has the reason, too, and those of earlier failures.\n", ctxabi.ErrorsFile)
	page, err = b.Redacted(x, []byte(w.String()))
	return page, err == nil
}
