package search

import (
	"context"
	"errors"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/document"
	"github.com/ctxfs/ctxfs/search/excerpt"
	"github.com/ctxfs/ctxfs/search/segment"
	"github.com/ctxfs/ctxfs/session"
)

// Session searches one session. See the package for its errors.
func (e *Engine) Session(ctx context.Context, x *session.Session, q Query) (*Result, error) {
	return e.search(ctx, q, func(ctx context.Context) (g gathered, err error) {
		g.n = e.index(x.Ref())
		g.s, err = g.n.view(ctx, x)
		return g, err
	})
}

// gathered is what a search looks at.
type gathered struct {
	n    *index // to be released
	s    *snapshot
	late map[uint32]bool // sessions that are not looked at, or not to their end
	many bool
}

// search gets what it looks at, and again after a damage was found in that.
func (e *Engine) search(ctx context.Context, q Query, get func(waiting context.Context) (gathered, error)) (r *Result, err error) {
	if err := q.Prepare(); err != nil {
		return nil, err
	}
	for left := maxRetry; left > 0; {
		waiting, cancel := e.waiting(ctx)
		g, err := get(waiting)
		cancel()
		if err == nil {
			r, err = e.answer(ctx, q, g)
		}
		again := false
		if err != nil && ctx.Err() == nil {
			again, err = g.repair(err, &left)
		}
		g.s.close()
		e.grown(g.n)
		e.release(g.n)
		if !again {
			return r, err
		}
	}
	return nil, ctxabi.E("search", "", ctxabi.ErrIO, "the search index cannot be read, although it was rebuilt")
}

// repair takes what made a search fail out of the index, and reports whether it is worth another try:
// there are left of these where something is damaged.
func (g *gathered) repair(cause error, left *int) (again bool, err error) {
	n := g.n
	var part *segmentError
	var one *viewError
	switch {
	case errors.As(cause, &part) && errors.Is(cause, segment.ErrDamaged):
		*left--
		if n.dropSegment(part.s, part.err) {
			*left++
		}
		return true, cause
	case errors.As(cause, &one) && errors.Is(cause, segment.ErrDamaged):
		*left--
		if n.misfit(one.k, one.err) {
			*left++
		}
		return true, cause
	case g.s == nil:
		return false, cause
	}
	var missing []*known
	if one != nil {
		missing = append(missing, one.k)
	}
	for k, v := range g.s.views {
		if v.x.Removed() {
			missing = append(missing, k)
		}
	}
	if len(missing) == 0 {
		return false, cause
	}
	if !g.many {
		return false, errGone()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.settle()
	for _, k := range missing {
		if now := n.sessions[k.number]; now != nil && now.ref == k.ref {
			n.reexamine(now)
		}
	}
	return true, cause
}

// answer finds the hits in what was gathered.
func (e *Engine) answer(ctx context.Context, q Query, g gathered) (*Result, error) {
	r := &Result{Query: q, Many: g.many}
	if e.c.Redact != nil {
		r.Query.Text, _ = e.c.Redact.Text(q.Text)
	}
	r.Sessions, r.Unread = g.s.covered(g.late)
	if len(q.terms) == 0 {
		r.Why = "the query has no word to search for: common words such as \"the\" and single letters are not indexed"
		return r, nil
	}
	release, err := e.c.Limit.Reserve("search", ctxabi.SearchDir, g.s.rowsToLoad())
	if err != nil {
		return nil, err
	}
	defer release()
	m, err := newMatcher(ctx, &q, g.s)
	if err != nil {
		return nil, err
	}
	f := &finder{q: &q, m: m, view: q.view(m.worth), readers: map[readerKey]*document.Reader{}, docs: map[place]*document.Document{}, seen: map[place]*excerpt.Sight{}, exact: map[place]int{}, redact: e.c.Redact}
	if err := f.find(ctx); err != nil {
		return nil, err
	}
	r.view = f.view
	r.Hits, r.Count, r.AtLeast = f.hits, f.count, f.atLeast
	if e.c.Redact != nil {
		if r.Query.Text, err = f.said(); err != nil {
			return nil, err
		}
	}
	if len(r.Hits) == 0 {
		r.Why = f.why(m)
	}
	return r, nil
}
