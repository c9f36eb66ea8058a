package record

import (
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// The framing of pack.md. A block or a record begins with '#' at the start of a line
// and ends with a newline, so that exact token counts add up: no token of the
// known encodings reaches over a newline that '#' follows.
const BlockHeading = "# Context Block: "

// Frame returns a block: its heading and its content, which is never altered.
func Frame(id, content string) string {
	var b strings.Builder
	b.Grow(len(BlockHeading) + len(id) + len(content) + 2)
	b.WriteString(BlockHeading)
	b.WriteString(OneLine(id))
	b.WriteByte('\n')
	WriteContent(&b, content, NeedsFence(content))
	return b.String()
}

// WriteContent writes content, in a fence if asked for, and ends it with a newline.
func WriteContent(b *strings.Builder, content string, fenced bool) {
	if content == "" {
		return
	}
	fence := ""
	if fenced {
		fence = strings.Repeat("`", max(3, LongestRun(content, '`')+1))
		b.WriteString(fence)
		b.WriteByte('\n')
	}
	b.WriteString(content)
	if content[len(content)-1] != '\n' {
		b.WriteByte('\n')
	}
	if fenced {
		b.WriteString(fence)
		b.WriteByte('\n')
	}
}

// NeedsFence reports whether content could be taken for framing, or would swallow
// the framing after it: a line of it looks like a heading or a mark of pack.md,
// or a fence that it opens is not closed.
func NeedsFence(content string) bool {
	if !strings.ContainsAny(content, "#[`~") {
		return false
	}
	open := "" // mark of the open fence
	for line := range strings.FieldsFuncSeq(content, func(c rune) bool { return c == '\n' || c == '\r' }) {
		line = strings.TrimSpace(line)
		if ctxabi.LikeFraming(line) {
			return true
		}
		open = compress.FenceAfter(open, line)
	}
	return open != ""
}

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// LongestRun returns the length of the longest run of c in s.
func LongestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] == c {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

// OneLine makes a name fit for a heading: control characters and line ends become blanks.
func OneLine(name string) string { return strings.TrimSpace(WithoutControls(name)) }

// WithoutControls returns text with a blank in place of each control character and each separator of lines.
func WithoutControls(text string) string {
	clean := func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}
	return strings.Map(clean, text)
}

// ShortName is oneLine with a bound, for names that come from records.
func ShortName(name string) string {
	const most = 48
	if name = OneLine(name); len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}

// What native renderings take beyond its tokens in pack.md, at most. A heading there takes five or more.
const (
	FrameTokens     = 3 // for a record
	NoteFrameTokens = 6 // for a note, which has no heading
)
