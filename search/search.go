package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/search/document"
	"github.com/ctxfs/ctxfs/search/excerpt"
	"github.com/ctxfs/ctxfs/search/segment"
)

// Result is what was found.
type Result struct {
	Query    Query
	Sessions []Covered // that were looked at: one, or those of an agent or owner that have records
	Hits     []Hit     // best first
	Count    int       // of all records that answer
	AtLeast  bool      // there may be more than Count
	Why      string    // nothing was found, where that needs a word
	Many     bool      // an agent's or owner's search
	Unread   int       // sessions that were not looked at yet, because their index is not read or made

	view   *excerpt.Query   // the query as excerpts read it
	tokens func(string) int // while it is rendered
}

// Covered is how much of a session was looked at.
type Covered struct {
	Ref      ctxabi.Ref
	Messages int    // records
	Events   int    // likewise
	Indexed  [2]int // the first so many messages and events, and the newest ones; less than all while the index is made
	Failed   string // why it cannot be made; "": it can

	late bool // there may be more records
}

// Behind reports whether records are missing between those that are indexed and the newest.
func (c *Covered) Behind() bool { return c.late || c.Indexed != [2]int{c.Messages, c.Events} }

// Hit is a record that was found.
type Hit struct {
	Ref   ctxabi.Ref
	Event bool
	Line  int
	Who   string  // "user", "tool run_tests", "tool_call bash"
	Score float64 // BM25, of a long record mostly that of its best passage; those that hold a bare identifier of the query verbatim come first whatever it is
	Also  []int   // lines of the same log that say the same
	Like  []int   // likewise that answer with nearly the same lines, and are older
	Exact int     // how many of the query's bare identifiers it holds
	With  []With  // what belongs to it

	of    *known // the session that it is of, whatever that is called by now
	doc   document.Document
	sight *excerpt.Sight // of doc; nil: it was not looked at yet
	print uint32
}

// Bounds of the work of one search.
const (
	maxHits  = 4096     // candidates that are looked at one by one
	maxNamed = 256      // likewise, for each bare identifier
	maxRead  = 64 << 20 // bytes of records
	maxKept  = 8 << 10  // of a record that lacks a text, while it may be looked at for its passages
	maxRetry = 3        // after damages
	maxAlso  = 8
)

type readerKey struct {
	of    *known
	event bool
}

// place is a record of some session.
type place struct {
	of    *known
	event bool
	line  int
}

func (h *hit) place() place { return place{h.of, h.event, h.line} }

func (h *Hit) place() place { return place{h.of, h.Event, h.Line} }

// finder reads the best records of a matcher, in as far as that is needed.
type finder struct {
	q      *Query
	m      *matcher
	view   *excerpt.Query
	redact *redact.Redactor // nil: hits show records as they are stored

	readers map[readerKey]*document.Reader
	docs    map[place]*document.Document
	seen    map[place]*excerpt.Sight
	exact   map[place]int // how many of the query's identifiers a record holds
	looked  int           // bytes of records that were read for their passages
	read    int64

	hits    []Hit
	count   int
	atLeast bool
}

// reader returns the reader of a log of a session.
func (f *finder) reader(of *known, event bool) (*document.Reader, error) {
	key := readerKey{of, event}
	if r := f.readers[key]; r != nil {
		return r, nil
	}
	v, err := f.m.of.view(of)
	if err != nil {
		return nil, err
	}
	i := 0
	if event {
		i = 1
	}
	least := of.logs[i].records
	if of == f.m.of.only {
		least = f.m.of.all[i]
	}
	ix, err := v.index(i, least)
	if err != nil {
		return nil, err
	}
	f.readers[key] = document.NewReader(logOf(v.x, i), ix)
	return f.readers[key], nil
}

// document reads a record; nil when so much was read that it is left.
func (f *finder) document(h *hit) (*document.Document, error) {
	if d := f.docs[h.place()]; d != nil {
		return d, nil
	}
	r, err := f.reader(h.of, h.event)
	if err != nil {
		return nil, err
	}
	if h.line > r.Index.Len() {
		return nil, &viewError{h.of, segment.Damaged("it has more records than the log")}
	}
	if f.read > 0 && f.read+int64(r.Index.At(h.line).Len) > maxRead {
		return nil, nil
	}
	d, err := r.Read(h.line)
	if err != nil {
		return nil, err
	}
	if d.Print != h.print {
		return nil, &viewError{h.of, segment.Damaged("a record is not the one that was indexed")}
	}
	f.read += int64(len(d.Said))
	f.docs[h.place()] = &d
	return &d, nil
}

// verbatim drops the hits that do not hold all of the texts. whole is false when it could not look at all of them.
func (f *finder) verbatim(ctx context.Context, hits []hit, texts []exact) (held []hit, whole bool, err error) {
	for i := range hits {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		d, err := f.document(&hits[i])
		if err != nil {
			return nil, false, err
		}
		if d == nil {
			return held, false, nil
		}
		if !slices.ContainsFunc(texts, func(t exact) bool { return !d.Holds(t.text) }) {
			held = append(held, hits[i])
		}
		if len(held) == 0 || held[len(held)-1].place() != hits[i].place() {
			if len(d.Said) > maxKept {
				delete(f.docs, hits[i].place())
			}
		}
	}
	return held, true, nil
}

// find chooses the hits: those with bare identifiers, then the others, each group by its score; those that say the same as one.
func (f *finder) find(ctx context.Context) error {
	var must []uint64
	for _, p := range f.q.phrases {
		must = union(must, p.words)
	}
	exact := f.exact
	var named []hit
	for _, name := range f.q.names {
		found, err := f.m.find(ctx, union(must, name.words), maxNamed)
		if err != nil {
			return err
		}
		held, _, err := f.verbatim(ctx, found.hits, append(slices.Clone(f.q.phrases), name))
		if err != nil {
			return err
		}
		for _, h := range held {
			if exact[h.place()]++; exact[h.place()] == 1 {
				named = append(named, h)
			}
		}
	}
	slices.SortStableFunc(named, func(a, b hit) int {
		if c := exact[b.place()] - exact[a.place()]; c != 0 {
			return c
		}
		return cmp.Compare(b.score, a.score)
	})
	for k := max(64, 4*f.q.N); ; k = min(8*k, maxHits) {
		found, err := f.m.find(ctx, must, k)
		if err != nil {
			return err
		}
		f.count, f.atLeast = found.count, !found.exact
		full := len(found.hits) == k
		if len(f.q.phrases) > 0 {
			held, whole, err := f.verbatim(ctx, found.hits, f.q.phrases)
			if err != nil {
				return err
			}
			found.hits, f.count, f.atLeast = held, len(held), full || !whole
			full = full && whole
		}
		hits := slices.Clone(named)
		for _, h := range found.hits {
			if exact[h.place()] == 0 {
				hits = append(hits, h)
			}
		}
		if err := f.group(hits); err != nil {
			return err
		}
		if len(f.hits) >= f.q.N || !full || k == maxHits {
			break
		}
	}
	f.count = max(f.count, len(f.hits))
	for i := range f.hits {
		h := &f.hits[i]
		d, err := f.document(&hit{of: h.of, event: h.Event, line: h.Line, print: h.print})
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		h.doc, h.Who = *d, d.Who()
		h.sight = f.seen[h.place()]
		if f.redact != nil {
			if h.doc, err = f.redacted(h.of, h.Event, h.Line); err != nil {
				return err
			}
			h.sight = nil
		}
	}
	return f.join()
}

// why returns why nothing was found.
func (f *finder) why(m *matcher) string {
	switch {
	case m.records == 0:
		return "there are no records yet"
	case m.having == 0:
		return "no record has one of these words"
	case len(f.q.phrases) > 0:
		return "no record contains the phrase exactly (upper and lower case count)"
	}
	return "no record that passes the filters has one of these words"
}

func union(a, b []uint64) []uint64 {
	out := slices.Clone(a)
	for _, t := range b {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// Incomplete reports whether records were not looked at because the index is still being made.
func (r *Result) Incomplete() bool { return r.behind() != "" }
