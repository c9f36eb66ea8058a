package node

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// entered is an owner whose names are kept up to date.
type entered struct {
	ref     ctxabi.Ref
	subject engine.Subject
	used    atomic.Int64 // ns after Node.began when somebody looked
	at      atomic.Int64 // ns after Node.began of a moment up to which all names were read, at least 1; 0: never
	flight  flight
	deaf    deaf
	follows atomic.Bool
	end     context.CancelFunc // ends the following; set with follows
}

// Enter brings the names of the owner of ref up to date: his agents, sessions and files are on this host when it
// returns nil. It waits for Bound at most where this host knows something of the owner, and returns nil then; else
// it returns ctxabi.ErrUnreachable. A space of which nothing is known is asked for each time: one that was made in the
// store beside the mount is then one that hosts share.
func (n *Node) Enter(ctx context.Context, ref ctxabi.Ref) error {
	o := n.owner(ref)
	now := n.age(time.Now())
	o.used.Store(now)
	if at := o.at.Load(); at != 0 && time.Duration(now-at) < n.o.Freshness && (o.ref.Space == "" || n.knows(o)) {
		return nil
	}
	return n.enterNow(ctx, o)
}

// enterNow is Enter however fresh the names are.
func (n *Node) enterNow(ctx context.Context, o *entered) error {
	bound := o.deaf.bound(n)
	if o.at.Load() == 0 && !n.knows(o) {
		bound = n.o.Timeout
	}
	late, err := o.flight.wait(ctx, bound, func() error {
		err := n.enter(o)
		if err == nil {
			o.deaf.heard(n, true)
		}
		return err
	})
	if late || err != nil {
		o.deaf.heard(n, false)
	}
	if errors.Is(err, engine.ErrDenied) {
		return nil // an owner of whom this host reaches nothing: what is here is of this host alone
	}
	if late || err != nil {
		if !n.knows(o) {
			return &ctxabi.Error{Op: "enter", Path: o.ref.Owner(), Kind: ctxabi.ErrUnreachable, Err: err, Why: "the cluster does not say what is in it, and this host has never read it"}
		}
		if err != nil {
			n.log.Debug("names may be old", "owner", o.ref.Owner(), "err", err)
		}
	}
	return nil
}

// owner returns what the node knows of the owner of ref.
func (n *Node) owner(ref ctxabi.Ref) *entered {
	ref.Agent, ref.Session = "", ""
	subject := names.SubjectOf(ref)
	n.mu.Lock()
	defer n.mu.Unlock()
	o := n.owners[subject.Owner]
	if o == nil {
		o = &entered{ref: ref, subject: subject}
		n.owners[subject.Owner] = o
	}
	return o
}

// knows reports whether this host has read something of an owner's journal, now or before.
func (n *Node) knows(o *entered) (known bool) {
	n.keeper.View(o.ref, func(s *names.State) { known = s.At().I > 0 })
	return known
}

// enter reads an owner's names, and follows them from then on.
func (n *Node) enter(o *entered) error {
	ctx, cancel := context.WithTimeout(n.ctx, n.o.Timeout)
	defer cancel()
	asked := time.Now()
	if o.follows.Load() {
		if err := n.keeper.Refresh(ctx, o.ref); err != nil {
			return err
		}
		o.at.Store(n.age(asked))
		return nil
	}
	if !n.knows(o) && n.parts.gate != nil {
		if err := n.parts.gate(ctx, o.subject); err != nil {
			return err
		}
	}
	if err := n.keeper.Enter(ctx, o.ref); err != nil {
		return err
	}
	o.at.Store(n.age(asked))
	n.followOwner(o)
	return nil
}

// followOwner keeps the names of an owner up to date until leaveOwners ends it.
func (n *Node) followOwner(o *entered) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(n.ctx)
	o.end = cancel
	o.follows.Store(true)
	n.tasks.Go(func() {
		defer o.follows.Store(false)
		for ctx.Err() == nil {
			if err := n.keeper.Follow(ctx, o.ref, 5*time.Second); err != nil && ctx.Err() == nil {
				n.log.Debug("names are not followed", "owner", o.ref.Owner(), "err", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
}

// leaveOwners ends the following of owners whom nobody has looked at since.
func (n *Node) leaveOwners(since time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range n.owners {
		if o.follows.Load() && o.used.Load() < n.age(since) && !n.inUse(o.ref) {
			o.end()
			o.at.Store(0)
		}
	}
}

// inUse reports whether a session of an owner is followed. The caller holds mu.
func (n *Node) inUse(ref ctxabi.Ref) bool {
	for x := range n.sessions {
		if x.Ref().Owner() == ref.Owner() {
			return true
		}
	}
	return false
}

// Owners returns the owners that have something in the cluster, as far as it says so within Bound.
func (n *Node) Owners(ctx context.Context) []ctxabi.Ref {
	if n.o.Owners == nil {
		return nil
	}
	n.mu.Lock()
	fresh := !n.listedAt.IsZero() && time.Since(n.listedAt) < n.o.Freshness
	n.mu.Unlock()
	if !fresh {
		n.listing.wait(ctx, Bound, func() error { return n.list() })
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.listed
}

// list asks which owners there are.
func (n *Node) list() error {
	ctx, cancel := context.WithTimeout(n.ctx, n.o.Timeout)
	defer cancel()
	asked := time.Now()
	all, err := n.o.Owners(ctx)
	if err != nil {
		n.log.Debug("the cluster does not say which owners there are", "err", err)
		return err
	}
	var list []ctxabi.Ref
	for _, name := range all {
		if ref, err := names.OwnerOf(engine.Subject{Owner: name}); err == nil {
			list = append(list, ref)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listed, n.listedAt = list, asked
	return nil
}
