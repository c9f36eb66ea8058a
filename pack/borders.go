package pack

import (
	"sort"

	"github.com/ctxfs/ctxfs/internal/tokens"
)

// border is where a block or a record of pack.md ends, and the tokens up to there.
type border struct{ bytes, tokens int }

// TokensOf counts the first n bytes of pack.md. Counts of whole blocks and records add up; what is left over is counted.
func (b *Build) TokensOf(n int, c *tokens.Counter) int {
	i := sort.Search(len(b.borders), func(i int) bool { return b.borders[i].bytes > n })
	var at border
	if i > 0 {
		at = b.borders[i-1]
	}
	return at.tokens + c.Count(string(b.Markdown[at.bytes:n]))
}

// Counter counts in the encoding of the build.
// It returns an error for an unknown encoding.
func (b *Build) Counter() (*tokens.Counter, error) {
	if b.native != nil && b.native.Counter != nil {
		return b.native.Counter, nil
	}
	return tokens.For("")
}
