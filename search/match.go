package search

import (
	"context"
	"errors"
	"slices"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/search/segment"
)

// hit is a record that answers a query, before it was read.
type hit struct {
	of    *known
	event bool
	line  int
	score float64
	print uint32

	length  int  // in terms
	acts    bool // it is a call, a result or an event
	settled bool // its score is that of its best passage, too
}

// better reports whether a stands in front of b: the score, then the session that grew last, then
// messages before events, then the newest record.
func (a *hit) better(b *hit) bool {
	switch {
	case a.score != b.score:
		return a.score > b.score
	case a.of != b.of:
		return a.of.before(b.of)
	case a.event != b.event:
		return b.event
	}
	return a.line > b.line
}

// best is a heap of hits with the worst one on top.
type best []hit

func (h best) Len() int           { return len(h) }
func (h best) Less(i, j int) bool { return h[j].better(&h[i]) }
func (h best) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *best) Push(v any)        { *h = append(*h, v.(hit)) }
func (h *best) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// source is a segment with what it has of a query's terms.
type source struct {
	s       *segment.Segment
	entries []segment.Entry // by the terms' order; without records where it has none
	look    *segment.Scope  // the records that pass the filters of the query on logs and lines
}

// matcher finds the best of what there is that answer a query.
type matcher struct {
	q       *Query
	of      *snapshot
	sources []source
	worth   []float64 // of the query's terms
	records int       // of all
	mean    float64   // terms of a record
	having  int       // records with the most frequent term
	sum     int       // of the records of all terms
}

// countAll is up to how many postings every record is looked at, so that their number is exact. Beyond it
// those that cannot be among the best are passed over.
const countAll = 1 << 16

// newMatcher looks the query's terms up in what a search looks at.
func newMatcher(ctx context.Context, q *Query, of *snapshot) (*matcher, error) {
	m := &matcher{q: q, of: of}
	total := uint64(0)
	having := make([]int, len(q.terms))
	var events []source
	for _, s := range slices.Backward(of.segments) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		sc := of.scope(s)
		if sc.Records == 0 {
			continue
		}
		m.records += sc.Records
		total += sc.Terms
		src := source{s: s, entries: make([]segment.Entry, len(q.terms))}
		any, err := src.lookUp(of, sc, q.terms, having)
		if err != nil {
			return nil, &segmentError{s, err}
		}
		if !any {
			continue
		}
		if of.only == nil {
			src.look = of.filtered(s, sc, q, bothLogs)
			m.sources = append(m.sources, src)
			continue
		}
		src.look = of.filtered(s, sc, q, messagesAlone) // of one session, the messages are in front of the events
		m.sources = append(m.sources, src)
		src.look = of.filtered(s, sc, q, eventsAlone)
		events = append(events, src)
	}
	m.sources = append(m.sources, events...)
	m.sources = slices.DeleteFunc(m.sources, func(src source) bool { return !src.look.All && len(src.look.Spans) == 0 })
	m.mean = float64(max(1, total)) / float64(max(1, m.records))
	for _, n := range having {
		m.having = max(m.having, n)
		m.sum += n
		w := 0.0
		if n > 0 {
			w = compress.Worth(m.records, n)
		}
		m.worth = append(m.worth, w)
	}
	return m, nil
}

// segmentError is a failure that concerns one segment.
type segmentError struct {
	s   *segment.Segment
	err error
}

func (e *segmentError) Error() string { return e.s.Name + ": " + e.err.Error() }
func (e *segmentError) Unwrap() error { return e.err }

// viewError is a failure that concerns one session.
type viewError struct {
	k   *known
	err error
}

func (e *viewError) Error() string { return e.k.ref.String() + ": " + e.err.Error() }
func (e *viewError) Unwrap() error { return e.err }

// lookUp finds the terms in the segment and adds up in how many records of the scope they stand.
func (src *source) lookUp(of *snapshot, sc *segment.Scope, terms []uint64, having []int) (any bool, err error) {
	r, c, err := readerOf(of.n.files, src.s)
	if err != nil {
		return false, err
	}
	defer c.Close()
	for i, t := range terms {
		if src.entries[i], err = src.s.Find(r, t); err != nil {
			return false, err
		}
		n, err := sc.Count(src.s, r, src.entries[i])
		if err != nil {
			return false, err
		}
		if n == 0 {
			src.entries[i] = segment.Entry{}
		}
		having[i] += n
		any = any || n > 0
	}
	return any, nil
}

// matches are the best records.
type matches struct {
	hits  []hit // best first
	count int   // of all that match
	exact bool  // else there are at least so many
}

// find returns the best k records. Where must has terms, each of them has to stand in a record.
func (m *matcher) find(ctx context.Context, must []uint64, k int) (*matches, error) {
	run := &search{m: m, k: k, exact: m.sum <= countAll}
	for _, t := range must {
		i := slices.Index(m.q.terms, t)
		if i < 0 {
			return nil, errTooMany
		}
		run.must = append(run.must, i)
	}
	for i := range m.sources {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := run.walk(&m.sources[i]); err != nil {
			return nil, &segmentError{m.sources[i].s, err}
		}
	}
	out := &matches{hits: run.best, count: run.count, exact: run.exact || len(must) > 0}
	slices.SortFunc(out.hits, func(a, b hit) int {
		if a.better(&b) {
			return -1
		}
		return 1
	})
	if !out.exact && !m.filtered() {
		out.count = max(out.count, m.having)
	}
	return out, nil
}

func (m *matcher) filtered() bool {
	q := m.q
	return q.Role != 0 || q.Tool != "" || q.In != "" || q.Range.From != 0
}

// errTooMany is a phrase of more words than a query has terms.
var errTooMany = errors.New("the phrase has too many words")
