package segment

import "io"

// Scope is which records of a segment count: all of them, or those of some runs.
type Scope struct {
	All     bool
	Spans   []docSpan // if not all, in order
	Records int
	Terms   uint64 // of these records
}

// docSpan is records by their numbers in a segment, to is behind the last one.
type docSpan struct{ from, to uint32 }

// NewScope returns the records of a segment in the runs that in reports true for.
func NewScope(s *Segment, in func(r *Run) bool) *Scope {
	sc := &Scope{All: true}
	for i := range s.Runs {
		r := &s.Runs[i]
		if !in(r) {
			sc.All = false
			continue
		}
		sc.Records += r.N
		sc.Terms += r.total
		sc.add(r.start, r.End())
	}
	if sc.All {
		sc.Spans = nil
	}
	return sc
}

func (sc *Scope) add(from, to uint32) {
	if k := len(sc.Spans) - 1; k >= 0 && sc.Spans[k].to == from {
		sc.Spans[k].to = to
		return
	}
	sc.Spans = append(sc.Spans, docSpan{from, to})
}

// Lines returns the records of a segment that stand in runs which in reports true for, and there in
// lines from first to last.
func Lines(s *Segment, first, last int, in func(r *Run) bool) *Scope {
	sc := &Scope{}
	for i := range s.Runs {
		r := &s.Runs[i]
		if a, b := max(first, r.First), min(last, r.last()); a <= b && in(r) {
			from := r.start + uint32(r.last()-b)
			sc.add(from, from+uint32(b-a+1))
			sc.Records += b - a + 1
		}
	}
	return sc
}

// Count returns how many of the records that have a term are in the scope. It returns ErrDamaged, and
// the error of r.
func (sc *Scope) Count(s *Segment, r io.ReaderAt, e Entry) (n int, err error) {
	if sc.All || e.Records == 0 {
		return e.Records, nil
	}
	c, err := s.Cursor(r, e)
	if err != nil {
		return 0, err
	}
	for _, span := range sc.Spans {
		from, err := c.rank(span.from)
		if err != nil {
			return 0, err
		}
		if from == e.Records {
			break
		}
		to, err := c.rank(span.to)
		if err != nil {
			return 0, err
		}
		n += to - from
	}
	return n, nil
}

// Sight is where a walk is in a scope.
type Sight struct {
	*Scope
	at int // the span that it is in, or in front of
}

// Next returns the first record in the scope from doc on; end behind all. It is asked for numbers
// that grow.
func (w *Sight) Next(doc uint32) uint32 {
	if w.All {
		return doc
	}
	for w.at < len(w.Spans) && w.Spans[w.at].to <= doc {
		w.at++
	}
	if w.at == len(w.Spans) {
		return End
	}
	return max(doc, w.Spans[w.at].from)
}
