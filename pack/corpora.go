package pack

// corpora keeps the indexes of files by their content, so that one changed file
// is all that is read again. It is safe for concurrent use; nil keeps nothing.
type corpora struct{}

func newCorpora() *corpora { return &corpora{} }
