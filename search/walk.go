package search

import (
	"container/heap"
	"io"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/segment"
)

// search is one walk over all sources.
type search struct {
	m     *matcher
	must  []int // places of terms
	k     int
	exact bool
	best  best
	count int
}

// threshold is the score that a record has to be above of.
func (r *search) threshold() float64 {
	if len(r.best) < r.k {
		return -1
	}
	return r.best[0].score
}

// lane is a term's cursor in one segment.
type lane struct {
	*segment.Cursor
	at    int // place of the term
	bound float64
}

// walk is the walk over one segment.
type walk struct {
	*search
	src   *source
	look  segment.Sight // the records that are looked at
	near  int           // the run that the last hit was in
	rows  segment.Rows
	allow []bool // tools, by number; nil: any
	lists []lane
	gains []float64 // of one record, by the terms' order
}

func (r *search) walk(src *source) error {
	for _, i := range r.must {
		if src.entries[i].Records == 0 {
			return nil
		}
	}
	w := walk{search: r, src: src, look: segment.Sight{Scope: src.look}, gains: make([]float64, len(src.entries))}
	if !w.filter() {
		return nil
	}
	file, c, err := readerOf(r.m.of.n.files, src.s)
	if err != nil {
		return err
	}
	defer c.Close()
	if w.rows, err = src.s.LoadRows(file); err != nil {
		return err
	}
	if err := w.open(file); err != nil {
		return err
	}
	if len(r.must) > 0 {
		return w.conjunction()
	}
	return w.disjunction()
}

// filter works out what the query's tool means for the segment; false: nothing passes.
func (w *walk) filter() bool {
	q, s := w.m.q, w.src.s
	if q.Tool == "" {
		return true
	}
	w.allow = make([]bool, len(s.Tools)+1)
	any := false
	for i, list := range s.Tools {
		for name := range strings.Lines(string(list)) {
			if strings.TrimSuffix(name, "\n") == q.Tool {
				w.allow[i+1], any = true, true
			}
		}
	}
	return any
}

func (w *walk) passes(doc uint32) bool {
	if q := w.m.q; q.Role != 0 && w.rows.Role(doc) != q.Role {
		return false
	}
	if w.allow != nil {
		n := int(w.rows.Tools(doc))
		return n < len(w.allow) && w.allow[n]
	}
	return true
}

// gain is at most what a term gives to a record that has it count times and is so long.
func (w *walk) gain(term int, count, length uint32) float64 {
	return compress.Gain(w.m.worth[term], int(count), int(length), w.m.mean)
}

// slack covers that sums differ in their last bits by their order.
const slack = 1 + 1e-9

func (w *walk) open(r io.ReaderAt) error {
	for i, e := range w.src.entries {
		if e.Records == 0 {
			continue
		}
		c, err := w.src.s.Cursor(r, e)
		if err == nil {
			err = c.Step()
		}
		if err == nil {
			err = c.Seek(w.look.Next(0))
		}
		if err != nil {
			return err
		}
		bound := c.Bound(w.rows, func(count, length uint32) float64 { return w.gain(i, count, length) })
		w.lists = append(w.lists, lane{Cursor: c, at: i, bound: bound})
	}
	return nil
}

// take takes a record whose gains are known; gains are cleared.
func (w *walk) take(doc uint32) {
	score := 0.0
	for i, g := range w.gains {
		score += g // in the terms' order, so that the same record has the same score in any segment
		w.gains[i] = 0
	}
	if !w.passes(doc) {
		return
	}
	w.count++
	if score < w.threshold() {
		return
	}
	s := w.src.s
	w.near = s.Run(doc, w.near)
	in := &s.Runs[w.near]
	h := hit{of: w.m.of.known(in.Of), event: in.Event, line: in.Line(doc), score: score, print: w.rows.Print(doc),
		length: int(w.rows.Length(doc)), acts: w.rows.Tools(doc) != 0 || w.rows.Role(doc) == ctxabi.Tool || in.Event}
	if len(w.best) == w.k {
		if !h.better(&w.best[0]) {
			return
		}
		w.best[0] = h
		heap.Fix(&w.best, 0)
		return
	}
	w.best = append(w.best, h)
	heap.Fix(&w.best, len(w.best)-1)
}

// conjunction takes the records that have all the terms of must.
func (w *walk) conjunction() error {
	var must, other []*lane
	for i := range w.lists {
		if l := &w.lists[i]; slices.Contains(w.must, l.at) {
			must = append(must, l)
		} else {
			other = append(other, l)
		}
	}
	slices.SortFunc(must, func(a, b *lane) int { return a.Records() - b.Records() })
	for doc := must[0].Doc(); doc != segment.End; {
		if from := w.look.Next(doc); from != doc {
			if err := must[0].Seek(from); err != nil {
				return err
			}
			doc = must[0].Doc()
			continue
		}
		next := doc
		for _, l := range must {
			if err := l.Seek(doc); err != nil {
				return err
			}
			if next = l.Doc(); next != doc {
				break
			}
		}
		if next != doc {
			doc = next
			continue
		}
		for _, ls := range [][]*lane{must, other} {
			for _, l := range ls {
				if err := w.add(l, doc); err != nil {
					return err
				}
			}
		}
		w.take(doc)
		if err := must[0].Next(); err != nil {
			return err
		}
		doc = must[0].Doc()
	}
	return nil
}

// add notes what a list gives to a record.
func (w *walk) add(l *lane, doc uint32) error {
	if err := l.Seek(doc); err != nil {
		return err
	}
	if l.Doc() == doc {
		w.gains[l.at] = w.gain(l.at, l.Count(), w.rows.Length(doc))
	}
	return nil
}

// disjunction takes the records that have any term. Unless all are counted, it goes by MaxScore (Turtle and Flood, 1995) with
// bounds for blocks: lists that together cannot lift a record over the threshold are asked only about records that others
// have, and blocks that cannot are not read.
func (w *walk) disjunction() error {
	lists := w.lists
	slices.SortStableFunc(lists, func(a, b lane) int {
		switch {
		case a.bound < b.bound:
			return -1
		case a.bound > b.bound:
			return 1
		}
		return 0
	})
	upTo := make([]float64, len(lists)+1) // sum of the bounds of the first ones
	for i, l := range lists {
		upTo[i+1] = upTo[i] + l.bound
	}
	first := 0 // list that a record has to be in, or in one behind it
	for {
		if !w.exact {
			for limit := w.threshold(); first < len(lists) && upTo[first+1]*slack <= limit; first++ {
			}
			if first == len(lists) {
				return nil
			}
			if first == len(lists)-1 {
				if err := w.skipBlocks(&lists[first], upTo[first]); err != nil {
					return err
				}
			}
		}
		doc := segment.End
		for i := first; i < len(lists); i++ {
			doc = min(doc, lists[i].Doc())
		}
		if doc == segment.End {
			return nil
		}
		if from := w.look.Next(doc); from != doc {
			for i := first; i < len(lists); i++ {
				if err := lists[i].Seek(from); err != nil {
					return err
				}
			}
			continue
		}
		sum := 0.0
		for i := len(lists) - 1; i >= first; i-- {
			l := &lists[i]
			if l.Doc() != doc {
				continue
			}
			g := w.gain(l.at, l.Count(), w.rows.Length(doc))
			w.gains[l.at] = g
			sum += g
			if err := l.Next(); err != nil {
				return err
			}
		}
		reaches := true
		for i := first - 1; i >= 0; i-- {
			if reaches = (sum+upTo[i+1])*slack > w.threshold(); !reaches {
				break
			}
			if err := w.add(&lists[i], doc); err != nil {
				return err
			}
			sum += w.gains[lists[i].at]
		}
		if !reaches {
			clear(w.gains)
			if w.passes(doc) {
				w.count++
			}
			continue
		}
		w.take(doc)
	}
}

// skipBlocks moves the only list that matters over blocks whose records cannot reach the threshold with what the others give at most.
func (w *walk) skipBlocks(l *lane, others float64) error {
	limit := w.threshold()
	return l.Pass(func(most, shortest uint32) bool { return (w.gain(l.at, most, shortest)+others)*slack > limit })
}
