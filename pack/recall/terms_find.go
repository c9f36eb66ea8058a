package recall

import (
	"cmp"
	"context"
	"slices"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Bounds of one look into the index.
const (
	maxAsked    = 128     // distinct terms of a question: the first ones
	maxPostings = 1 << 18 // that are read of its terms, the rarest first; those of the rarest are read however many there are
)

// nameShare is what a name is worth beside another term that stands in as many records.
const nameShare = 1.5

// asked is a term of a question.
type asked struct {
	term   uint64
	name   bool    // of a person, a place, a thing; or a number
	having int     // records that have it
	worth  float64 // what it is worth, by that
}

// found are the records of a prefix of the history that answer a question.
type found struct {
	terms  []asked
	places []int         // the best ones, best first; of equal ones the newest is better
	scores map[int]int64 // of these and of the records beside them
}

// find returns the most best of the first n records of m. It returns the error of ctx when that ends.
func (x *Terms) find(ctx context.Context, m record.Records, n int, terms []asked, most int) (found, error) {
	select {
	case x.busy <- struct{}{}:
		defer func() { <-x.busy }()
	case <-ctx.Done():
		return found{}, ctx.Err()
	}
	if err := x.upTo(ctx, m, n, x.workers); err != nil {
		return found{}, err
	}
	lists, err := x.lists(terms, n)
	for again := false; err != nil; again = true { // what was kept is gone: it is made again
		x.reset(1)
		if again {
			x.store = nil
		}
		if err := x.upTo(ctx, m, n, x.workers); err != nil {
			return found{}, err
		}
		lists, err = x.lists(terms, n)
	}
	slices.SortStableFunc(lists, func(a, b termLists) int { return cmp.Compare(a.having, b.having) })
	f := found{scores: map[int]int64{}}
	sum := max(1, x.sum(n))
	scores := make([]int32, n+1)
	read := 0
	for _, l := range lists {
		if l.having == 0 {
			continue
		}
		if l.worth = compress.Worth(n, l.having); l.name {
			l.worth = float64(l.worth * nameShare)
		}
		f.terms = append(f.terms, l.asked)
		if read += l.having; len(f.terms) > 1 && read > maxPostings {
			continue
		}
		worth := int64(float64(l.worth * 1024))
		x.each(&l, n, func(at int, count, length uint16) {
			scores[at] += int32(gainOf(worth, int64(count), int64(length), int64(n), sum))
		})
	}
	f.places = best(scores, most)
	for _, at := range f.places {
		for k := max(1, at-1); k <= min(n, at+1); k++ {
			f.scores[k] = int64(scores[k])
		}
	}
	return f, nil
}

// gainOf is BM25 in whole numbers: what a term of some worth adds to a record of so many terms that has it count times,
// where n records have sum terms.
func gainOf(worth, count, length, n, sum int64) int64 {
	norm := 540 + 360*length*n/sum // k1 0.9, b 0.4, in thousandths
	return worth * count * 1900 / (count*1000 + norm)
}

// sum is how many terms the first n records have; x.busy is held.
func (x *Terms) sum(n int) (sum int64) {
	add := func(lengths []uint16) {
		for _, l := range lengths[:min(n, len(lengths))] {
			sum += int64(l)
		}
	}
	for _, b := range x.sealed {
		if n >= blockRecords {
			sum += b.sum
		} else {
			add(b.lengths)
		}
		n = max(0, n-blockRecords)
	}
	add(x.open.lengths)
	return sum
}

// termLists are a term's postings.
type termLists struct {
	asked
	sealed [][]byte // by the block
}

// lists returns the postings of terms, and how many of the first n records have each; x.busy is held. It returns an error when
// a block is not kept any more.
func (x *Terms) lists(terms []asked, n int) ([]termLists, error) {
	out := make([]termLists, len(terms))
	for i, t := range terms {
		out[i] = termLists{asked: t, sealed: make([][]byte, 0, len(x.sealed))}
		x.open.of(numberOf(t.term), func(p posting) {
			if len(x.sealed)*blockRecords+int(p.doc) < n {
				out[i].having++
			}
		})
	}
	for k, b := range x.sealed {
		first := k * blockRecords
		if first >= n {
			break
		}
		r, err := x.reader(k, b)
		if err != nil {
			return nil, err
		}
		for i := range out {
			list, having, err := r.find(numberOf(out[i].term))
			if err != nil {
				r.Close()
				return nil, err
			}
			out[i].sealed = append(out[i].sealed, list)
			if first+blockRecords <= n {
				out[i].having += having
				continue
			}
			eachPosting(list, func(p posting) {
				if first+int(p.doc) < n {
					out[i].having++
				}
			})
		}
		r.Close()
	}
	return out, nil
}

// each calls do with those of the first n records that have a term, by their places, with how often they have it and
// how many terms they have; x.busy is held.
func (x *Terms) each(l *termLists, n int, do func(at int, count, length uint16)) {
	for k, list := range l.sealed {
		first, lengths := k*blockRecords+1, x.sealed[k].lengths
		eachPosting(list, func(p posting) {
			if at := first + int(p.doc); at <= n {
				do(at, p.count, lengths[p.doc])
			}
		})
	}
	x.open.of(numberOf(l.term), func(p posting) {
		if at := len(x.sealed)*blockRecords + 1 + int(p.doc); at <= n {
			do(at, p.count, x.open.lengths[p.doc])
		}
	})
}
