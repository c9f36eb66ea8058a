package builder

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
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

	compiled, reused atomic.Uint64 // see Counts
	awaited          atomic.Uint64 // see Awaited
	digests          digests

	work    context.Context // of what goes on behind the readers' backs
	endWork context.CancelFunc
	working sync.WaitGroup
	indexes chan struct{} // holds one token while records are indexed for later questions

	mu       sync.Mutex
	sessions lru.Cache[string, *entry] // by session id, with about how many bytes they take; guarded by mu
}

// NewBuilder fails on an unknown encoding.
func NewBuilder(c Config) (*Builder, error) {
	if _, err := tokens.For(c.Encoding); err != nil {
		return nil, err
	}
	b := &Builder{config: c, indexes: make(chan struct{}, 1), inputs: source.Gatherer{Config: source.Config{
		Budget: c.Budget, Instead: c.Instead, Encoding: c.Encoding, Workspace: c.Workspace, Wait: c.Wait,
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
	p, err := b.latest(ctx, x)
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

// Counts returns how many packs Current compiled so far, and how often it gave
// one that was there already.
func (b *Builder) Counts() (compiled, reused uint64) { return b.compiled.Load(), b.reused.Load() }

// Awaited returns the number of records that were indexed while a user's request waited for them.
func (b *Builder) Awaited() uint64 { return b.awaited.Load() }

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
