package search

import (
	"context"
	"errors"
	"slices"

	"github.com/ctxfs/ctxfs/compress"
)

// Hit is a record that answers a query, before it was read.
type hit struct {
	v     *view
	event bool
	line  int
	score float64
	print uint32
	seq   int // in the order of visits: of equal scores the earlier one is better

	length  int  // in terms
	acts    bool // it is a call, a result or an event
	settled bool // its score is that of its best passage, too
}

// better reports whether a stands in front of b: the score, then what was visited first, which is the newest of a log.
func (a *hit) better(b *hit) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return a.seq < b.seq
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
	v       *view
	s       *segment
	entries []entry // by the terms' order; without records where it has none
}

// matcher finds the records of some views that answer a query.
type matcher struct {
	q       *Query
	sources []source
	worth   []float64 // of the query's terms
	records int       // of all
	mean    float64   // terms of a record
	gains   *compress.Gains
	having  int // records with the term that stands in most
	sum     int // of the records of all terms
}

// countAll is up to how many postings every record is looked at, so that their number is exact. Beyond it
// those that cannot be among the best are passed over.
const countAll = 1 << 16

// newMatcher looks the query's terms up. Views stand in the order in which their hits do when they are equally good.
func newMatcher(ctx context.Context, q *Query, views []*view) (*matcher, error) {
	m := &matcher{q: q}
	total := uint64(0)
	having := make([]int, len(q.terms))
	for _, v := range views {
		for i, segments := range v.segments {
			for _, s := range slices.Backward(segments) {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				m.records += s.n
				total += s.total
				src := source{v: v, s: s, entries: make([]entry, len(q.terms))}
				any, err := src.lookUp(q.terms, having)
				if err != nil {
					return nil, &viewError{v, err}
				}
				if any && (q.In == "" || (q.In == short(true)) == (i == 1)) {
					m.sources = append(m.sources, src)
				}
			}
		}
	}
	m.mean = float64(max(1, total)) / float64(max(1, m.records))
	m.gains = compress.NewGains(m.mean)
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

// viewError is a failure that concerns one session's index.
type viewError struct {
	v   *view
	err error
}

func (e *viewError) Error() string { return e.v.x.Ref().String() + ": " + e.err.Error() }
func (e *viewError) Unwrap() error { return e.err }

// lookUp finds the terms in the segment and adds up in how many records they stand.
func (src *source) lookUp(terms []uint64, having []int) (any bool, err error) {
	r, c, err := src.s.reader(src.v.x)
	if err != nil {
		return false, err
	}
	defer c.Close()
	for i, t := range terms {
		if src.entries[i], err = src.s.find(r, t); err != nil {
			return false, err
		}
		having[i] += src.entries[i].records
		any = any || src.entries[i].records > 0
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
	run := &run{m: m, k: k, exact: m.sum <= countAll}
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
		if err := run.search(&m.sources[i]); err != nil {
			return nil, &viewError{m.sources[i].v, err}
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
