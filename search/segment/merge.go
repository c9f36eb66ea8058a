package segment

import (
	"context"
	"io"
	"math"
	"slices"
)

// merging is one segment of several that are made one.
type merging struct {
	s     *Segment
	r     io.ReaderAt
	moved []int64 // of each run, the offset of its records' numbers; gone if it is left out
	in    int     // the run that the last record was in

	block   int
	terms   []uint64
	entries []Entry
	at      int
}

// load reads the next block of the dictionary; behind the last one there are no terms.
func (m *merging) load() error {
	m.terms, m.entries, m.at = m.terms[:0], m.entries[:0], 0
	if m.block == len(m.s.dict) {
		return nil
	}
	err := m.s.eachEntry(m.r, m.block, func(term uint64, e Entry) bool {
		m.terms, m.entries = append(m.terms, term), append(m.entries, e)
		return true
	})
	m.block++
	return err
}

// gone is where the records of a run go that is left out.
const gone = math.MinInt64

// rename replaces the numbers of the postings behind the first from ones by those in the new segment,
// and leaves those out whose runs are.
func (m *merging) rename(docs, counts []uint32, from int) ([]uint32, []uint32) {
	m.in = 0
	n := from
	for i, doc := range docs[from:] {
		m.in = m.s.Run(doc, m.in)
		if by := m.moved[m.in]; by != gone {
			docs[n], counts[n] = uint32(int64(doc)+by), counts[from+i]
			n++
		}
	}
	return docs[:n], counts[:n]
}

// joined is the part in memory of a segment that is made of several.
type joined struct {
	rows    Rows
	runs    []Run
	tools   []string
	numbers map[string]uint16 // of tools
}

// add adds the rows of a segment's runs behind those of others, and returns how its records are
// numbered from now on.
func (j *joined) add(s *Segment, r io.ReaderAt, keep func(r *Run) bool) (*merging, error) {
	p := &merging{s: s, r: r}
	own, err := s.readRows(r)
	if err != nil {
		return nil, err
	}
	from := len(j.rows)
	for _, r := range s.Runs {
		if !keep(&r) {
			p.moved = append(p.moved, gone)
			continue
		}
		p.moved = append(p.moved, int64(len(j.rows)/RowSize)-int64(r.start))
		j.rows = append(j.rows, own[int(r.start)*RowSize:int(r.End())*RowSize]...)
		j.runs = appendRun(j.runs, r)
	}
	own = j.rows[from:]
	for doc := range uint32(len(own) / RowSize) {
		n := own.Tools(doc)
		if n == 0 || int(n) > len(s.Tools) {
			continue
		}
		list := string(s.Tools[n-1])
		now := j.numbers[list]
		if now == 0 && len(j.tools) < maxTools {
			j.tools = append(j.tools, list)
			now = uint16(len(j.tools))
			j.numbers[list] = now
		}
		at := from + int(doc)*RowSize + 4
		j.rows[at], j.rows[at+1] = byte(now), byte(now>>8)
	}
	return p, p.load()
}

// Merge writes one segment of several, the oldest first, without the runs that keep reports false for.
// The newest segment's records come first. In memory it has the rows of all and the postings of one
// term at a time. It returns the errors of the segments, of to and of ctx.
func Merge(ctx context.Context, to io.Writer, segments []*Segment, readers []io.ReaderAt, keep func(r *Run) bool) error {
	records := 0
	for _, s := range segments {
		records += s.N
	}
	j := &joined{rows: make(Rows, 0, records*RowSize), numbers: map[string]uint16{}}
	var parts []*merging // newest first, as records are numbered
	for i, s := range slices.Backward(segments) {
		p, err := j.add(s, readers[i], keep)
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	w := newSegmentWriter(to, j.rows)
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
			var err error
			if docs, counts, err = p.take(term, docs, counts); err != nil {
				return err
			}
		}
		if len(docs) > 0 {
			w.add(term, docs, counts)
		}
	}
	return w.finish(j.runs, j.tools)
}

// take adds the postings of a term, where it is the next one, and goes on to the one behind it.
func (m *merging) take(term uint64, docs, counts []uint32) (_, _ []uint32, err error) {
	if m.at == len(m.terms) || m.terms[m.at] != term {
		return docs, counts, nil
	}
	from := len(docs)
	if docs, counts, err = m.s.Postings(m.r, m.entries[m.at], docs, counts); err != nil {
		return nil, nil, err
	}
	docs, counts = m.rename(docs, counts, from)
	if m.at++; m.at == len(m.terms) {
		err = m.load()
	}
	return docs, counts, err
}

// FanIn is how many segments of about one size become one.
const FanIn = 4

// Due returns which segments at the end should be merged; 0: none. There are fewer than fanIn of each size, and sizes grow by fanIn: the
// number of segments grows with the logarithm of their records.
func Due(segments []*Segment) int {
	tier := func(s *Segment) (t int) {
		for n := s.Size; n > 64<<10; n /= FanIn {
			t++
		}
		return t
	}
	if len(segments) < FanIn {
		return 0
	}
	n, top := 1, tier(segments[len(segments)-1])
	if segments[len(segments)-1].Merging {
		return 0
	}
	for _, s := range slices.Backward(segments[:len(segments)-1]) {
		if tier(s) > top || s.Merging {
			break
		}
		n++
	}
	if n < FanIn {
		return 0
	}
	return n
}
