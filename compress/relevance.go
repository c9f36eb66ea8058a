package compress

// Hit is one document that answers a query.
type Hit struct {
	Doc   int // its place among the corpus's documents, from 0
	Score float64
}

// Index holds the terms of some documents. It never changes and may be part of many corpora.
type Index struct{}

// NewIndex reads docs.
func NewIndex(docs []string) *Index { return &Index{} }

// Corpus is documents that can be ranked against each other.
type Corpus struct{}

// NewCorpus reads docs.
func NewCorpus(docs []string) *Corpus { return JoinIndexes(NewIndex(docs)) }

// JoinIndexes makes one corpus of several indexes, whose documents are numbered on.
func JoinIndexes(indexes ...*Index) *Corpus { return &Corpus{} }

// Rank gives the documents that share a term with query, best first.
func (c *Corpus) Rank(query string) []Hit { return nil }
