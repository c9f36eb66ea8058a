package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// packed is a pack with its inputs. It never changes. The zero value has no pack.
type packed struct {
	build    *pack.Build
	in       pack.Input // without the records
	gathered *source.Gathered
}

// reused holds what one pack reuses of the packs before it. The caller that compiles guards it.
type reused struct {
	memo     *pack.Memo
	encoding string // that memo counts with
	failures source.Failures
	decided  source.Decided
	failed   string // the last failure that was reported
}

// isNews reports whether the caller must report err, the result of a compilation.
func (r *reused) isNews(err error) bool {
	if err == nil {
		r.failed = ""
		return false
	}
	if errors.Is(err, errWaits) || r.failed == err.Error() {
		return false
	}
	r.failed = err.Error()
	return true
}

// latest returns the pack that [Builder.Current] describes with its inputs.
func (b *Builder) latest(ctx context.Context, x *session.Session) (*packed, error) {
	e := b.use(x)
	if b.IsInside(ctx, x) {
		return b.inside(ctx, x, e)
	}
	before := e.begun.Load()
	if err := e.lock(ctx); err != nil {
		return nil, err
	}
	if e.finished > before { // it began after this call, so it saw everything that this call may ask for
		p := e.newest.Load()
		<-e.busy
		b.reused.Add(1)
		return p, nil
	}

	number := e.begun.Add(1)
	last := e.newest.Load()
	p, err := b.update(ctx, x, e, last)
	if err == nil {
		e.finished = number
		e.newest.Store(p)
	}
	if e.isNews(err) {
		defer report(x, err)
	}

	size := 0
	switch {
	case err != nil:
		size = e.bytes()
	case p.build == last.build:
		b.reused.Add(1)
	default:
		b.compiled.Add(1)
		size = e.bytes()
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

// lock waits until no other caller compiles a pack of the session; the caller must receive from
// e.busy. It returns the error of ctx, and errWaits instead of waiting for generators under AtOnce.
func (e *entry) lock(ctx context.Context) error {
	var generators <-chan struct{}
	if mustNotWait(ctx) {
		generators = e.waits.raised()
	}
	select {
	case <-generators:
		return errWaits
	default:
	}
	select {
	case e.busy <- struct{}{}:
		return nil
	case <-generators:
		return errWaits
	case <-ctx.Done():
		return ctx.Err()
	}
}

// update returns last if no input of the pack changed, and else a new pack.
func (b *Builder) update(ctx context.Context, x *session.Session, e *entry, last *packed) (*packed, error) {
	g, err := b.inputs.Gather(ctx, x, &e.Logs, last.gathered)
	if err != nil {
		return nil, err
	}
	s := &step{b: b, x: x, e: e, packed: packed{gathered: g}}
	asking := b.asking(x, e, g)
	if g == last.gathered && last.build != nil &&
		reflect.DeepEqual(asking, last.in.Asking) && b.unchanged(ctx, x, e, g) {
		return last, nil
	}

	s.in = g.Input()
	s.in.Asking = asking
	release, err := s.gather(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.derive(ctx); err != nil {
		return nil, err
	}
	return s.compile(ctx, last)
}

// step is a pack on its way from the inputs to the bytes.
type step struct {
	b *Builder
	x *session.Session
	e *entry
	packed

	timeline *log.Timeline
	counter  *tokens.Counter
}

// gather adds both logs to the inputs. The caller must call release when it no longer reads
// records.
func (s *step) gather(ctx context.Context) (release func(), err error) {
	t, done, err := s.e.Snapshot(ctx, s.x, &s.in)
	if err != nil {
		return nil, err
	}
	free, err := s.b.room(t, "pack", ctxabi.PackFile)
	if err != nil {
		done()
		return nil, err
	}
	s.timeline, s.gathered.Length, s.gathered.Events = t, t.Messages.Size(), t.Settled
	release = func() { free(); done() }
	if s.counter, err = s.b.events(s.x, s.e, &s.e.reused, &s.in, t); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// derive adds the inputs that ctxfs makes: the memory of the workspace, outputs, and summaries.
func (s *step) derive(ctx context.Context) error {
	b, x, e, in := s.b, s.x, s.e, &s.in
	if err := e.Redact(in, s.timeline); err != nil {
		return err
	}
	if err := b.addProject(ctx, x, e, in, s.counter, 0); err != nil {
		return err
	}
	if err := b.compute(ctx, x, e, s.gathered, in, s.counter); err != nil {
		return err
	}
	b.summarize(ctx, x, e, s.gathered, in)
	return e.Redact(in, s.timeline) // outputs and the summary were added
}

// compile returns last with the new inputs if the pack has the same id, and else compiles one.
func (s *step) compile(ctx context.Context, last *packed) (*packed, error) {
	b, x, e, in, c := s.b, s.x, s.e, &s.in, s.counter
	around := in.Around(c.Encoding())
	if last.build != nil && in.IDOf(around) == last.build.ID && sameNotes(in, &last.in) {
		return &packed{last.build, last.in, s.gathered}, nil
	}

	e.memo.Context = ctx
	build, err := b.compileEpoch(x, e, in, c, around, func(build *pack.Build) error {
		return b.checkProject(x, e, in, build)
	})
	if old, ok := errors.AsType[oldProject](err); ok {
		if err = b.addProject(ctx, x, e, in, c, int(old)); err == nil {
			err = e.Redact(in, s.timeline)
		}
		if err == nil {
			build, err = b.compileEpoch(x, e, in, c, in.Around(c.Encoding()), func(*pack.Build) error { return nil })
		}
	}
	if err != nil {
		return nil, err
	}

	e.swap.Note(x, in.History(), build.Left)
	_ = in.SaveFolds(e.memo) // without stored folds, the next daemon folds the history again
	b.indexAhead(e, x, in.History().Len())
	b.summarizeNext(ctx, x, e, s.gathered, in, build)
	reportCut(x, build, last.build)
	in.Messages, in.Events, in.Tools = nil, nil, nil // they hold a snapshot of the whole index
	return &packed{build, *in, s.gathered}, nil
}

// events copies usage and other events of t into in, and prepares the memo of r for the encoding of
// in.
func (b *Builder) events(x *session.Session, e *entry, r *reused, in *pack.Input, t *log.Timeline) (*tokens.Counter, error) {
	var err error
	messages, events := e.Readable(t, false), e.Readable(t, true)
	if in.Errors, err = r.failures.Newest(in.Recipe, events, messages); err != nil {
		return nil, err
	}
	before := func(line int) int { return t.Before(true, line) }
	if in.Decided, err = r.decided.UpTo(in.Recipe, events, before); err != nil {
		return nil, err
	}
	c, err := tokens.For(in.Encoding)
	if err != nil {
		return nil, err
	}

	if r.encoding != c.Encoding() {
		r.memo, r.encoding = b.newMemo(), c.Encoding()
		r.memo.Share(e.termsOf(x))
		if r == &e.reused && !e.Redacts() {
			stored := func(name string) source.Derived { return source.Derived{Session: x, Name: name} }
			r.memo.Store(stored(foldsName), stored(statesName), pack.RendererVersion)
		}
	}
	e.persistCounts(r.memo, x, t, c.Encoding())
	return c, nil
}

// sameNotes compares the parts of the report that do not belong to the pack's id.
func sameNotes(a, b *pack.Input) bool {
	return slices.Equal(a.Notes, b.Notes) && a.SummaryNote == b.SummaryNote && reflect.DeepEqual(a.Asking, b.Asking) &&
		len(a.Summaries) == len(b.Summaries) &&
		slices.EqualFunc(a.Files, b.Files, func(f, g blocks.File) bool { return f.Note == g.Note })
}

// persistCounts makes the memo read and write the exact counts kept beside the index.
func (e *entry) persistCounts(mm *pack.Memo, x *session.Session, t *log.Timeline, encoding string) {
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
