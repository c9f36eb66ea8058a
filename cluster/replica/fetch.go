package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// CatchUp applies what the journal has behind the copy's position, at least up to the sequence to, of
// which the caller knows that it exists. While entries are applied the next ones are read. What one replica
// of the engine lacks, or has otherwise than the chain allows, is read from the leader. CatchUp returns
// ErrBehind if the engine does not find it, ErrTrimmed if it lies in a snapshot that cannot be restored, the
// errors of Apply, and those of the engine. What was applied until then stays.
func (c *Copy) CatchUp(ctx context.Context, to uint64) error {
	leader := false
	var ahead readAhead
	defer func() { ahead.drop() }()
	for c.at.Seq < to {
		was := c.at.Seq
		list, err := ahead.take(was+1, leader)
		if list == nil && err == nil {
			list, err = c.o.Engine.Read(ctx, c.subject, engine.Range{From: was + 1, Leader: leader})
		}
		if leader && errors.Is(err, engine.ErrDenied) {
			return fmt.Errorf("%w: up to sequence %d", ErrBehind, to)
		}
		if err != nil {
			return err
		}
		if n := len(list); n > 0 && list[n-1].Seq < to && !leader {
			ahead = c.readAhead(ctx, list[n-1].Seq+1)
		}
		err = c.applyAll(ctx, list)
		switch {
		case errors.Is(err, journal.ErrGap) && namesSnapshot(list[0]) && c.restore(ctx, err) == nil:
			list = slices.DeleteFunc(list, func(e engine.Entry) bool { return e.Seq <= c.at.Seq })
			if err = c.applyAll(ctx, list); breaks(err) {
				err = nil // what is behind the snapshot is read again
			}
		case err != nil && !leader && breaks(err), err == nil && c.at.Seq == was && !leader:
			leader = true // this replica has lost something, or does not have it yet
			continue
		case errors.Is(err, journal.ErrGap):
			err = c.restore(ctx, err)
		case err == nil && c.at.Seq == was:
			err = fmt.Errorf("%w: up to sequence %d", ErrBehind, to)
		}
		if err != nil {
			return err
		}
		if leader && c.o.Repaired != nil {
			c.o.Repaired()
		}
		leader = false
	}
	return nil
}

// readAhead is a read that is under way; the zero readAhead is none.
type readAhead struct {
	from uint64
	done <-chan answer // has one answer, once it came
	stop context.CancelFunc
}

// answer is what a read returned.
type answer struct {
	list []engine.Entry
	err  error
}

// readAhead begins to read entries from a sequence on.
func (c *Copy) readAhead(ctx context.Context, from uint64) readAhead {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan answer, 1)
	go func() {
		list, err := c.o.Engine.Read(ctx, c.subject, engine.Range{From: from})
		done <- answer{list, err}
	}()
	return readAhead{from, done, stop}
}

// take waits for what was read, and returns it if it begins at the sequence from and need not come from the leader;
// else it drops it and returns nothing. It returns the errors of Engine.Read.
func (r *readAhead) take(from uint64, leader bool) (list []engine.Entry, err error) {
	defer r.drop()
	if r.done == nil || leader || r.from != from {
		return nil, nil
	}
	a := <-r.done
	*r = readAhead{stop: r.stop}
	return a.list, a.err
}

// drop ends the read, and waits until it has ended.
func (r *readAhead) drop() {
	if r.stop != nil {
		r.stop()
	}
	if r.done != nil {
		<-r.done
	}
	*r = readAhead{}
}

// namesSnapshot reports whether an entry has the row with which a journal goes on that was trimmed.
func namesSnapshot(from engine.Entry) bool {
	e, err := journal.Peek(from)
	return err == nil && slices.ContainsFunc(e.Rows, func(r journal.Row) bool { return r.Kind == journal.Snapshot })
}

// breaks reports whether an error of Apply means that the entry is not the journal's next one.
func breaks(err error) bool {
	return errors.Is(err, journal.ErrGap) || errors.Is(err, journal.ErrChain) || errors.Is(err, journal.ErrDamaged)
}

// restore goes on from a snapshot where entries were trimmed. It returns cause with ErrTrimmed if it
// cannot.
func (c *Copy) restore(ctx context.Context, cause error) error {
	if c.o.Restore == nil {
		return fmt.Errorf("%w: %w", ErrTrimmed, cause)
	}
	at, err := c.o.Restore(ctx, c.x, c.subject, c.at.I)
	if err != nil {
		return fmt.Errorf("%w: %w: %w", ErrTrimmed, cause, err)
	}
	if at.I <= c.at.I {
		return fmt.Errorf("%w: %w: the snapshot ends at entry %d", ErrTrimmed, cause, at.I)
	}
	c.begun = nil
	if err := c.sets.load(c.x.Disk()); err != nil {
		return err
	}
	c.set(at)
	if c.o.Restored != nil {
		c.o.Restored(at)
	}
	return c.Settle(ctx)
}

// emptied decides what it means that the journal has no entries: it is parked, and the copy has all of it
// or gets it, or the result is otherwise.
func (c *Copy) emptied(ctx context.Context, otherwise error) error {
	if c.o.Parked == nil {
		return otherwise
	}
	p, ok, err := c.o.Parked(ctx, c.subject)
	switch {
	case err != nil:
		return err
	case !ok:
		return otherwise
	case p.I > c.at.I:
		return c.restore(ctx, fmt.Errorf("the journal is parked behind entry %d", p.I))
	case p.Position != c.at.Position:
		return fmt.Errorf("%w: it is parked behind entry %d, and %d were read", ErrOlder, p.I, c.at.I)
	}
	if c.at.Seq == 0 {
		return nil
	}
	at := c.at
	at.Seq = 0
	c.set(at)
	return c.Settle(ctx)
}

// Confirm asks the leader for the end of the journal and catches up to it. Once it returns nil the copy
// has all that was acknowledged before. It returns ErrOlder if the journal ends before the copy
// or has entries and no end,
// journal.ErrChain if another entry stands where the copy ends, and the errors of CatchUp.
func (c *Copy) Confirm(ctx context.Context) error {
	end, err := c.o.Engine.Last(ctx, c.subject, true)
	if errors.Is(err, engine.ErrDenied) {
		end, err = c.o.Engine.Last(ctx, c.subject, false)
	}
	switch {
	case err != nil:
		return err
	case end.Seq == 0 && c.at.I == 0:
		if err := c.Empty(ctx); err != nil {
			return err
		}
		return c.emptied(ctx, nil)
	case end.Seq == 0: // parked, since when the copy was last told, or anew
		return c.emptied(ctx, fmt.Errorf("%w: it has no entries, and %d were read", ErrOlder, c.at.I))
	case end.Seq < c.at.Seq:
		return fmt.Errorf("%w: at sequence %d, and %d was read", ErrOlder, end.Seq, c.at.Seq)
	case end.Seq > c.at.Seq:
		return c.CatchUp(ctx, end.Seq)
	case end.ID != "" && !c.at.Ends(end):
		return fmt.Errorf("%w: at its end, sequence %d", journal.ErrChain, end.Seq)
	}
	return nil
}

// Empty returns nil if the journal has no entry at all. A server answers that it has none, too, if it cannot read the
// last one. Empty returns ErrOlder if others are there, and the errors of the engine.
func (c *Copy) Empty(ctx context.Context) error {
	list, err := c.o.Engine.Read(ctx, c.subject, engine.Range{From: 1, Count: 1, Leader: true})
	if errors.Is(err, engine.ErrDenied) {
		list, err = c.o.Engine.Read(ctx, c.subject, engine.Range{From: 1, Count: 1})
	}
	if err != nil || len(list) == 0 {
		return err
	}
	end, err := c.o.Engine.Last(ctx, c.subject, true) // it may have begun meanwhile
	if errors.Is(err, engine.ErrDenied) {
		end, err = c.o.Engine.Last(ctx, c.subject, false)
	}
	if err != nil || end.Seq > 0 {
		return err
	}
	return fmt.Errorf("%w: its last entry cannot be read, and the one at sequence %d can", ErrOlder, list[0].Seq)
}

// Offer takes an entry of a feed: it is applied if it is the next one; if there is a gap before it, the
// copy catches up. It returns the errors of CatchUp.
func (c *Copy) Offer(ctx context.Context, e engine.Entry) error {
	if e.Seq <= c.at.Seq {
		return nil
	}
	if e.Prev == c.at.Seq && e.ID != "" {
		if err := c.Apply(ctx, e); err == nil || !breaks(err) {
			return err
		}
	}
	return c.CatchUp(ctx, e.Seq)
}
