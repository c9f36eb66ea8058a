package redact

import (
	"strings"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// escapes are what terminals read as colours, movements and titles.
var escapes = lazy.Regexp(`\x1b(?:\[[0-9;?:]*[ -/]*[@-~]|\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHMNOZ])`)

// plain is a text without the escapes in it, and where its bytes were.
type plain struct {
	text string
	gaps []gap // in order
}

// gap is how many bytes farther behind in the text itself the plain text from a place on was.
type gap struct{ from, shift int }

// plainOf strips a text of its escapes.
func plainOf(text string) plain {
	if strings.IndexByte(text, 0x1b) < 0 {
		return plain{text: text}
	}
	var b strings.Builder
	var p plain
	end, shift := 0, 0
	for _, m := range escapes().FindAllStringIndex(text, -1) {
		b.WriteString(text[end:m[0]])
		shift += m[1] - m[0]
		p.gaps = append(p.gaps, gap{b.Len(), shift})
		end = m[1]
	}
	b.WriteString(text[end:])
	p.text = b.String()
	return p
}

// span returns where a part of the plain text stands in the text itself: escapes in it belong to it, those around it do not.
func (p *plain) span(from, to int) (int, int) {
	return from + p.shift(from, true), to + p.shift(to, false)
}

// shift is how far behind a place lies in the text itself, with the escapes that stand right there or without.
func (p *plain) shift(at int, with bool) (n int) {
	for _, g := range p.gaps {
		if g.from > at || g.from == at && !with {
			break
		}
		n = g.shift
	}
	return n
}
