package search

import (
	"time"

	"github.com/ctxfs/ctxfs/session"
)

// Used is when the session was searched last, alone or among others, by the store's clock; zero: not as far as is remembered.
func (e *Engine) Used(x *session.Session) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n, ok := e.open.Peek(x); ok {
		if ns := n.used.Load(); ns > 0 {
			return time.Unix(0, ns)
		}
	}
	return time.Time{}
}

// Forget drops the index of a session: remove takes it from the disk, and reports whether it did. While somebody searches the
// session or indexes it nothing is done. The error is that of remove.
func (e *Engine) Forget(x *session.Session, remove func() (bool, error)) (done bool, err error) {
	n := e.indexOf(x)
	defer e.release(n)
	select {
	case n.work <- struct{}{}:
		defer func() { <-n.work }()
	default:
		return false, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	e.mu.Lock()
	alone := n.users == 1
	e.mu.Unlock()
	if !alone || n.building != nil {
		return false, nil
	}
	if done, err = remove(); done {
		n.parts, n.next, n.loaded = [2]part{}, 1, true
	}
	return done, err
}
