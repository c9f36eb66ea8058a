package search

import (
	"context"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// Owner searches all sessions of an owner or, where of has an agent, of that agent. It opens none of another owner.
// A session that cannot be read is no error, it is counted in Result.Unread.
func (e *Engine) Owner(ctx context.Context, of ctxabi.Ref, q Query) (*Result, error) {
	of.Session = ""
	return e.search(ctx, q, func(ctx context.Context) (gathered, error) { return e.gather(ctx, of) })
}

// gather brings the indexes of the sessions up to date, as far as that is done until ctx ends; a builder goes on with the rest.
func (e *Engine) gather(ctx context.Context, of ctxabi.Ref) (gathered, error) {
	g := gathered{many: true}
	var late []*index
	when := map[*view]time.Time{}
	for ref := range e.store.SessionsOf(of) {
		x, err := e.store.Session(ref)
		if err != nil {
			continue // removed meanwhile, or unreadable: it has been reported
		}
		n := e.index(x)
		g.held = append(g.held, n)
		if ctx.Err() != nil && !n.isLoaded() {
			late = append(late, n)
			continue
		}
		v, rest, building, err := n.look()
		if err == nil && rest > 0 && rest <= inlineBytes && building == nil && ctx.Err() == nil {
			v.close()
			if err = n.catchUp(ctx, v, rest); err == nil {
				v, rest, _, err = n.look()
			}
		}
		if err != nil && x.Removed() {
			continue
		}
		if err != nil {
			e.log.Warn("search", "session", ref, "err", err)
			g.unread++
			continue
		}
		if rest > 0 {
			v.close()
			late = append(late, n)
			continue
		}
		g.views = append(g.views, v)
	}
	if len(late) > 0 {
		select {
		case <-e.finish(late):
		case <-ctx.Done():
		}
		for _, n := range late {
			if n.x.Removed() {
				continue
			} else if !n.isLoaded() {
				g.unread++
			} else if v, _, _, err := n.look(); err == nil {
				g.views = append(g.views, v)
			}
		}
	}
	for _, v := range g.views {
		when[v] = lastAppend(v.x)
	}
	slices.SortStableFunc(g.views, func(a, b *view) int { return when[b].Compare(when[a]) })
	return g, nil
}

// finish has a builder bring indexes up to date, and returns a channel that is closed when it has.
func (e *Engine) finish(late []*index) chan struct{} {
	done := make(chan struct{})
	for _, n := range late {
		e.use(n)
	}
	end := func() {
		for _, n := range late {
			e.release(n)
		}
		close(done)
	}
	if !e.start(func(ctx context.Context) {
		defer end()
		for _, n := range late {
			if ctx.Err() != nil {
				return
			}
			n.mu.Lock()
			mine := n.building == nil
			if mine {
				n.building = make(chan struct{})
			}
			n.mu.Unlock()
			if mine { // else its own builder waits for this one to end
				n.construct(ctx)
			}
		}
	}) {
		end()
	}
	return done
}

func (n *index) isLoaded() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.loaded
}

// lastAppend is when a session last grew.
func lastAppend(x *session.Session) time.Time {
	m, e := x.Messages().ModTime(), x.Events().ModTime()
	if e.After(m) {
		return e
	}
	return m
}
