package search

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// build queues sessions for the builder, and returns a channel that is closed when the builder ends.
func (n *index) build(numbers ...uint32) chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, number := range numbers {
		if !n.queued[number] {
			n.queued[number] = true
			n.todo = append(n.todo, number)
		}
	}
	if n.building != nil {
		return n.building
	}
	n.building = make(chan struct{})
	n.e.use(n)
	if !n.e.start(func(ctx context.Context) { n.construct(ctx); n.e.release(n) }) {
		done := n.building
		close(done)
		n.building = nil
		n.todo = nil
		clear(n.queued)
		n.e.release(n)
		return done
	}
	return n.building
}

// construct is the work of a builder, which building says is there.
func (n *index) construct(ctx context.Context) {
	for {
		err := n.fill(ctx)
		if err == nil && !n.e.c.ReadOnly {
			err = n.tidy(ctx)
		}
		if err != nil && ctx.Err() == nil {
			n.e.log.Warn("search index", "owner", n.of.Owner(), "err", err)
		}
		n.mu.Lock()
		if err == nil && len(n.todo) > 0 {
			n.mu.Unlock()
			continue
		}
		n.todo = nil
		clear(n.queued)
		close(n.building)
		n.building = nil
		n.failed = whyNot(ctx, cmp.Or(err, n.hurt), n.failed)
		n.hurt = nil
		n.mu.Unlock()
		n.e.grown(n)
		return
	}
}

// whyNot returns why a builder cannot go on; "" if it can. was is what the one before said.
func whyNot(ctx context.Context, err error, was string) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ctxabi.ErrNoSpace):
		return "the disk is full"
	case errors.Is(err, ctxabi.ErrNoMemory):
		return noMemory
	case ctx.Err() == nil:
		return "the disk failed, see the daemon's log"
	}
	return was
}

// nextToBuild returns the session that the builder is to index; nil: none.
func (n *index) nextToBuild() *known {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.todo) > 0 {
		if k := n.sessions[n.todo[0]]; k != nil {
			return k
		}
		n.builtLocked()
	}
	return nil
}

// fill is what the builder does: it reads on in chunks, each of which is there to be searched once it is read.
func (n *index) fill(ctx context.Context) error {
	for {
		k := n.nextToBuild()
		if k == nil || n.e.c.ReadOnly && ctx.Err() != nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := n.fillOnce(ctx); err != nil {
			return err
		}
	}
}

// fillOnce reads a chunk of the sessions that are to be indexed, and writes its segment.
func (n *index) fillOnce(ctx context.Context) error {
	n.work <- struct{}{}
	defer func() { <-n.work }()
	chunk := min(chunkBytes, max(n.e.c.Limit.Share(8*chunkBytes)/8, 1<<20))
	for n.tail == nil || n.tail.Bytes < int64(chunk) {
		k := n.nextToBuild()
		if k == nil {
			break
		}
		x := n.sessionOf(k)
		if x == nil {
			n.built()
			continue
		}
		release, err := n.spareFor(x, int64(chunk))
		if err != nil {
			return errors.Join(n.put(), err)
		}
		defer release()
		whole, err := n.take(ctx, x, int64(chunk))
		if ctx.Err() != nil {
			return errors.Join(n.put(), ctx.Err())
		}
		if err != nil {
			n.e.log.Warn("search index", "session", k.ref, "err", err)
			n.hurt = err
		}
		if whole || err != nil {
			n.built()
		}
	}
	return n.put()
}

// put makes what the builder read known, on the disk where that is written to; work is held.
func (n *index) put() error {
	if n.tail == nil {
		return nil
	}
	if n.e.c.ReadOnly {
		return n.keepInMemory()
	}
	err := n.save(context.Background(), mergeInline)
	if err != nil {
		n.mu.Lock()
		n.forget()
		n.mu.Unlock()
	}
	return err
}

// built takes the session off the builder's list that stands first there.
func (n *index) built() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.todo) > 0 {
		n.builtLocked()
	}
}

func (n *index) builtLocked() {
	delete(n.queued, n.todo[0])
	n.todo = n.todo[1:]
}

// sessionOf returns the session that is known; nil if it cannot be read.
func (n *index) sessionOf(k *known) *session.Session {
	if k.x != nil && !k.x.Removed() {
		return k.x
	}
	x, err := n.e.store.Session(k.ref)
	if err != nil {
		return nil
	}
	return x
}

// spareFor is spare for the records of a session that are read into a chunk.
func (n *index) spareFor(x *session.Session, chunk int64) (release func(), err error) {
	need := int64(0)
	for i := range 2 {
		ix, err := logOf(x, i).Index()
		if err != nil {
			return func() {}, nil // its reader returns the error
		}
		need += bytesOfChunk * (min(chunk, ix.Size()) + int64(ix.Longest()))
	}
	return n.spare(need)
}

// keepInMemory makes a segment of the tail where nothing may be written; work is held.
func (n *index) keepInMemory() error {
	if err := n.publish(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		return nil
	}
	n.segments = append(slices.Clone(n.segments), n.last)
	n.tail, n.staged, n.last = nil, nil, nil
	for _, k := range n.sessions {
		if k.logs[0].inFiles.records != k.logs[0].records || k.logs[1].inFiles.records != k.logs[1].records {
			kept := *k
			for i := range kept.logs {
				kept.logs[i].inFiles = knownPart{kept.logs[i].records, kept.logs[i].bytes}
			}
			n.set(&kept)
		}
	}
	return nil
}
