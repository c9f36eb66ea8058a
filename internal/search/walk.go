package search

import (
	"container/heap"
	"io"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// run is one walk over all sources.
type run struct {
	m     *matcher
	must  []int // places of terms
	k     int
	exact bool
	best  best
	count int
	seq   int
}

// threshold is the score that a record has to be above of.
func (r *run) threshold() float64 {
	if len(r.best) < r.k {
		return -1
	}
	return r.best[0].score
}

// lane is a term's cursor in one segment.
type lane struct {
	*cursor
	at    int // place of the term
	bound float64
}

// walk is the walk over one segment.
type walk struct {
	*run
	src    *source
	rows   rows
	allow  []bool // tools, by number; nil: any
	lo, hi uint32 // records that are looked at
	lists  []lane
	gains  []float64 // of one record, by the terms' order
}

func (r *run) search(src *source) error {
	for _, i := range r.must {
		if src.entries[i].records == 0 {
			return nil
		}
	}
	w := walk{run: r, src: src, hi: uint32(src.s.n), gains: make([]float64, len(src.entries))}
	if !w.filter() {
		return nil
	}
	file, c, err := src.s.reader(src.v.x)
	if err != nil {
		return err
	}
	defer c.Close()
	if w.rows, err = src.s.loadRows(file); err != nil {
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

// filter works out what the query's filters mean for the segment; false: nothing passes them.
func (w *walk) filter() bool {
	q, s := w.m.q, w.src.s
	if q.Range.From > 0 {
		if q.Range.To < s.first || q.Range.From > s.last() {
			return false
		}
		w.lo = uint32(s.last() - min(q.Range.To, s.last()))
		w.hi = uint32(s.last()-max(q.Range.From, s.first)) + 1
	}
	if q.Tool == "" {
		return true
	}
	w.allow = make([]bool, len(s.tools)+1)
	any := false
	for i, list := range s.tools {
		for name := range strings.Lines(string(list)) {
			if strings.TrimSuffix(name, "\n") == q.Tool {
				w.allow[i+1], any = true, true
			}
		}
	}
	return any
}

func (w *walk) passes(doc uint32) bool {
	if q := w.m.q; q.Role != 0 && w.rows.role(doc) != q.Role {
		return false
	}
	if w.allow != nil {
		n := int(w.rows.tools(doc))
		return n < len(w.allow) && w.allow[n]
	}
	return true
}

// gain is at most what a term gives to a record that has it count times and is so long.
func (w *walk) gain(term int, count, length uint32) float64 {
	return w.m.gains.Of(w.m.worth[term], int(count), int(length))
}

// slack covers that sums differ in their last bits by their order.
const slack = 1 + 1e-9

func (w *walk) open(r io.ReaderAt) error {
	for i, e := range w.src.entries {
		if e.records == 0 {
			continue
		}
		c, err := w.src.s.cursor(r, e)
		if err == nil {
			err = c.step()
		}
		if err == nil {
			err = c.seek(w.lo)
		}
		if err != nil {
			return err
		}
		l := lane{cursor: c, at: i}
		if e.inline != nil {
			for k := range c.n {
				l.bound = max(l.bound, w.gain(i, c.counts[k], w.rows.length(c.docs[k])))
			}
		} else {
			l.bound = w.gain(i, e.most, e.shortest)
		}
		w.lists = append(w.lists, l)
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
	w.seq++
	if score <= w.threshold() {
		return
	}
	h := hit{v: w.src.v, event: w.src.s.event, line: w.src.s.line(doc), score: score, print: w.rows.print(doc), seq: w.seq,
		length: int(w.rows.length(doc)), acts: w.rows.tools(doc) != 0 || w.rows.role(doc) == ctxabi.Tool || w.src.s.event}
	if len(w.best) == w.k {
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
	slices.SortFunc(must, func(a, b *lane) int { return a.e.records - b.e.records })
	for doc := must[0].doc(); doc < w.hi; {
		next := doc
		for _, l := range must {
			if err := l.seek(doc); err != nil {
				return err
			}
			if next = l.doc(); next != doc {
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
		if err := must[0].next(); err != nil {
			return err
		}
		doc = must[0].doc()
	}
	return nil
}

// add notes what a list gives to a record.
func (w *walk) add(l *lane, doc uint32) error {
	if err := l.seek(doc); err != nil {
		return err
	}
	if l.doc() == doc {
		w.gains[l.at] = w.gain(l.at, l.counts[l.i], w.rows.length(doc))
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
		doc := end
		for i := first; i < len(lists); i++ {
			doc = min(doc, lists[i].doc())
		}
		if doc >= w.hi {
			return nil
		}
		sum := 0.0
		for i := len(lists) - 1; i >= first; i-- {
			l := &lists[i]
			if l.doc() != doc {
				continue
			}
			g := w.gain(l.at, l.counts[l.i], w.rows.length(doc))
			w.gains[l.at] = g
			sum += g
			if err := l.next(); err != nil {
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
				w.seq++
			}
			continue
		}
		w.take(doc)
	}
}

// skipBlocks moves the only list that matters over blocks whose records cannot reach the threshold with what the others give at most.
func (w *walk) skipBlocks(l *lane, others float64) error {
	if l.e.inline != nil || l.i > 0 || l.n == 0 {
		return nil
	}
	limit := w.threshold()
	for {
		k := l.skip[l.block-1] // the one that is decoded
		if (w.gain(l.at, k.most, k.shortest)+others)*slack > limit {
			return nil
		}
		for l.block < len(l.skip) {
			k := l.skip[l.block]
			if (w.gain(l.at, k.most, k.shortest)+others)*slack > limit {
				break
			}
			l.block++
		}
		if err := l.step(); err != nil || l.n == 0 {
			return err
		}
	}
}
