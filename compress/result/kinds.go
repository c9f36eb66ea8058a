package result

import (
	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Kind is the form of a tool's result. It decides how the result is shortened.
type Kind string

const (
	KindSearch Kind = "search" // titles and snippets of a web search or a knowledge base
	KindFile   Kind = "file"   // a file that was read
	KindLog    Kind = "log"    // output of a command, a build, or a test run
	KindJSON   Kind = "json"   // a response of an API
	KindHTML   Kind = "html"
	KindBinary Kind = "binary"
	KindText   Kind = "text" // everything else, including matches, tables, listings, and diffs
)

// Hint is what is known of the call that a result answers; any of it may be empty.
type Hint struct {
	Tool    string // the tool's name
	Args    string // its arguments as they were written, mostly JSON
	IsError bool
}

// Limit is the most that a shortened text may be.
type Limit struct {
	Tokens int
	Count  func(text string) int // counts tokens; nil: ctxabi.Weight
}

// of returns the tokens of s.
func (l Limit) of(s string) int {
	if l.Count == nil {
		return ctxabi.Weight(s)
	}
	return l.Count(s)
}

// countedFrom is how often the limit a text may weigh that is counted. Few texts weigh more than their tokens twice.
const countedFrom = 2

// Holds reports whether s is within the limit. What weighs more than twice as much is not.
func (l Limit) Holds(s string) bool {
	if l.Count == nil {
		return compress.Fits(s, l.Tokens)
	}
	return compress.Fits(s, countedFrom*l.Tokens) && l.Count(s) <= l.Tokens
}
