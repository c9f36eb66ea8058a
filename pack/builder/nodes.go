package builder

import (
	"context"

	"github.com/ctxfs/ctxfs/pack/swap"
	"github.com/ctxfs/ctxfs/session"
)

// Swap returns what left the session's prompt, up to now, sorted by log and record. Where id is known already it gives what is
// known, which costs nothing.
// It returns an error when a log cannot be read or there is no memory for it, and that of ctx when ctx
// ends.
func (b *Builder) Swap(ctx context.Context, x *session.Session, id string) (*swap.Nodes, error) {
	e := b.use(x)
	if n := e.swap.Shown.Load(); id != "" && n != nil {
		if _, ok := n.Find(id); ok {
			return n, nil
		}
	}
	if _, err := b.Current(ctx, x); err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	} // a pack that cannot be built, or must not be waited for, lets go of nothing more
	e = b.use(x)
	release, err := b.roomNow(x)
	if err != nil {
		return nil, err
	}
	defer release()
	was := e.swap.Size.Load()
	n, err := e.swap.Update(ctx, x, &e.Logs)
	if grown := e.swap.Size.Load() - was; grown > 0 {
		b.grow(x.ID(), int(grown))
	}
	return n, err
}

// Dedup returns the blobs of a session: what repeats in its history, images and files in it, and what users stored. Where id is known already it
// gives what is known, which costs nothing.
// It returns an error when a log cannot be read or there is no memory for it, and that of ctx when ctx
// ends.
func (b *Builder) Dedup(ctx context.Context, x *session.Session, id string) (*swap.Nodes, error) {
	e := b.use(x)
	if n := e.dedup.Shown.Load(); id != "" && n != nil {
		if _, ok := n.Find(id); ok {
			return n, nil
		}
	}
	release, err := b.roomNow(x)
	if err != nil {
		return nil, err
	}
	defer release()
	was := e.dedup.Size.Load()
	n, err := e.dedup.Update(ctx, x, &e.Logs)
	if grown := e.dedup.Size.Load() - was; grown > 0 {
		b.grow(x.ID(), int(grown))
	}
	return n, err
}
