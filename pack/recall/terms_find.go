package recall

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sort"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/search/segment"
)

// Bounds of one look into the index.
const (
	maxAsked    = 256     // distinct terms of a query: the first ones
	maxPostings = 1 << 18 // that are read of its terms, the rarest first; those of the rarest are read however many there are
)

// asked is a term of a query.
type asked struct {
	term   uint64
	having int     // records that contain it
	worth  float64 // its weight, which falls with having
}

// find returns the terms that occur in the first n records of m, and the places of the most best of
// these records, best first, of equal ones the newest first. It returns the error of ctx when that
// ends.
func (x *Terms) find(ctx context.Context, m record.Records, n int, terms []asked, most int) (having []asked, places []int, err error) {
	select {
	case x.busy <- struct{}{}:
		defer func() { <-x.busy }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	before := x.read
	defer func() {
		if x.Awaited != nil {
			x.Awaited.Add(uint64(x.read - before))
		}
	}()
	for again := false; ; again = true {
		if err := x.upTo(ctx, m, n, x.workers); err != nil {
			return nil, nil, err
		}
		if having, places, err = x.findIn(n, terms, most); err == nil {
			return having, places, nil
		}
		if !again {
			x.forget(1) // a block is gone, perhaps merged by another index
		} else {
			x.reset(1)
			x.store = nil
		}
	}
}

// findIn is find for indexed records; x.busy is held. It returns an error if a block is not stored any
// more.
func (x *Terms) findIn(n int, terms []asked, most int) (having []asked, places []int, err error) {
	lists, err := x.lists(terms, n)
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(lists, func(a, b termList) int { return cmp.Compare(a.having, b.having) })
	sum := max(1, x.sum(n))
	read := 0
	var chosen []termList
	for _, l := range lists {
		if l.having == 0 {
			continue
		}
		l.worth = compress.Worth(n, l.having)
		having = append(having, l.asked)
		if read += l.having; len(having) == 1 || read <= maxPostings {
			chosen = append(chosen, l)
		}
	}
	scores := make([]int32, n+1)
	err = x.each(chosen, n, func(l *termList, at int, count uint32, length uint16) {
		worth := int64(float64(l.worth * 1024))
		scores[at] += int32(gainOf(worth, int64(min(count, maxCount)), int64(length), int64(n), sum))
	})
	return having, best(scores, most), err
}

// gainOf is BM25 in whole numbers: what a term of some worth adds to a record of so many terms that
// has it count times, where n records have sum terms.
func gainOf(worth, count, length, n, sum int64) int64 {
	norm := 540 + 360*length*n/sum // k1 0.9, b 0.4, in thousandths
	return worth * count * 1900 / (count*1000 + norm)
}

// best returns the positions of the n highest scores above 0, the highest first, of equal ones the
// newest.
func best(scores []int32, n int) (places []int) {
	for i, s := range slices.Backward(scores) { // so that older ones with the same score are skipped at once
		if s <= 0 || len(places) == n && s <= scores[places[n-1]] {
			continue
		}
		at := sort.Search(len(places), func(k int) bool { return scores[places[k]] < s })
		if places = slices.Insert(places, at, i); len(places) > n {
			places = places[:n]
		}
	}
	return places
}

// sum is how many terms the first n records have; x.busy is held.
func (x *Terms) sum(n int) (sum int64) {
	add := func(lengths []uint16, first int) {
		for _, l := range lengths[:max(0, min(n-first, len(lengths)))] {
			sum += int64(l)
		}
	}
	for _, b := range x.sealed {
		if n >= b.end() {
			sum += b.sum
		} else {
			add(b.lengths, b.first)
		}
	}
	add(x.open.lengths, x.end())
	return sum
}

// termList is where the postings of a term are.
type termList struct {
	asked
	sealed []segment.Entry // by the block
}

// lists returns how many of the first n records have each of the terms; x.busy is held. It returns
// an error if a block is not stored any more.
func (x *Terms) lists(terms []asked, n int) ([]termList, error) {
	out := make([]termList, len(terms))
	for i, t := range terms {
		out[i] = termList{asked: t, sealed: make([]segment.Entry, 0, len(x.sealed))}
	}
	count := func(l *termList, _ int, _ uint32, _ uint16) { l.having++ }
	err := x.eachBlock(n, func(k int, content io.ReaderAt) error {
		for i := range out {
			l := &out[i]
			e, err := x.sealed[k].segment.Find(content, l.term)
			if l.sealed = append(l.sealed, e); err == nil && x.sealed[k].end() > n {
				err = x.eachIn(k, content, l, n, count)
			} else {
				l.having += e.Records
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	x.eachOpen(out, n, count)
	return out, err
}

// posting is called for a record that has the term of l: with its position, how often it has the
// term, and how many terms it has.
type posting func(l *termList, at int, count uint32, length uint16)

// each calls do for each of the first n records with a term of lists. The caller holds x.busy. each
// returns an error if a stored block was removed.
func (x *Terms) each(lists []termList, n int, do posting) error {
	x.eachOpen(lists, n, do)
	return x.eachBlock(n, func(k int, content io.ReaderAt) error {
		for i := range lists {
			if err := x.eachIn(k, content, &lists[i], n, do); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachBlock calls do with the content of each sealed block that has some of the first n records.
func (x *Terms) eachBlock(n int, do func(k int, content io.ReaderAt) error) error {
	for k := 0; k < len(x.sealed) && x.sealed[k].first < n; k++ {
		content, closer, err := x.reader(x.sealed[k])
		if err != nil {
			return err
		}
		err = do(k, content)
		closer.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// eachIn calls do for the records of block k among the first n ones that have the term of l.
func (x *Terms) eachIn(k int, content io.ReaderAt, l *termList, n int, do posting) error {
	b := x.sealed[k]
	if l.sealed[k].Records == 0 {
		return nil
	}
	docs, counts, err := b.segment.Postings(content, l.sealed[k], nil, nil)
	for i, doc := range docs { // the newest record first
		if in := len(b.lengths) - int(doc); b.first+in <= n {
			do(l, b.first+in, counts[i], b.lengths[in-1])
		}
	}
	return err
}

// eachOpen calls do for the records of the open block among the first n ones that have a term of
// lists.
func (x *Terms) eachOpen(lists []termList, n int, do posting) {
	if x.open.chunk == nil {
		return
	}
	terms := make([]uint64, len(lists))
	for i := range lists {
		terms[i] = lists[i].term
	}
	first := x.end() + 1
	x.open.chunk.Each(terms, func(i, doc int, count uint32) {
		if first+doc <= n {
			do(&lists[i], first+doc, count, x.open.lengths[doc])
		}
	})
}
