package search

import (
	"context"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// Owner searches all sessions of an owner or, where of has an agent, of that agent. It opens none of another owner, and of
// his own those alone that have hits or have grown.
// A session that cannot be read is no error, it is counted in Result.Unread.
func (e *Engine) Owner(ctx context.Context, of ctxabi.Ref, q Query) (*Result, error) {
	return e.search(ctx, q, func(ctx context.Context) (gathered, error) {
		g := gathered{n: e.index(of), many: true}
		g.s, g.late = g.n.gather(ctx, of.Agent)
		return g, nil
	})
}

// gather brings the index up to date, as far as that is done until ctx ends; a builder goes on with
// the rest. It returns what there is then, to be closed, and which sessions it lacks records of.
func (n *index) gather(ctx context.Context, agent string) (*snapshot, map[uint32]bool) {
	n.walk()
	if late := n.readStale(ctx, agent); len(late) > 0 {
		select {
		case <-n.build(late...):
		case <-ctx.Done():
		}
	}
	const many = 64 // changes that are worth writing down, or each start looked at them again
	n.mu.Lock()
	save := n.unsaved >= many && !n.e.c.ReadOnly
	n.mu.Unlock()
	if save {
		select {
		case n.work <- struct{}{}:
			n.keep()
			<-n.work
		default:
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.snapshot()
	s.agent = agent
	late := map[uint32]bool{}
	for number := range n.stale {
		if k := s.r.all[number]; k != nil && (agent == "" || k.ref.Agent == agent) {
			late[number] = true
		}
	}
	return s, late
}

// readStale reads the new records of sessions that have grown, the last sessions first, until ctx ends. It
// returns those that it did not read.
func (n *index) readStale(ctx context.Context, agent string) (late []uint32) {
	n.mu.Lock()
	n.settle()
	var list []*known
	for number := range n.stale {
		if k := n.sessions[number]; k != nil && (agent == "" || k.ref.Agent == agent) {
			list = append(list, k)
		}
	}
	n.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	sortKnown(list)
	select {
	case n.work <- struct{}{}:
		n.readList(ctx, list)
		<-n.work
	case <-ctx.Done():
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, k := range list {
		if _, still := n.stale[k.number]; still {
			late = append(late, k.number)
		}
	}
	return late
}

// readList is readStale, of sessions of which little is missing; work is held.
func (n *index) readList(ctx context.Context, list []*known) {
	for _, k := range list {
		if ctx.Err() != nil {
			break
		}
		x, rest, err := n.sizeOf(k)
		if err == nil && rest <= inlineBytes {
			var release func()
			if release, err = n.e.c.Limit.Reserve("search", ctxabi.SearchDir, bytesOfChunk*rest); err == nil {
				_, err = n.take(context.WithoutCancel(ctx), x, 1<<62)
				release()
			}
		}
		switch {
		case session.Gone(err):
			n.mu.Lock()
			n.examine(k.ref)
			n.mu.Unlock()
		case err != nil:
			n.e.log.Warn("search", "session", k.ref, "err", err)
		case n.tail != nil && n.tail.Bytes > chunkBytes && !n.e.c.ReadOnly:
			n.keep()
		}
	}
	if err := n.caughtUp(); err != nil {
		n.e.log.Warn("search", "owner", n.of.Owner(), "err", err)
	}
}

// sizeOf returns how many bytes of a session's logs are not indexed, about.
func (n *index) sizeOf(k *known) (x *session.Session, rest int64, err error) {
	if x = k.x; x == nil || x.Removed() {
		if x, err = n.e.store.Session(k.ref); err != nil {
			return nil, 0, err
		}
	}
	for i := range k.logs {
		l := logOf(x, i)
		if err := l.Open(); err != nil {
			return nil, 0, err
		}
		rest += max(0, l.Len()-k.logs[i].bytes)
	}
	return x, rest, nil
}
