package compress

import "slices"

// Running scores the documents of a corpus for a query that changes little from call to call. It
// adds the scores of new terms and subtracts the scores of removed terms. The sums are integers, so
// they do not depend on the order of the calls. A Running is not safe for concurrent use.
type Running struct {
	corpus  *Corpus
	texts   []string            // the last query
	byText  map[string][]termID // its terms
	current map[termID]bool     // the terms in the sums, at most maxQuery
	sums    []int64             // by document, in 1/RunningUnit of a BM25 score
}

// RunningUnit is the integer for a score of 1.
const RunningUnit = 1 << 40

// Running returns a Running with an empty query.
func (c *Corpus) Running() *Running {
	return &Running{corpus: c, current: map[termID]bool{}, sums: make([]int64, len(c.norms))}
}

// Set makes texts the query and returns the BM25 score of each document times [RunningUnit]. The first maxQuery
// distinct terms count, once each. The result is valid until the next call.
func (r *Running) Set(texts ...string) []int64 {
	if slices.Equal(texts, r.texts) {
		return r.sums
	}
	byText := make(map[string][]termID, len(texts))
	for _, text := range texts {
		terms, known := r.byText[text]
		if !known {
			terms = newQuery(text).terms
		}
		byText[text] = terms
	}

	current := make(map[termID]bool, len(r.current)+64)
	var added, removed []termID
	for _, text := range texts {
		for _, t := range byText[text] {
			if current[t] || len(current) == maxQuery {
				continue
			}
			current[t] = true
			if !r.current[t] {
				added = append(added, t)
			}
		}
	}
	for t := range r.current {
		if !current[t] {
			removed = append(removed, t)
		}
	}
	r.texts, r.byText, r.current = slices.Clone(texts), byText, current
	r.add(removed, -RunningUnit)
	r.add(added, RunningUnit)
	return r.sums
}

// add adds unit times the score of terms to the sums.
func (r *Running) add(terms []termID, unit float64) {
	if len(terms) == 0 {
		return
	}
	c, q := r.corpus, queryOf(terms)
	found := make([][]match, len(c.indexes))
	for i, x := range c.indexes {
		found[i] = x.match(q, nil)
	}
	c.eachGain(terms, unit, found, func(doc int, gain float64) { r.sums[doc] += int64(gain) })
}
