package search

import (
	"context"
	"io"
	"slices"
)

// merging is one segment of several that are made one.
type merging struct {
	s    *segment
	r    io.ReaderAt
	base uint32 // of its records in the new one

	block   int
	terms   []uint64
	entries []entry
	at      int
}

// load reads the next block of the dictionary; behind the last one there are no terms.
func (m *merging) load() error {
	m.terms, m.entries, m.at = m.terms[:0], m.entries[:0], 0
	if m.block == len(m.s.dict) {
		return nil
	}
	err := m.s.eachEntry(m.r, m.block, func(term uint64, e entry) bool {
		m.terms, m.entries = append(m.terms, term), append(m.entries, e)
		return true
	})
	m.block++
	return err
}

// merge writes one segment of several, which stand in the order of their records and leave none out. In memory it
// has the rows of all and the postings of one term at a time.
func merge(ctx context.Context, to io.Writer, segments []*segment, readers []io.ReaderAt) error {
	records := 0
	for _, s := range segments {
		records += s.n
	}
	t := make(rows, 0, records*rowSize)
	var parts []*merging // newest first, as records are numbered
	var tools []string
	numbers := map[string]uint16{}
	c := segments[0].covers
	c.n, c.total, c.bytes = 0, 0, 0
	for i := len(segments) - 1; i >= 0; i-- {
		s := segments[i]
		p := &merging{s: s, r: readers[i], base: uint32(c.n)}
		own, err := s.readRows(p.r)
		if err != nil {
			return err
		}
		from := len(t)
		t = append(t, own...)
		for doc := range uint32(s.n) {
			n := own.tools(doc)
			if n == 0 || int(n) > len(s.tools) {
				continue
			}
			list := string(s.tools[n-1])
			now := numbers[list]
			if now == 0 && len(tools) < maxTools {
				tools = append(tools, list)
				now = uint16(len(tools))
				numbers[list] = now
			}
			at := from + int(doc)*rowSize + 4
			t[at], t[at+1] = byte(now), byte(now>>8)
		}
		c.n += s.n
		c.total += s.total
		c.bytes += s.bytes
		if err := p.load(); err != nil {
			return err
		}
		parts = append(parts, p)
	}
	w := newSegmentWriter(to, t)
	var docs, counts []uint32
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		term, any := uint64(0), false
		for _, p := range parts {
			if p.at < len(p.terms) && (!any || p.terms[p.at] < term) {
				term, any = p.terms[p.at], true
			}
		}
		if !any {
			break
		}
		docs, counts = docs[:0], counts[:0]
		for _, p := range parts {
			if p.at == len(p.terms) || p.terms[p.at] != term {
				continue
			}
			from := len(docs)
			var err error
			if docs, counts, err = p.s.postings(p.r, p.entries[p.at], docs, counts); err != nil {
				return err
			}
			for i := range docs[from:] {
				docs[from+i] += p.base
			}
			if p.at++; p.at == len(p.terms) {
				if err := p.load(); err != nil {
					return err
				}
			}
		}
		w.add(term, docs, counts)
	}
	return w.finish(c, tools)
}

// fanIn is how many segments of about one size become one.
const fanIn = 4

// due returns which segments at the end should be merged; 0: none. There are fewer than fanIn of each size, and sizes grow by fanIn: the
// number of segments grows with the logarithm of their records.
func due(segments []*segment) int {
	tier := func(s *segment) (t int) {
		for n := s.size; n > 64<<10; n /= fanIn {
			t++
		}
		return t
	}
	if len(segments) < fanIn {
		return 0
	}
	n, top := 1, tier(segments[len(segments)-1])
	for _, s := range slices.Backward(segments[:len(segments)-1]) {
		if tier(s) > top {
			break
		}
		n++
	}
	if n < fanIn {
		return 0
	}
	return n
}
