package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// CatchUp applies what the journal has behind the copy's position, at least up to the sequence to, of
// which the caller knows that it exists. What one replica of the engine lacks, or has otherwise than the
// chain allows, is read from the leader. CatchUp returns ErrBehind if the engine does not find it,
// ErrTrimmed if it lies in a snapshot that cannot be restored, the errors of Apply, and those of the
// engine. What was applied until then stays.
func (c *Copy) CatchUp(ctx context.Context, to uint64) error {
	leader := false
	for c.at.Seq < to {
		was := c.at.Seq
		list, err := c.o.Engine.Read(ctx, c.subject, engine.Range{From: was + 1, Leader: leader})
		if leader && errors.Is(err, engine.ErrDenied) {
			return fmt.Errorf("%w: up to sequence %d", ErrBehind, to)
		}
		if err != nil {
			return err
		}
		for _, e := range list {
			if err = c.Apply(ctx, e); err != nil {
				break
			}
		}
		switch {
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
		leader = false
	}
	return nil
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
		return fmt.Errorf("%w: %w", ErrTrimmed, err)
	}
	if at.I <= c.at.I {
		return fmt.Errorf("%w: %w: the snapshot ends at entry %d", ErrTrimmed, cause, at.I)
	}
	c.partly, c.results = journal.Hash{}, nil
	if err := c.sets.load(c.x.Disk()); err != nil {
		return err
	}
	c.set(at)
	return c.Settle(ctx)
}

// Confirm asks the leader for the end of the journal and catches up to it. Once it returns nil the copy
// has all that was acknowledged before. It returns ErrOlder if the journal ends before the copy,
// journal.ErrChain if another entry stands where the copy ends, and the errors of CatchUp.
func (c *Copy) Confirm(ctx context.Context) error {
	end, err := c.o.Engine.Last(ctx, c.subject, true)
	if errors.Is(err, engine.ErrDenied) {
		end, err = c.o.Engine.Last(ctx, c.subject, false)
	}
	switch {
	case err != nil:
		return err
	case end.Seq < c.at.Seq:
		return fmt.Errorf("%w: at sequence %d, and %d was read", ErrOlder, end.Seq, c.at.Seq)
	case end.Seq > c.at.Seq:
		return c.CatchUp(ctx, end.Seq)
	case end.ID != "" && !c.at.Ends(end):
		return fmt.Errorf("%w: at its end, sequence %d", journal.ErrChain, end.Seq)
	}
	return nil
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
