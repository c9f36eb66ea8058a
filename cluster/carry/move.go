package carry

import (
	"context"
	"sync"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// Direct returns the options of a carrier of a store that is of no cluster and stays so. h is its committer.
func Direct(e engine.Engine, name string, h *host.Host) Options {
	var mu sync.Mutex
	owners := map[engine.Subject]*names.Replica{}
	replicaOf := func(ref ctxabi.Ref) *names.Replica {
		mu.Lock()
		defer mu.Unlock()
		s := names.SubjectOf(ref)
		if owners[s] == nil {
			owners[s] = names.NewReplica(e, name, s, names.Options{})
		}
		return owners[s]
	}
	return Options{
		Engine: e, Name: name, Host: h,
		View: func(ctx context.Context, ref ctxabi.Ref, look func(s *names.State)) error {
			r := replicaOf(ref)
			err := r.CatchUp(ctx)
			if err == nil {
				r.View(look)
			}
			return err
		},
		Commit: func(ctx context.Context, ref ctxabi.Ref, op names.Op) error {
			_, err := replicaOf(ref).Commit(ctx, op)
			return err
		},
	}
}

// Move publishes x, which lies in a store that is of no cluster, and removes it there. It returns the errors of
// Publish, ctxabi.ErrConflict if the cluster has x and this store has got more of it since, and the error of the disk; it
// may be called again then.
func (c *Carrier) Move(ctx context.Context, s *session.Store, x *session.Session) error {
	if err := c.Publish(ctx, x); err != nil {
		return err
	}
	at, ok, err := replica.ReadPosition(x.Disk(), log.JournalFile)
	if err != nil {
		return err
	}
	for _, l := range []struct {
		log *log.Log
		at  log.Mark
	}{{x.Messages(), at.Messages}, {x.Events(), at.Events}} {
		if tail, err := l.log.Tail(); err != nil {
			return err
		} else if !ok || tail.Mark() != l.at {
			return ctxabi.E("publish", "", ctxabi.ErrConflict, "the cluster has %s, and this store has got more of it since; fork it there under another name, and publish that", x.Ref())
		}
	}
	if err := c.o.Step("remove it here"); err != nil {
		return err
	}
	return s.ApplyName(session.NameChange{Kind: session.RemoveSession, Ref: x.Ref(), ID: x.ID()})
}
