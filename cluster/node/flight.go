package node

import (
	"context"
	"sync"
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

// age returns how many nanoseconds after the beginning of the node a moment is, at least 1, whatever is done to the
// clock of the machine meanwhile.
func (n *Node) age(at time.Time) int64 { return max(1, int64(at.Sub(n.began))) }
