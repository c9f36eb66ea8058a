package ctxabi

import "strings"

// ToldBegins and ToldEnds are the lines around what a hook tells a conversation of its memory. A transcript may have it
// as words of the user: it is a copy of what sessions keep, and nothing that anybody said.
const (
	ToldBegins = "[ctxfs: what was kept for you]"
	ToldEnds   = "[ctxfs: end]"
)

// Told returns text as a hook tells it: between the two marks, a line each.
func Told(text string) string {
	return ToldBegins + "\n" + strings.Trim(text, "\n") + "\n" + ToldEnds + "\n"
}

// WithoutTold returns text without what stands between the marks, with the element around it that Gemini CLI makes. What
// begins and does not end goes up to the end of text.
func WithoutTold(text string) string {
	if !strings.Contains(text, ToldBegins) {
		return text
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, ToldBegins)
		if !ok {
			b.WriteString(text)
			return b.String()
		}
		_, after, _ := strings.Cut(rest, ToldEnds)
		const open, closed = "<hook_context>", "</hook_context>"
		if head, wrapped := strings.CutSuffix(before, open); wrapped {
			if tail, ends := strings.CutPrefix(strings.TrimLeft(after, "\n"), closed); ends {
				before, after = head, tail
			}
		}
		b.WriteString(before)
		text = strings.TrimLeft(after, "\n")
	}
}
