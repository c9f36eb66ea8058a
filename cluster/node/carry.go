package node

import (
	"context"
	"errors"

	"github.com/ctxfs/ctxfs/cluster/carry"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// carrier returns what carries sessions of the store into the cluster and out of it.
func (n *Node) carrier() *carry.Carrier {
	return carry.New(carry.Options{
		Engine: n.o.Engine, Name: n.o.Name, Host: n.Host, Step: n.step,
		View: func(ctx context.Context, ref ctxabi.Ref, look func(s *names.State)) error {
			if err := n.keeper.Enter(ctx, ref); err != nil {
				return err
			}
			return n.keeper.View(ref, look)
		},
		Commit: func(ctx context.Context, ref ctxabi.Ref, op names.Op) error {
			_, err := n.keeper.Commit(ctx, ref, op, nil)
			return err
		},
	})
}

// Publish brings a session of this host alone into the cluster. It returns the errors of [carry.Carrier.Publish].
func (n *Node) Publish(ctx context.Context, x *session.Session) error {
	if why := n.stopped.Load(); why != nil {
		return *why
	}
	if err := n.carrier().Publish(ctx, x); err != nil {
		return kinded(err)
	}
	n.known.Store(x.ID(), true)
	return nil
}

// Withdraw takes a session out of the cluster: this host alone has it then, and can change it. It returns the errors of
// [carry.Carrier.Withdraw].
func (n *Node) Withdraw(ctx context.Context, x *session.Session) error {
	if why := n.stopped.Load(); why != nil {
		return *why
	}
	n.mu.Lock()
	if f := n.sessions[x]; f != nil {
		f.end()
		delete(n.sessions, x)
	}
	n.mu.Unlock()
	err := n.carrier().Withdraw(ctx, x)
	n.known.Delete(x.ID()) // what is still in the cluster is found there again
	return kinded(err)
}

// build makes a session that has content, as a fork has: it is put into its place, and published from there. Where that
// is refused it is removed again; where nobody knows whether it happened, it stays as one of this host.
func (n *Node) build(ctx context.Context, s *session.Store, c session.NameChange) error {
	if err := s.ApplyName(c); err != nil {
		return err
	}
	x, err := s.Session(c.Ref)
	if err != nil {
		return err
	}
	if err = n.Publish(ctx, x); err != nil && !errors.Is(err, engine.ErrUnknown) {
		if gone := s.ApplyName(session.NameChange{Kind: session.RemoveSession, Ref: c.Ref, ID: c.ID}); gone != nil {
			n.log.Warn("a session that was not made is still here", "session", c.Ref.Path(), "err", gone)
		}
	}
	return err
}

// commitHere commits records to a session that was withdrawn, as a store does that is alone. It returns the errors of
// that, and ctxabi.ErrDenied if it is about to be published.
func (n *Node) commitHere(ctx context.Context, l *log.Log, b log.Batch, expected int64) (int64, error) {
	release, err := log.HoldWithin(ctx, l)
	if err != nil {
		return 0, err
	}
	defer release()
	if err := n.mayChange(l.Dir().Ref(), l.Dir().ID(), "append", l.Name()); err != nil && !carry.IsLocal(l.Dir()) {
		return 0, err
	}
	if expected == log.Anywhere {
		tail, err := l.Tail()
		if err != nil {
			return 0, err
		}
		expected = tail.Size
	}
	return log.Local().Commit(ctx, l, b, expected)
}
