package pack

import (
	"context"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/tokens"
)

// Past gives the packs of many moments of one session, as [Builder.At] does each of them: all with
// the files, outputs and records of the moment at which it was begun. What was made for one pack is used for the next,
// so that going through a history in its order costs little more than its last pack. It is not safe for concurrent use.
type Past struct {
	x        *session.Session
	timeline *session.Timeline
	now      *Build
	made     Input
	memo     *memo
}

// Past begins to look at the session's earlier packs. It fails as [Builder.Current] does.
func (b *Builder) Past(ctx context.Context, x *session.Session) (*Past, error) {
	for {
		now, err := b.Current(ctx, x)
		if err != nil {
			return nil, err
		}
		t, err := x.Timeline()
		if err != nil {
			return nil, err
		}
		e := b.entry(x.ID())
		select {
		case e.busy <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		made, build := e.made, e.build
		<-e.busy
		head, err := x.Messages().HeadAt(t.Messages.Size())
		if err != nil {
			return nil, err
		}
		if build != now || made.Head != head { // something came meanwhile
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			continue
		}
		c, err := tokens.For(made.Encoding)
		if err != nil {
			return nil, err
		}
		p := &Past{x: x, timeline: t, now: now, made: made, memo: newMemo()}
		b.persistCounts(p.memo, x, t, c.Encoding())
		return p, nil
	}
}

// Timeline is the history that the packs are of.
func (p *Past) Timeline() *session.Timeline { return p.timeline }

// At gives the pack of the first n messages. It fails with ctxabi.ErrNotFound when there are not so many.
func (p *Past) At(ctx context.Context, n int) (*Build, error) {
	switch all := p.timeline.Messages.Len(); {
	case n < 0 || n > all:
		return nil, ctxabi.E("read", ctxabi.AtDir, ctxabi.ErrNotFound, "there are %d messages, not %d", all, n)
	case n == all:
		return p.now, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in := p.made
	if err := in.rewind(p.x, p.timeline.Prefix(n)); err != nil {
		return nil, err
	}
	return compile(&in, p.memo)
}
