package result

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Plain returns text as a terminal leaves it: without control sequences, text that a carriage
// return or a backspace overwrote, and other control characters. The result is valid UTF-8.
func Plain(text string) string {
	if !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == '\uFFFD' }) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		body, end := strings.CutSuffix(line, "\n")
		if strings.Contains(body, "\x1b") {
			body = ansi.Strip(body)
		}
		body = strings.TrimRight(body, "\r")
		body = body[strings.LastIndexByte(body, '\r')+1:]
		var kept []rune
		for _, c := range body {
			switch {
			case c == '\b':
				kept = kept[:max(0, len(kept)-1)]
			case c >= ' ' && c != 0x7f || c == '\t':
				kept = append(kept, c)
			}
		}
		b.WriteString(string(kept))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
