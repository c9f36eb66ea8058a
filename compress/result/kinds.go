package result

import (
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Kind is what a tool's result is made of, which decides how it is shortened.
type Kind string

const (
	KindSearch  Kind = "search"  // titles and snippets, of the web or of a knowledge base
	KindMatches Kind = "matches" // lines that were found, with their files
	KindFile    Kind = "file"    // a file that was read
	KindLog     Kind = "log"     // what a command, a build or a test run printed
	KindJSON    Kind = "json"    // a response of an API
	KindDiff    Kind = "diff"
	KindTable   Kind = "table"   // rows below a header
	KindListing Kind = "listing" // paths, or the entries of directories
	KindHTML    Kind = "html"
	KindBinary  Kind = "binary" // bytes, or base64 of them
	KindText    Kind = "text"   // all else
)

// Hint is what is known of the call that a result answers; any of it may be empty.
type Hint struct {
	Tool    string // the tool's name
	Args    string // its arguments as they were written, mostly JSON
	IsError bool
}

// Limit is the most that a shortened text may be.
type Limit struct {
	Tokens int // by ctxabi.Weight
	Chars  int // Unicode code points; 0: any number
}

// Limit returns the limit of a result of kind k where the most generous kind may show that many
// tokens: search results four characters a token, command output three, files and responses two.
func (k Kind) Limit(tokens int) Limit {
	switch k {
	case KindSearch, KindMatches:
		return Limit{tokens, 4 * tokens}
	case KindFile, KindJSON:
		return Limit{tokens, 2 * tokens}
	}
	return Limit{tokens, 3 * tokens}
}

// of returns what s takes in the unit of a sheet: its tokens, or where the characters are
// scarcer as many of these as make a token.
func (l Limit) of(s string) int {
	w := ctxabi.Weight(s)
	if l.Chars > 0 {
		w = max(w, (utf8.RuneCountInString(s)*l.Tokens+l.Chars-1)/l.Chars)
	}
	return w
}

// holds reports whether s is within the limit.
func (l Limit) holds(s string) bool {
	if l.Chars > 0 && len(s)/utf8.UTFMax > l.Chars {
		return false
	}
	return compress.Fits(s, l.Tokens) && (l.Chars == 0 || utf8.RuneCountInString(s) <= l.Chars)
}
