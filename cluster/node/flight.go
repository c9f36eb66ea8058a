package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// flight is something that several callers wait for and one goroutine does.
type flight struct {
	mu   sync.Mutex
	done chan struct{} // closed when what is under way has ended; nil: nothing is; guarded by mu
	err  error         // of what ended last; guarded by mu
}

// wait has do done, unless it is under way, and waits for its end, but not longer than bound. late is true if it
// has not ended, by then or by the end of ctx.
func (f *flight) wait(ctx context.Context, bound time.Duration, do func() error) (late bool, err error) {
	f.mu.Lock()
	done := f.done
	if done == nil {
		done = make(chan struct{})
		f.done = done
		go func() {
			err := do()
			f.mu.Lock()
			f.done, f.err = nil, err
			f.mu.Unlock()
			close(done)
		}()
	}
	f.mu.Unlock()
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-done:
		f.mu.Lock()
		defer f.mu.Unlock()
		return false, f.err
	case <-timer.C:
	case <-ctx.Done():
	}
	return true, nil
}

// deafFor is for how long nobody waits again for what was not answered in time, unless there is nothing to show: a directory
// has many files, each of which is looked up.
const deafFor = time.Second

// deaf remembers that something was not answered in time. The zero deaf does not.
type deaf struct {
	until atomic.Int64 // ns after Node.began
}

// bound returns how long to wait: Bound, or not at all if an answer did not come in time, a moment ago. Where each look-up asks
// it is Bound.
func (d *deaf) bound(n *Node) time.Duration {
	if n.o.Freshness > 0 && n.age(time.Now()) < d.until.Load() {
		return 0
	}
	return Bound
}

// heard notes whether an answer came in time.
func (d *deaf) heard(n *Node, ok bool) {
	if ok {
		d.until.Store(0)
	} else if now := n.age(time.Now()); now >= d.until.Load() {
		d.until.Store(now + int64(deafFor))
	}
}

// age returns how many nanoseconds after the beginning of the node a moment is, at least 1, whatever is done to the
// clock of the machine meanwhile.
func (n *Node) age(at time.Time) int64 { return max(1, int64(at.Sub(n.began))) }
