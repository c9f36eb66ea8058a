package node

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// seen is a session that is followed.
type seen struct {
	used   atomic.Int64 // ns after Node.began when somebody looked
	flight flight
	deaf   deaf
	end    context.CancelFunc
}

// Look brings the copy of a session up to date if it was not confirmed within Options.Freshness, and follows it from
// then on. It waits for Bound at most where there is a copy, and returns nil then; else it returns
// ctxabi.ErrUnreachable, ctxabi.ErrDenied, or ctxabi.ErrIO if the session cannot be a copy.
func (n *Node) Look(ctx context.Context, x *session.Session) error {
	return n.look(ctx, x, n.follow, n.o.Freshness)
}

// Glance is Look for who looks for something in many sessions at once: however fresh a copy is it is brought up to date, since
// what was just made on another host counts, and a session that is not followed is not followed from then on. It returns the
// errors of Look.
func (n *Node) Glance(ctx context.Context, x *session.Session) error {
	return n.look(ctx, x, func(x *session.Session) *seen {
		n.mu.Lock()
		defer n.mu.Unlock()
		if f := n.sessions[x]; f != nil || n.ctx.Err() != nil {
			return f
		}
		return &seen{}
	}, 0)
}

// look is Look with what the node knows of a session, and a copy that was confirmed within the time fresh; as returns nil once
// the node ends.
func (n *Node) look(ctx context.Context, x *session.Session, as func(*session.Session) *seen, fresh time.Duration) error {
	if !n.isShared(x.Ref(), x.ID()) || x.Removed() {
		return nil
	}
	f := as(x)
	if f == nil {
		return nil // the node ends
	}
	if fresh > 0 && n.isFresh(x) {
		return nil
	}
	bound := f.deaf.bound(n)
	if !n.hasCopy(x) {
		bound = n.o.Timeout
	}
	late, err := f.flight.wait(ctx, bound, func() error {
		err := n.freshen(x)
		if err == nil {
			f.deaf.heard(n, true)
		}
		return err
	})
	if late || err != nil {
		f.deaf.heard(n, false)
	}
	if (late || err != nil) && !n.hasCopy(x) && !x.Removed() {
		if _, ok := errors.AsType[*ctxabi.Error](err); ok {
			return err
		}
		return &ctxabi.Error{Op: "open", Kind: ctxabi.ErrUnreachable, Err: err, Why: "the cluster does not answer, and this host has no copy of the session"}
	}
	if err != nil {
		n.log.Debug("a copy may be behind", "session", x.ID(), "err", err)
	}
	return nil
}

// isFresh reports whether the copy was confirmed within Options.Freshness.
func (n *Node) isFresh(x *session.Session) bool {
	at := n.Complete(x)
	return !at.IsZero() && n.o.Freshness > 0 && time.Since(at) < n.o.Freshness
}

// hasCopy reports whether this host has read something of the session's journal, now or before.
func (n *Node) hasCopy(x *session.Session) bool { return !n.Complete(x).IsZero() || n.Holds(n.ctx, x) }

// freshen asks the leader for what the copy lacks.
func (n *Node) freshen(x *session.Session) error {
	ctx, cancel := context.WithTimeout(n.ctx, n.o.Timeout)
	defer cancel()
	if n.parts.gate != nil && !n.hasCopy(x) {
		if err := n.parts.gate(ctx, host.Subject(x)); err != nil {
			return err
		}
	}
	return n.Fresh(ctx, x, 0)
}

// Behind returns since when entries of other hosts may be missing in the copy of a session; ok is false if there is
// nothing to say: it was confirmed within Options.Freshness, or is of this host alone. It asks first, and waits for
// Bound at most.
func (n *Node) Behind(ctx context.Context, x *session.Session) (since time.Time, ok bool) {
	if !n.isShared(x.Ref(), x.ID()) || n.Look(ctx, x) == nil && n.isFresh(x) {
		return time.Time{}, false
	}
	at := n.Complete(x)
	if at.IsZero() {
		return n.began, true
	}
	return at, time.Since(at) >= max(n.o.Freshness, Bound)
}

// follow returns what the node knows of a session, which is followed from then on; nil once the node ends.
func (n *Node) follow(x *session.Session) *seen {
	n.mu.Lock()
	defer n.mu.Unlock()
	f := n.sessions[x]
	if f == nil {
		if n.ctx.Err() != nil {
			return nil
		}
		var ctx context.Context
		f = &seen{}
		ctx, f.end = context.WithCancel(n.ctx)
		n.sessions[x] = f
		n.Follow(ctx, x)
	}
	f.used.Store(n.age(time.Now()))
	return f
}

// leaveSessions ends the following of sessions that nobody has open or has looked at since.
func (n *Node) leaveSessions(since time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for x, f := range n.sessions {
		if x.Removed() || f.used.Load() < n.age(since) && n.opened(x.ID()) == 0 {
			f.end()
			delete(n.sessions, x)
		}
	}
}

// Followed returns how many sessions are followed, and when the one was confirmed that was confirmed longest ago, or
// would have been if all were confirmed each [host.ConfirmEvery]; the zero time if one never was, or there are none.
func (n *Node) Followed() (count int, oldest time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	for x := range n.sessions {
		at := n.Complete(x)
		if early := n.Due(x) - host.ConfirmEvery; early > 0 && !at.IsZero() {
			if at = at.Add(early); at.After(now) {
				at = now
			}
		}
		if count++; count == 1 || at.Before(oldest) {
			oldest = at
		}
	}
	return count, oldest
}

// isShared reports whether a session is in the cluster, as far as this host has read the names of its owner.
func (n *Node) isShared(ref ctxabi.Ref, id string) (shared bool) {
	if _, ok := n.known.Load(id); ok {
		return true
	}
	n.keeper.View(ref, func(s *names.State) { _, shared = s.SessionByID(id) })
	if shared {
		n.known.Store(id, true)
	}
	return shared
}
