package recall

import (
	"context"
	"slices"
	"sync"

	"github.com/ctxfs/ctxfs/pack/record"
)

// LacksBlock reports whether a whole block of the first n records is neither indexed nor known to be kept. It waits for nobody.
func (x *Terms) LacksBlock(n int) bool {
	return n-int(max(x.indexed.Load(), x.stored.Load())) >= blockRecords
}

// FillBlock indexes one whole block of the records of m before anybody asks, and reports whether there may be more. A question that
// comes meanwhile waits for that one, and indexes the rest itself. There is no more where the store keeps no block, or has the last
// one of m. It returns the error of ctx when that ends.
func (x *Terms) FillBlock(ctx context.Context, m record.Records) (more bool, err error) {
	select {
	case x.busy <- struct{}{}:
		defer func() { <-x.busy }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	blocks, k := m.Len()/blockRecords, len(x.sealed)
	if x.store == nil || k >= blocks {
		return false, nil
	}
	if _, last, _, err := x.store(blocks - 1).Open(); err == nil { // they are stored in their order
		x.stored.Store(int64(blocks * blockRecords))
		return false, last.Close()
	}
	if err := x.upTo(ctx, m, (k+1)*blockRecords, 1); err != nil {
		return false, err
	}
	b := x.sealed[len(x.sealed)-1]
	return b.segment.Data == nil && len(x.sealed) < blocks, nil
}

// upTo indexes the records of m that are not yet, up to the one at place n, by so many workers; x.busy is held. It returns the error
// of ctx when that ends.
func (x *Terms) upTo(ctx context.Context, m record.Records, n, workers int) error {
	for k, b := range x.sealed { // an event came to stand in front of others
		if end := (k + 1) * blockRecords; end <= m.Len() && record.ToolsUpTo(m, end) != b.tools {
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
		if len(x.open.lengths) == 0 {
			if x.load(m) {
				continue
			}
			if blocks := (n - x.len()) / blockRecords; blocks > 1 && workers > 1 {
				if err := x.upToBlocks(ctx, m, min(blocks, workers)); err != nil {
					return err
				}
				continue
			}
		}
		unread, err := x.open.grow(ctx, m, len(x.sealed)*blockRecords, min(blockRecords, n-len(x.sealed)*blockRecords))
		x.unread = append(x.unread, unread...)
		if err != nil {
			return err
		}
		if len(x.open.lengths) == blockRecords {
			if err := x.add(m, &x.open); err != nil {
				return err
			}
		}
	}
	return nil
}

// upToBlocks indexes the records of so many blocks, each by a goroutine of its own, up to the first that is kept; the open one
// is empty. x.busy is held. It returns the error of ctx when that ends; then it has the blocks that were made before.
func (x *Terms) upToBlocks(ctx context.Context, m record.Records, blocks int) error {
	type made struct {
		termBlock
		unread []int
		err    error
	}
	first := len(x.sealed)
	all := make([]made, blocks)
	var working sync.WaitGroup
	for i := range all {
		if i > 0 && x.store != nil && x.store(first+i).Load() != nil {
			all = all[:i]
			break
		}
		b := &all[i]
		working.Go(func() {
			b.unread, b.err = b.grow(ctx, m, (first+i)*blockRecords, blockRecords)
		})
	}
	working.Wait()
	for i := range all {
		if all[i].err != nil {
			return all[i].err
		}
		x.unread = append(x.unread, all[i].unread...)
		if err := x.add(m, &all[i].termBlock); err != nil {
			return err
		}
	}
	return nil
}

// add appends a whole block to the sealed ones and stores it; the open one is empty then. x.busy is
// held. It returns an error if no segment can be made of the block.
func (x *Terms) add(m record.Records, whole *termBlock) error {
	b, err := whole.seal()
	if err != nil {
		return err
	}
	x.keep(m, b)
	x.sealed, x.open = append(x.sealed, b), termBlock{tools: b.tools}
	x.sizes += b.bytes()
	x.weigh()
	return nil
}

// grow indexes records of m behind the first before ones until the block has so many, and returns the places of those that cannot
// be read. It returns the error of ctx when that ends.
func (b *termBlock) grow(ctx context.Context, m record.Records, before, records int) (unread []int, err error) {
	for len(b.lengths) < records {
		at := before + len(b.lengths) + 1
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
