package pack

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tokens"
)

// block is one file as it stands in the pack.
type block struct {
	source source
	file   File
	at     int    // its place among the input's files
	text   string // framed; "" when it is left out
	tokens int
	asked  int // tokens that the whole would take
	cut    bool
	left   int    // bytes left out
	reason string // why it is cut or left out
}

// requiredBlocks frames the blocks that are never cut and counts them.
func requiredBlocks(r *oldRecipe, files []File, c *tokens.Counter) (blocks []block, total int) {
	for at, f := range files {
		s := r.source(f.Source)
		if !s.Required {
			continue
		}
		b := block{source: s, file: f, at: at, reason: f.Reason}
		if f.Reason == "" && len(f.Data) > 0 {
			b.text = frame(f.ID, string(f.Data))
			b.tokens = c.CountCached(b.text)
			b.asked = b.tokens
		}
		blocks = append(blocks, b)
		total += b.tokens
	}
	return blocks, total
}

// optionalBlocks frames the other blocks of one phase within left tokens.
func optionalBlocks(r *oldRecipe, p phase, files []File, l limits, left int, c *tokens.Counter) []block {
	var blocks []block
	for at, f := range files {
		s := r.source(f.Source)
		if s.Required || s.Phase != p {
			continue
		}
		b := block{source: s, file: f, at: at, reason: f.Reason}
		if f.Reason == "" && len(f.Data) > 0 {
			b.text = frame(f.ID, string(f.Data))
			b.asked = wanted(b.text, l, c)
			b.tokens = b.asked
		}
		blocks = append(blocks, b)
	}
	if l.limit == 0 {
		return blocks
	}
	for i := range blocks {
		b := &blocks[i]
		if b.text == "" {
			continue
		}
		share := capOf(blocks, i, l)
		if p == phaseDynamic {
			share = max(share, b.source.Cap/2) // the footer has a bound of its own, which small limits keep low
		}
		b.fit(min(left, share), c)
		left -= b.tokens
	}
	return blocks
}

// wanted is the exact size of text, or its weight where that is far above any limit anyway.
func wanted(text string, l limits, c *tokens.Counter) int {
	if l.limit > 0 && len(text)/256 > l.limit {
		return ctxabi.Weight(text)
	}
	return c.CountCached(text)
}

// capOf is the cap of block i; blocks of one group share theirs.
func capOf(blocks []block, i int, l limits) int {
	s := blocks[i].source
	room := l.scaled(s.Cap)
	if s.Group == "" {
		return room
	}
	var wants []int
	mine := 0
	for k, b := range blocks {
		if b.source.Group != s.Group {
			continue
		}
		if k == i {
			mine = len(wants)
		}
		wants = append(wants, b.asked)
	}
	return spread(room, wants)[mine]
}

// fit cuts the block to limit tokens, at the end of a line, with a last line that names the path of the rest.
func (b *block) fit(limit int, c *tokens.Counter) {
	if b.asked <= limit {
		return
	}
	whole := string(b.file.Data)
	b.cut, b.reason = true, fmt.Sprintf("its share is %d tokens", limit)
	for room := limit; room >= 32; room = room * 7 / 8 {
		short, cut := compress.Head(whole, room, b.file.Path)
		text := frame(b.file.ID, short)
		if n := c.CountCached(text); n <= limit {
			b.text, b.tokens, b.cut = text, n, cut
			if cut {
				kept := strings.LastIndex(short, "\n") + 1 // the note is the last line
				b.left = len(whole) - commonPrefix(short[:kept], whole)
			}
			return
		}
	}
	b.text, b.tokens, b.left = "", 0, len(whole)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
