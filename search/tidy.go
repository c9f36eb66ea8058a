package search

import (
	"context"
	"errors"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/segment"
)

// tidy merges segments until none are due, and writes those anew that have records of sessions which
// are there no more. It does so while others bring the index up to date, and holds work for
// the swap alone.
func (n *index) tidy(ctx context.Context) error {
	for {
		old, keep := n.untidy()
		if len(old) == 0 {
			return nil
		}
		by, err := n.merge(ctx, old, keep)
		if err == nil {
			n.work <- struct{}{}
			err = n.commit(ctx, 0, old, by)
			<-n.work
		}
		n.mu.Lock()
		for _, s := range old {
			s.Merging = false
		}
		n.mu.Unlock()
		switch {
		case errors.Is(err, segment.ErrDamaged):
			n.dropDamaged(old, err)
		case errors.Is(err, ctxabi.ErrNoMemory):
			return nil // more segments are slower to search, and no less complete
		case err != nil:
			return err
		}
		n.e.grown(n)
	}
}

// untidy returns which segments are to be written anew as one, none if all is well, and which of their
// runs are kept. Nobody else merges them until their field merging is taken back.
func (n *index) untidy() (old []*segment.Segment, keep func(*segment.Run) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	keep = n.rosterNow().keep
	if k := segment.Due(n.segments); k > 0 {
		old = append(old, n.segments[len(n.segments)-k:]...)
	} else {
		for _, s := range n.segments {
			if s.HasOther(keep) {
				old = append(old, s)
				break
			}
		}
	}
	for _, s := range old {
		s.Merging = true
	}
	return old, keep
}

// dropDamaged drops those of some segments that cannot be read.
func (n *index) dropDamaged(list []*segment.Segment, why error) {
	for _, s := range list {
		r, c, err := readerOf(n.files, s)
		if err == nil {
			data := make([]byte, s.Size)
			if _, err = r.ReadAt(data, 0); err == nil || errors.Is(err, io.EOF) {
				err = segment.Verify(data)
			}
			c.Close()
		}
		if err != nil {
			n.dropSegment(s, why)
		}
	}
}

// purge removes from the segments the records of sessions that were removed, now or before the index was
// read. It is the work of a builder.
func (n *index) purge(ctx context.Context) {
	defer n.e.release(n)
	n.purging.Store(false)
	if ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	n.settle()
	none := len(n.segments) == 0 && n.last == nil
	n.mu.Unlock()
	if none {
		return // nobody's words
	}
	n.walk()
	n.mu.Lock()
	n.settle()
	keep := n.rosterNow().keep
	tail := n.last != nil && n.last.HasOther(keep)
	n.mu.Unlock()
	var err error
	if tail {
		n.work <- struct{}{}
		err = n.save(ctx, 0)
		<-n.work
	}
	if err == nil {
		err = n.tidy(ctx)
	}
	if err != nil && ctx.Err() == nil {
		n.e.log.Warn("search index not purged", "owner", n.of.Owner(), "err", err)
	}
	n.e.grown(n)
}

// finish writes the tail to the disk before the engine ends.
func (n *index) finish() {
	select {
	case n.work <- struct{}{}:
		defer func() { <-n.work }()
	default:
		return
	}
	n.mu.Lock()
	due := n.loaded && (n.unsaved > 0 || n.tail != nil && n.tail.N > 0)
	n.mu.Unlock()
	if due {
		if err := n.save(context.Background(), 0); err != nil {
			n.e.log.Debug("search index not saved", "owner", n.of.Owner(), "err", err)
		}
	}
}
