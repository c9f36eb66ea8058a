package builder

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// maxPast is how many builds of earlier moments are remembered of a session.
const maxPast = 4

// past is what is remembered of the earlier moments of a session. One of them is compiled at a
// time, without holding up the present pack; what one needed the next finds again.
type past struct {
	size atomic.Int64 // about, in bytes

	busy   chan struct{} // holds one token while a caller compiles; guards the fields below
	builds []*pack.Build // the most recently used last
	reused
}

// At returns the pack of the session's first n messages, and of the events that had arrived before the next one,
// with everything else as it is now: the files and outputs of the current build. With all
// messages it is the current build. It fails as [Builder.Current] does, and with ctxabi.ErrNotFound when there are not so many.
//
// A process that is part of a generator of this session waits for nothing here, either: it gets the files of the last build.
func (b *Builder) At(ctx context.Context, x *session.Session, n int) (*pack.Build, error) {
	for again := false; ; again = true {
		p, err := b.latest(ctx, x)
		if err != nil {
			return nil, err
		}
		t, err := b.entry(x.ID()).Timeline(ctx, x)
		if err != nil {
			return nil, err
		}
		switch all := t.Messages.Len(); {
		case n < 0 || n > all:
			return nil, ctxabi.E("read", ctxabi.AtDir, ctxabi.ErrNotFound, "there are %d messages, not %d", all, n)
		case n == p.build.Messages:
			return p.build, nil
		case n > p.build.Messages && !again: // it came since
			continue
		}
		return b.compilePast(ctx, x, p.in, t.Prefix(n))
	}
}

// compilePast returns the pack of in's files and the history of t.
func (b *Builder) compilePast(ctx context.Context, x *session.Session, in pack.Input, t *log.Timeline) (*pack.Build, error) {
	e := b.use(x)
	if err := e.Until(&in, x, t); err != nil {
		return nil, err
	}
	p := &e.past
	select {
	case p.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	before := p.bytes() // renderings that were made since were counted then
	var build *pack.Build
	release, err := b.room(t, "pack", ctxabi.AtDir)
	if err == nil {
		build, err = p.compile(ctx, b, x, e, &in, t)
		release()
	}
	after := p.bytes()
	p.size.Store(int64(after))
	if p.isNews(err) {
		defer report(x, err)
	}
	<-p.busy
	b.grow(x.ID(), after-before)
	return build, err
}

// compile compiles in, or finds its pack. p.busy is held.
func (p *past) compile(ctx context.Context, b *Builder, x *session.Session, e *entry, in *pack.Input,
	t *log.Timeline) (*pack.Build, error) {
	c, err := b.events(x, e, &p.reused, in, t)
	if err != nil {
		return nil, err
	}
	if err := b.addPastProject(x, e, in); err != nil {
		return nil, err
	}
	if err := in.ChooseComputed(p.memo, c); err != nil {
		return nil, err
	}
	id := in.ID(c.Encoding())
	if at := slices.IndexFunc(p.builds, func(b *pack.Build) bool { return b.ID == id }); at >= 0 {
		build := p.builds[at]
		p.builds = append(slices.Delete(p.builds, at, at+1), build)
		return build, nil
	}
	p.memo.Context = ctx
	build, err := pack.CompileWith(in, p.memo)
	if err != nil {
		return nil, err
	}
	build.Made = time.Now()
	if len(p.builds) == maxPast {
		p.builds = slices.Delete(p.builds, 0, 1)
	}
	p.builds = append(p.builds, build)
	return build, nil
}

// bytes is about what p holds. p.busy is held.
func (p *past) bytes() int {
	n := p.memo.Size()
	for _, b := range p.builds {
		n += b.Size()
	}
	return n
}
