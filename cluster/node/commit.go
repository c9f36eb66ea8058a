package node

import (
	"context"
	"errors"

	"github.com/ctxfs/ctxfs/cluster/carry"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/log"
)

var (
	_ log.Gatherer            = (*Node)(nil)
	_ log.Copies              = (*Node)(nil)
	_ session.ChangeCommitter = (*Node)(nil)
	_ session.KeptCommitter   = (*Node)(nil)
	_ session.BlobCommitter   = (*Node)(nil)
	_ session.Looker          = (*Node)(nil)
	_ session.Enterer         = (*Node)(nil)
	_ session.Parental        = (*Node)(nil)
)

// Commit commits records as [host.Host.Commit] does and returns the errors of that, and ctxabi.ErrDenied for a
// session of this host alone.
func (n *Node) Commit(ctx context.Context, l *log.Log, b log.Batch, expected int64) (int64, error) {
	if err := n.mayChange(l.Dir().Ref(), l.Dir().ID(), "append", l.Name()); err != nil {
		if carry.IsLocal(l.Dir()) {
			return n.commitHere(ctx, l, b, expected)
		}
		return 0, err
	}
	return n.Host.Commit(ctx, l, b, expected)
}

// CommitChange commits a change as [host.Host.CommitChange] does and returns the errors of that, and
// ctxabi.ErrDenied for a session of this host alone.
func (n *Node) CommitChange(ctx context.Context, x *session.Session, c session.Change) error {
	if err := n.mayChange(x.Ref(), x.ID(), string(c.Kind), c.Name); err != nil {
		if carry.IsLocal(x.Disk()) {
			return x.Apply(c)
		}
		return err
	}
	if c.Kind == session.MakeChild {
		if err := n.noteParent(ctx, x); err != nil {
			return kinded(err)
		}
	}
	return n.Host.CommitChange(ctx, x, c)
}

// CommitKept commits what packs show as [rows.Committer.CommitKept] does and returns the errors of that, and
// ctxabi.ErrDenied for a session of this host alone.
func (n *Node) CommitKept(ctx context.Context, x *session.Session, k session.Kept) error {
	if err := n.mayChange(x.Ref(), x.ID(), "set", k.Name); err != nil {
		return err
	}
	return n.parts.rows.Committer(n.Host).CommitKept(ctx, x, k)
}

// CommitBlob commits a change of blobs as [rows.Committer.CommitBlob] does and returns the errors of that, and
// ctxabi.ErrDenied for a session of this host alone.
func (n *Node) CommitBlob(ctx context.Context, x *session.Session, c blob.Change) error {
	if err := n.mayChange(x.Ref(), x.ID(), "close", ctxabi.DedupBlobDir+"/"+c.ID); err != nil {
		return err
	}
	return n.parts.rows.Committer(n.Host).CommitBlob(ctx, x, c)
}

// CommitName commits a change of names as [host.Host.CommitName] does and returns the errors of that, and
// ctxabi.ErrUnreachable and ctxabi.ErrDenied. Names of this host alone it changes here alone.
func (n *Node) CommitName(ctx context.Context, s *session.Store, c session.NameChange) error {
	if why := n.stopped.Load(); why != nil {
		return *why
	}
	if n.isLocal(s, c) {
		return s.ApplyName(c)
	}
	return kinded(n.Host.CommitName(ctx, s, c))
}

// isLocal reports whether a change is of names that are not in the cluster.
func (n *Node) isLocal(s *session.Store, c session.NameChange) bool {
	switch c.Kind {
	case session.RemoveSession:
		return !n.isShared(c.Ref, c.ID)
	case session.RenameDir:
		ref, err := ctxabi.ParseRef(c.From)
		if err != nil {
			return false // an agent's home, which the keeper makes its own
		}
		x, err := s.Session(ref)
		return err == nil && !n.isShared(ref, x.ID())
	}
	return false
}

// committer commits changes of names for the node's host.
type committer struct{ n *Node }

// CommitName commits a change by the keeper. The journal of a session that is removed is ended first, so that nobody
// appends to what is not there.
func (c committer) CommitName(ctx context.Context, s *session.Store, change session.NameChange) error {
	ctx, cancel := context.WithTimeout(ctx, c.n.o.Timeout)
	defer cancel()
	if change.Kind == session.RemoveSession {
		x, err := s.Session(change.Ref)
		if err == nil && x.ID() == change.ID {
			err = c.n.Host.End(ctx, x)
		}
		if err != nil {
			return err
		}
	}
	if change.Kind == session.CreateSession && change.Built != "" {
		return c.n.build(ctx, s, change)
	}
	err := c.n.keeper.CommitName(ctx, s, change)
	if err == nil && change.Kind == session.CreateSession {
		c.n.known.Store(change.ID, true)
	}
	return err
}

// mayChange returns ctxabi.ErrDenied if nothing is committed to a session by this host.
func (n *Node) mayChange(ref ctxabi.Ref, id, op, name string) error {
	if why := n.stopped.Load(); why != nil {
		return *why
	}
	if !n.isShared(ref, id) {
		return ctxabi.E(op, name, ctxabi.ErrDenied, "this session is of this host alone, and the mount is one of a cluster; ctxfs session publish %s brings it into the cluster", ref)
	}
	return nil
}

// kinded returns err as one of the kinds of ctxabi.
func kinded(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*ctxabi.Error](err); ok {
		return err
	}
	for _, k := range []struct{ is, kind error }{
		{engine.ErrUnreachable, ctxabi.ErrUnreachable}, {engine.ErrBusy, ctxabi.ErrUnreachable}, {context.DeadlineExceeded, ctxabi.ErrUnreachable},
		{context.Canceled, ctxabi.ErrUnreachable}, {engine.ErrDenied, ctxabi.ErrDenied}, {engine.ErrFull, ctxabi.ErrNoSpace},
	} {
		if errors.Is(err, k.is) {
			return &ctxabi.Error{Op: "commit", Kind: k.kind, Err: err, Why: "it was not done"}
		}
	}
	return err
}

var _ host.Names = committer{}
