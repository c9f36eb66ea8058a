package builder

import (
	"context"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/pack/swap"
	"github.com/ctxfs/ctxfs/session"
)

// Swap returns the content that left the session's prompt so far, sorted by log and record. If the
// last result contains id, Swap returns it and reads nothing. It returns an error if a log cannot be
// read or there is no memory for it, and that of ctx when ctx ends.
func (b *Builder) Swap(ctx context.Context, x *session.Session, id string) (*swap.Nodes, error) {
	e := b.use(x)
	if n := e.swap.Shown.Load(); id != "" && n.Has(id) {
		return n, nil
	}
	if _, err := b.Current(ctx, x); err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	} // a pack that cannot be built, or must not be waited for, lets go of nothing more
	e = b.use(x)
	return b.list(x, &e.swap.Size, func() (*swap.Nodes, error) { return e.swap.Update(ctx, x, &e.Logs) })
}

// Dedup returns the blobs of a session: repeated content of its history, images and files in it, and
// files that users stored. If the last result contains id, Dedup returns it and reads nothing. It
// returns errors as [Builder.Swap] does.
func (b *Builder) Dedup(ctx context.Context, x *session.Session, id string) (*swap.Nodes, error) {
	e := b.use(x)
	if n := e.dedup.Shown.Load(); id != "" && n.Has(id) {
		return n, nil
	}
	return b.list(x, &e.dedup.Size, func() (*swap.Nodes, error) { return e.dedup.Update(ctx, x, &e.Logs) })
}

// list calls update with memory for the records of x, and accounts for the growth of size.
func (b *Builder) list(x *session.Session, size *atomic.Int64, update func() (*swap.Nodes, error)) (*swap.Nodes, error) {
	release, err := b.roomNow(x)
	if err != nil {
		return nil, err
	}
	defer release()
	before := size.Load()
	n, err := update()
	if grown := size.Load() - before; grown > 0 {
		b.grow(x.ID(), int(grown))
	}
	return n, err
}
