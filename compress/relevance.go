package compress

import (
	"cmp"
	"math"
	"slices"
)

// Constants of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009), as Lucene's
// users set them for passages.
const (
	bm25K1 = 0.9 // how much repetition counts
	bm25B  = 0.4 // how much length counts
)

// maxQuery is how many distinct terms of a query count: the first ones.
const maxQuery = 1024

// Hit is one document that answers a query.
type Hit struct {
	Doc   int // its place among the corpus's documents, from 0
	Score float64
}

// Index holds the terms of some documents. It is immutable and may be part of many corpora at once,
// so that of many files only those that changed are read again.
type Index struct {
	postings map[termID][]posting // by document
	lengths  []int                // of the documents, in terms
	size     int                  // number of postings
}

// posting is how often a term occurs in a document.
type posting struct{ doc, count int32 }

// Size estimates the memory of an index in bytes.
func (x *Index) Size() int { return 64*len(x.postings) + 12*x.size + 8*len(x.lengths) }

// NewIndex returns the index of docs, by the terms that [Terms] finds in them.
func NewIndex(docs []string) *Index {
	x := &Index{postings: map[termID][]posting{}, lengths: make([]int, len(docs))}
	for doc, text := range docs {
		eachTerm(text, func(t termID) {
			x.lengths[doc]++
			list := x.postings[t]
			if n := len(list); n > 0 && list[n-1].doc == int32(doc) {
				list[n-1].count++
				return
			}
			x.postings[t] = append(list, posting{int32(doc), 1})
			x.size++
		})
	}
	return x
}

// Corpus is documents that are ranked against each other. It is safe for concurrent use.
type Corpus struct {
	indexes []*Index
	norms   []float64 // of each document; see normOf
}

// JoinIndexes returns one corpus of several indexes. It numbers the documents in the order of the
// indexes.
func JoinIndexes(indexes ...*Index) *Corpus {
	docs, total := 0, 0
	for _, x := range indexes {
		docs += len(x.lengths)
		for _, n := range x.lengths {
			total += n
		}
	}
	mean := float64(max(1, total)) / float64(max(1, docs))
	c := &Corpus{indexes: indexes, norms: make([]float64, 0, docs)}
	for _, x := range indexes {
		for _, n := range x.lengths {
			c.norms = append(c.norms, normOf(n, mean))
		}
	}
	return c
}

// Rank returns the documents that share a term with query by their BM25 score, best first, equal
// ones in their order. A term counts once however often it occurs in the query. The same
// documents and query have the same scores, to the bit, on every machine.
func (c *Corpus) Rank(query string) (hits []Hit) {
	scores := make([]float64, len(c.norms))
	for _, t := range queryTerms(query) {
		having := 0
		for _, x := range c.indexes {
			having += len(x.postings[t])
		}
		worth, first := Worth(len(scores), having), 0
		for _, x := range c.indexes {
			for _, p := range x.postings[t] {
				doc := first + int(p.doc)
				scores[doc] += float64(worth * saturated(int(p.count), c.norms[doc]))
			}
			first += len(x.lengths)
		}
	}
	for doc, score := range scores {
		if score > 0 {
			hits = append(hits, Hit{doc, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

// Worth returns what a term is worth that having of docs documents have.
func Worth(docs, having int) float64 {
	// Conversions keep compilers from fusing operations, and single precision hides the last bits in which logarithms differ between machines.
	n, df := float64(docs), float64(having)
	return float64(float32(math.Log(1 + (n-df+0.5)/(df+0.5))))
}

// Gain returns what a term of some worth adds to a document of so many terms that has it count
// times, where documents have mean terms. It grows with count and falls with length.
func Gain(worth float64, count, length int, mean float64) float64 {
	return float64(worth * saturated(count, normOf(length, mean)))
}

// normOf returns after how many repetitions a term adds half of the most that it can add to a
// document of so many terms.
func normOf(length int, mean float64) float64 {
	return float64(bm25K1 * float64(1-bm25B+float64(bm25B*float64(float64(length)/mean))))
}

// saturated returns the part of its worth that a term adds which stands count times in a
// document of some norm.
func saturated(count int, norm float64) float64 {
	n := float64(count)
	return float64(float64(n*(bm25K1+1)) / float64(n+norm))
}

// queryTerms returns the first distinct terms of a text, at most maxQuery.
func queryTerms(text string) (terms []termID) {
	seen := map[termID]bool{}
	eachTerm(text, func(t termID) {
		if !seen[t] && len(terms) < maxQuery {
			seen[t] = true
			terms = append(terms, t)
		}
	})
	return terms
}

// Covers reports whether each term of phrase, which has at least one, is a term of text.
func Covers(text, phrase string) bool {
	terms, in := queryTerms(phrase), map[termID]bool{}
	eachTerm(text, func(t termID) { in[t] = true })
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t termID) bool { return !in[t] })
}
