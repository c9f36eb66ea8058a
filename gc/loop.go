package gc

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// DefaultInterval is how often the loop looks for sessions that are due.
const DefaultInterval = time.Minute

// maxSwept is how many sessions one round sweeps at most, those first that have been due the
// longest.
const maxSwept = 256

// Start runs a round every interval, and soon after [Collector.Changed], until stop is called. stop
// waits for a round that runs; it may be called more than once.
func (c *Collector) Start(interval time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(interval)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			case <-c.wake:
			}
			if _, err := c.Round(ctx); err != nil && ctx.Err() == nil {
				c.o.Logger.Warn("garbage collection", "err", err)
			}
		}
	}()
	return sync.OnceFunc(func() {
		cancel()
		<-done
	})
}

// Changed requests a sweep of the session soon, because its policy changed. It is only an
// optimisation: the next round finds the change in any case.
func (c *Collector) Changed(ref ctxabi.Ref) {
	st := c.state(ref)
	c.mu.Lock()
	st.due = time.Time{}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// due is a session that a round is to sweep.
type due struct {
	ref ctxabi.Ref
	at  time.Time
}

// Round glances at all sessions, sweeps those that are due and returns how many it swept. An error
// of one session stops none of the others: Round returns all errors, joined, or ctx.Err() if ctx
// ended.
func (c *Collector) Round(ctx context.Context) (swept int, err error) {
	c.walking.Lock()
	defer c.walking.Unlock()
	list, failed := c.due(ctx)
	slices.SortStableFunc(list, func(a, b due) int { return a.at.Compare(b.at) })
	for _, d := range list[:min(len(list), maxSwept)] {
		if ctx.Err() != nil {
			break
		}
		r, err := c.sweep(ctx, d.ref, false)
		switch {
		case errors.Is(err, ctxabi.ErrNotFound): // removed or renamed since
		case err != nil:
			failed = errors.Join(failed, err)
			c.later(d.ref)
		default:
			swept++
			if r.Removed.Count > 0 {
				c.o.Logger.Debug("collected", "session", d.ref, "removed", r.Removed.Count, "bytes", r.Removed.Bytes)
			}
		}
	}
	failed = errors.Join(failed, c.sweepTmp())
	c.mu.Lock()
	c.totals.Runs++
	c.totals.Last = c.store.Now()
	c.mu.Unlock()
	return swept, cmp.Or(ctx.Err(), failed)
}

// later defers a session whose sweep failed.
func (c *Collector) later(ref ctxabi.Ref) {
	now := c.store.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if st := c.states[ref]; st != nil {
		st.due = now.Add(recheck)
	}
}

// due glances at all sessions, without opening any, and returns those in which something may go,
// with the errors of the others.
func (c *Collector) due(ctx context.Context) (list []due, failed error) {
	now := c.store.Now()
	seen := map[ctxabi.Ref]bool{}
	for ref := range c.store.Sessions() {
		if ctx.Err() != nil {
			return nil, nil
		}
		seen[ref] = true
		was, at := c.known(ref)
		g, err := c.store.Glance(ref, was)
		if err == nil && g.Stamp == was {
			if now.Before(at) {
				continue
			}
			g, err = c.store.Glance(ref, "")
		}
		switch {
		case errors.Is(err, ctxabi.ErrNotFound): // removed or renamed since
		case err != nil:
			failed = errors.Join(failed, err)
		case g.Derived:
			list = append(list, due{ref, at})
		default:
			c.idle(ref, g.Stamp, now.Add(recheck))
		}
	}
	c.mu.Lock()
	for ref := range c.states {
		if !seen[ref] {
			delete(c.states, ref)
		}
	}
	c.mu.Unlock()
	return list, failed
}

// known returns the stamp of a session at its last plan, "" if there was none, and when the session
// is due.
func (c *Collector) known(ref ctxabi.Ref) (stamp string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st := c.states[ref]; st != nil {
		return st.stamp, st.due
	}
	return "", time.Time{}
}

// idle records that nothing of a session may go before until, unless its stamp changes.
func (c *Collector) idle(ref ctxabi.Ref, stamp string, until time.Time) {
	st := c.state(ref)
	c.mu.Lock()
	st.stamp, st.due = stamp, until
	c.mu.Unlock()
}
