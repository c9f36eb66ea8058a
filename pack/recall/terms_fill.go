package recall

import (
	"context"
	"slices"
	"sync"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Ends is the number of bytes at each end of a record that recall reads.
const Ends = 8 << 10

// Len returns the number of indexed records. It never blocks.
func (x *Terms) Len() int { return int(x.indexed.Load()) }

// Fill indexes records of m up to place n, but at most one of the largest blocks, and reports
// whether more are missing. A concurrent search waits for it and then indexes the rest itself. Fill
// returns the error of ctx if ctx ends.
func (x *Terms) Fill(ctx context.Context, m record.Records, n int) (more bool, err error) {
	select {
	case x.busy <- struct{}{}:
		defer func() { <-x.busy }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	err = x.upTo(ctx, m, min(n, (x.len()/BlockRecords+1)*BlockRecords), 1)
	return x.len() < n, err
}

// upTo indexes the records of m that are not yet, up to the one at place n, by so many workers;
// x.busy is held. It returns the error of ctx when that ends.
func (x *Terms) upTo(ctx context.Context, m record.Records, n, workers int) error {
	for _, b := range x.sealed { // an event came to stand in front of others
		if end := b.end(); end <= m.Len() && record.ToolsUpTo(m, end) != b.tools {
			x.reset(end)
			break
		}
	}
	if all := x.len(); all <= m.Len() && record.ToolsUpTo(m, all) != x.open.tools {
		x.reset(all)
	}
	for _, at := range slices.Clone(x.unread) {
		if at > m.Len() {
			continue
		}
		if _, ok := wordsAt(m, at); ok {
			x.reset(at)
			break
		}
	}
	defer x.weigh()
	for x.len() < n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(x.open.lengths) == 0 {
			if x.load(m) {
				continue
			}
			blocks := (n - x.end()) / BlockRecords
			if blocks > 1 && workers > 1 && x.end()%BlockRecords == 0 {
				if err := x.upToBlocks(ctx, m, min(blocks, workers)); err != nil {
					return err
				}
				continue
			}
		}
		size := x.nextSize(n)
		before := len(x.open.lengths)
		unread, err := x.open.grow(ctx, m, min(size, n-x.end()))
		x.read += len(x.open.lengths) - before
		x.unread = append(x.unread, unread...)
		if err != nil {
			return err
		}
		if len(x.open.lengths) == size {
			if err := x.add(ctx, m, &x.open); err != nil {
				return err
			}
		}
	}
	return nil
}

// nextSize returns the number of records at which the open block is sealed if n records are
// indexed: the largest size that may begin at its place and fits. x.busy is held.
func (x *Terms) nextSize(n int) int {
	at, size := x.end(), blockSizes[0]
	for _, s := range blockSizes[1:] {
		if at%s == 0 && (at+s <= n || len(x.open.lengths) > size) {
			size = s
		}
	}
	return size
}

// upToBlocks indexes up to blocks blocks of the largest size, each in its own goroutine, and stops
// before the first stored block. The open block must be empty, and x.busy is held. If ctx ends, it
// returns the error of ctx and keeps the blocks that are complete.
func (x *Terms) upToBlocks(ctx context.Context, m record.Records, blocks int) error {
	type made struct {
		termBlock
		unread []int
		err    error
	}
	first := x.end()
	all := make([]made, blocks)
	var working sync.WaitGroup
	for i := range all {
		before := first + i*BlockRecords
		if i > 0 && x.isStored(before) {
			all = all[:i]
			break
		}
		b := &all[i]
		working.Go(func() {
			b.first = before
			b.unread, b.err = b.grow(ctx, m, BlockRecords)
		})
	}
	working.Wait()
	for i := range all {
		if all[i].err != nil {
			return all[i].err
		}
		x.unread = append(x.unread, all[i].unread...)
		x.read += BlockRecords
		if err := x.add(ctx, m, &all[i].termBlock); err != nil {
			return err
		}
	}
	return nil
}

// add makes a segment of a whole block, stores it, and merges the last blocks if they complete a
// larger one; the open block is empty then. x.busy is held. It returns an error if no segment can
// be made.
func (x *Terms) add(ctx context.Context, m record.Records, whole *termBlock) error {
	b, err := whole.seal()
	if err != nil {
		return err
	}
	for {
		x.keep(m, b)
		x.sealed, x.open = append(x.sealed, b), termBlock{first: b.end(), tools: b.tools}
		x.sizes += b.bytes()
		x.weigh()
		size, k := len(b.lengths), len(x.sealed)-mergedBlocks
		if size == BlockRecords || b.end()%(mergedBlocks*size) != 0 || k < 0 || len(x.sealed[k].lengths) != size {
			return nil
		}

		parts := slices.Clone(x.sealed[k:])
		if b, err = x.merged(ctx, parts); err != nil {
			return nil // a search finds the blocks unmerged, or that one is gone
		}
		for _, p := range parts {
			x.sizes -= p.bytes()
			if x.store != nil {
				defer x.store(p.first, size).Remove() // after the merged one is stored
			}
		}
		x.sealed = x.sealed[:k]
	}
}

// grow indexes records of m until the block has the given number, and returns the places of
// unreadable records. It returns the error of ctx when that ends.
func (b *termBlock) grow(ctx context.Context, m record.Records, records int) (unread []int, err error) {
	for len(b.lengths) < records {
		at := b.end() + 1
		if at%64 == 0 && ctx.Err() != nil {
			return unread, ctx.Err()
		}
		text, ok := wordsAt(m, at)
		if !ok {
			unread = append(unread, at)
		}
		b.add(text)
		b.tools = record.ToolsUpTo(m, at)
	}
	return unread, nil
}

// withoutLists returns a record without calls that keep a to-do list, since a newer list is shown
// elsewhere, and without the texts that edits remove.
func withoutLists(r record.Excerpt) record.Excerpt {
	r.Calls = slices.DeleteFunc(slices.Clone(r.Calls), func(c ctxabi.Call) bool { return derived.KeepsList(c.Name) })
	for i := range r.Calls {
		r.Calls[i].Arguments = journal.WithoutRemoved(r.Calls[i])
	}
	return r
}

// wordsAt returns the text of the record at a place that is indexed; ok is false if the record cannot
// be read.
func wordsAt(m record.Records, at int) (text string, ok bool) {
	r, err := record.WordsOf(m, at)
	if err != nil || record.IsUnread(m, at) {
		return "", false
	}
	r = withoutLists(r)
	text, _ = journal.BothEnds(r.Whole(), Ends)
	return text, true
}
