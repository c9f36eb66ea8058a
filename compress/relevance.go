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

// Index holds the terms of some documents. They never change, and it may be part of
// many corpora at once, so that of many files only those that changed are read again.
type Index struct {
	terms    []termID  // sorted
	ends     []int32   // of each term's postings
	postings []posting // by term, then by document
	lengths  []int32   // of the documents, in terms
}

// match is a term of a query, by its place in it, and where its postings stand in an index.
type match struct{ term, from, to int32 }

// posting is how often a term stands in a document.
type posting struct{ doc, count int32 }

// Size returns about how many bytes an index takes.
func (x *Index) Size() int {
	return len(x.terms)*12 + len(x.postings)*8 + len(x.lengths)*4
}

// NewIndex returns the index of docs, by the terms that [Terms] finds in them.
func NewIndex(docs []string) *Index {
	size := 0
	for _, text := range docs {
		size += len(text)
	}
	x := &Index{lengths: make([]int32, len(docs))}
	number := make(map[termID]int32, size/16) // of each term, in the order of their first appearance
	type found struct {
		posting
		term int32
	}
	all := make([]found, 0, size/12) // in the order of documents
	var last, having []int32         // of each term: its last place in all, how many postings it has
	for doc, text := range docs {
		eachTerm(text, func(t termID) {
			x.lengths[doc]++
			k, known := number[t]
			if known && all[last[k]].doc == int32(doc) {
				all[last[k]].count++
				return
			}
			if !known {
				k = int32(len(last))
				number[t] = k
				last, having, x.terms = append(last, 0), append(having, 0), append(x.terms, t)
			}
			last[k] = int32(len(all))
			having[k]++
			all = append(all, found{posting{int32(doc), 1}, k})
		})
	}
	slices.Sort(x.terms)
	x.ends = make([]int32, len(x.terms))
	next := last // where the next posting of each term goes
	end := int32(0)
	for i, t := range x.terms {
		k := number[t]
		next[k] = end
		end += having[k]
		x.ends[i] = end
	}
	x.postings = make([]posting, len(all))
	for _, f := range all {
		x.postings[next[f.term]] = f.posting
		next[f.term]++
	}
	return x
}

// match appends to found those of a query's terms that stand in the index, in their order. Both
// have their terms sorted, so that each is looked for from where the one before was.
func (x *Index) match(q *query, found []match) []match {
	i := 0
	for _, k := range q.sorted {
		t := q.terms[k]
		step := 1
		for i+step < len(x.terms) && x.terms[i+step] < t {
			i, step = i+step, 2*step
		}
		n, ok := slices.BinarySearch(x.terms[i:min(i+step+1, len(x.terms))], t)
		if i += n; ok {
			q.at[k] = int32(i + 1)
		}
	}
	for k, at := range q.at {
		if at == 0 {
			continue
		}
		q.at[k] = 0
		m := match{term: int32(k), to: x.ends[at-1]}
		if at > 1 {
			m.from = x.ends[at-2]
		}
		found = append(found, m)
	}
	return found
}

// Corpus is documents that are ranked against each other. It is safe for concurrent use.
type Corpus struct {
	indexes []*Index
	norms   []float64 // of each document; see normOf
}

// JoinIndexes returns one corpus of several indexes: the documents of the second are numbered on
// from those of the first, and so on. It costs next to nothing.
func JoinIndexes(indexes ...*Index) *Corpus {
	docs, total := 0, int64(0)
	for _, x := range indexes {
		docs += len(x.lengths)
		for _, n := range x.lengths {
			total += int64(n)
		}
	}
	mean := float64(max(1, total)) / float64(max(1, docs))
	c := &Corpus{indexes: indexes, norms: make([]float64, 0, docs)}
	for _, x := range indexes {
		for _, n := range x.lengths {
			c.norms = append(c.norms, normOf(int(n), mean))
		}
	}
	return c
}

// Rank returns the documents that share a term with query by their BM25 score, best first, equal
// ones in their order. A term counts once however often it stands in the query. The same
// documents and query have the same scores, to the bit, on every machine.
func (c *Corpus) Rank(query string) []Hit {
	scores := make([]float64, len(c.norms))
	q := newQuery(query)
	found := make([][]match, len(c.indexes))
	for i, x := range c.indexes {
		found[i] = x.match(q, nil)
	}
	c.eachGain(q.terms, 1, found, func(doc int, gain float64) { scores[doc] += gain })
	var hits []Hit
	for doc, score := range scores {
		if score > 0 {
			hits = append(hits, Hit{doc, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

// eachGain calls add for each pair of a term and a document that contains it, with the term's score
// times weight. It goes through the indexes, then the terms, then the documents in order. found
// holds the matches of the terms in each index.
func (c *Corpus) eachGain(terms []termID, weight float64, found [][]match, add func(doc int, gain float64)) {
	having := make([]int, len(terms))
	for i := range c.indexes {
		for _, m := range found[i] {
			having[m.term] += int(m.to - m.from)
		}
	}
	worth := make([]float64, len(terms))
	for k, n := range having {
		worth[k] = float64(weight * Worth(len(c.norms), n))
	}

	first := 0
	for i, x := range c.indexes {
		end := first + len(x.lengths)
		for _, m := range found[i] {
			worth := worth[m.term]
			for _, p := range x.postings[m.from:m.to] {
				doc := first + int(p.doc)
				add(doc, float64(worth*saturated(int(p.count), c.norms[doc])))
			}
		}
		first = end
	}
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

// query is what is asked of indexes. It is not safe for concurrent use.
type query struct {
	terms  []termID // distinct ones, in the order of the text
	sorted []int32  // places of these, sorted by term
	at     []int32  // for match: where in an index each is, from 1; 0: nowhere
}

func newQuery(text string) *query {
	var terms []termID
	seen := map[termID]bool{}
	eachTerm(text, func(t termID) {
		if !seen[t] && len(terms) < maxQuery {
			seen[t] = true
			terms = append(terms, t)
		}
	})
	return queryOf(terms)
}

// queryOf returns a query for terms, which must be distinct.
func queryOf(terms []termID) *query {
	q := &query{terms: terms, sorted: make([]int32, len(terms)), at: make([]int32, len(terms))}
	for i := range q.sorted {
		q.sorted[i] = int32(i)
	}
	slices.SortFunc(q.sorted, func(a, b int32) int { return cmp.Compare(q.terms[a], q.terms[b]) })
	return q
}

// Covers reports whether each term of phrase, which has at least one, is a term of text.
func Covers(text, phrase string) bool {
	q := newQuery(phrase)
	if len(q.terms) == 0 {
		return false
	}
	x := NewIndex([]string{text})
	return len(x.match(q, nil)) == len(q.terms)
}
