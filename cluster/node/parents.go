package node

import (
	"context"
	"time"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// noteParent notes in the journal of a session's owner that it may have children, unless that stands there: before the
// first one is made, so that whoever looks for the parents of a session finds all of them among those that are noted.
// It returns the errors of a commit of names.
func (n *Node) noteParent(ctx context.Context, x *session.Session) error {
	noted := false
	if err := n.keeper.View(x.Ref(), func(s *names.State) { noted = s.IsParent(x.ID()) }); err != nil || noted {
		return err
	}
	_, err := n.keeper.Commit(ctx, x.Ref(), names.NoteParents{IDs: []string{x.ID()}}, nil)
	return err
}

// Parents implements [session.Parental].
func (n *Node) Parents(ctx context.Context, list []ctxabi.Ref) (may []ctxabi.Ref, known bool) {
	if len(list) == 0 {
		return nil, true
	}
	if err := n.enterNow(ctx, n.owner(list[0])); err != nil {
		return list, false
	}
	n.keeper.View(list[0], func(s *names.State) {
		if known = s.ParentsKnown(); !known {
			may = list
			return
		}
		for _, ref := range list {
			if x, shared := s.Session(ref.Agent, ref.Session); !shared || s.IsParent(x.ID) {
				may = append(may, ref)
			}
		}
	})
	return may, known
}

// NoteParents implements [session.Parental]. Owners whose journal is older than rows that note parents need it once.
func (n *Node) NoteParents(ctx context.Context, looked, parents []ctxabi.Ref) {
	if len(looked) == 0 {
		return
	}
	if err := n.noteParents(ctx, looked, parents); err != nil {
		n.log.Debug("sessions with children are looked for again next time", "err", err)
	}
}

// noteParents is NoteParents of some sessions. It returns the errors of a commit of names.
func (n *Node) noteParents(ctx context.Context, looked, parents []ctxabi.Ref) error {
	ctx, cancel := context.WithTimeout(ctx, n.o.Timeout)
	defer cancel()
	whole, ids := true, []string(nil)
	at := map[ctxabi.Ref]time.Time{}
	for _, ref := range looked {
		if x, err := n.store.Load().Session(ref); err == nil {
			at[ref] = n.Complete(x)
		}
	}
	n.keeper.View(looked[0], func(s *names.State) {
		for _, x := range s.Sessions("") {
			whole = whole && !at[x.Ref].IsZero()
		}
		for _, ref := range parents {
			if x, shared := s.Session(ref.Agent, ref.Session); shared {
				ids = append(ids, x.ID)
			}
		}
	})
	if !whole {
		return nil // one was made meanwhile, or could not be read: another time
	}
	for len(ids) >= journal.MaxRows {
		if _, err := n.keeper.Commit(ctx, looked[0], names.NoteParents{IDs: ids[:journal.MaxRows]}, nil); err != nil {
			return err
		}
		ids = ids[journal.MaxRows:]
	}
	_, err := n.keeper.Commit(ctx, looked[0], names.NoteParents{IDs: ids, All: true}, nil)
	return err
}
