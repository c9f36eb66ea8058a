package pack

import (
	"crypto/sha256"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/native"
)

// Native returns the rendering of the build in a format, made when it is asked for first. It fails with
// ctxabi.ErrOverBudget when so little room is left that only pack.md fits, and with ctxabi.ErrIO when a record cannot be read.
func (b *Build) Native(f native.Format, logs native.Logs) ([]byte, error) {
	return b.native.Body(f, logs)
}

// Size is about how many bytes of memory the build holds: its renderings, and what others are made from. Texts of records and
// blocks are not among them, which all builds of a session share.
func (b *Build) Size() int {
	size := 1024 + len(b.Markdown) + b.jsonSize + len(b.Report) + 16*len(b.borders) + 192*len(b.Head) + b.uncovered.size()
	if b.native == nil {
		return size
	}
	return size + b.native.Size()
}

// toolSet returns the tools of a file, parsed once.
func (mm *Memo) toolSet(f *blocks.File) native.Tools {
	if sum := f.Digest(); mm.parsed == nil || mm.parsed.of != sum {
		mm.parsed = &parsedTools{of: sum, Tools: native.ParseTools(f.Data)}
	}
	return mm.parsed.Tools
}

// toolTokens is how many tokens the tools of a file take, counted once.
func (mm *Memo) toolTokens(f *blocks.File, c *tokens.Counter) int {
	s := mm.toolSet(f)
	if p := mm.parsed; p.counted != c.Encoding() {
		p.counted, p.tokens = c.Encoding(), s.Tokens(c)
	}
	return mm.parsed.tokens
}

// parsedTools are the tools of a file of this SHA-256.
type parsedTools struct {
	of [sha256.Size]byte
	native.Tools
	counted string // the encoding of tokens; "": not yet
	tokens  int
}
