package top

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/ctxfs/ctxfs/views/overview"
)

// style is how a text stands out, as the numbers of an SGR sequence; "": not at all. Its colours are those that the
// terminal's own theme defines.
type style string

const (
	plain  style = ""
	strong style = "1"
	faint  style = "2"
	chosen style = "7"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
	alarm  style = "1;31"
)

// painter puts colours into text, or leaves them out.
type painter struct{ color bool }

func (p painter) paint(s style, text string) string {
	if !p.color || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// harmless returns a text on one line that takes as many cells as [width] counts in every terminal: control characters
// are shown as signs, and what joins or varies the letters before it, about whose width terminals differ, is left out.
func harmless(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r == 0x200d, r >= 0xfe00 && r <= 0xfe0f, r >= 0x1f3fb && r <= 0x1f3ff:
			return -1
		}
		return r
	}, strings.ToValidUTF8(overview.Visible(text), "\uFFFD"))
	return strings.TrimSpace(text)
}

// width returns how many cells a harmless text takes.
func width(text string) int { return ansi.WcWidth.StringWidth(text) }

// fit makes a harmless text exactly n cells wide: it cuts what is too long, and fills up what is too short.
func fit(text string, n int) string {
	text = crop(text, n)
	return text + strings.Repeat(" ", max(0, n-width(text)))
}

// fitRight is fit with the text at the right.
func fitRight(text string, n int) string {
	text = crop(text, n)
	return strings.Repeat(" ", max(0, n-width(text))) + text
}

// crop cuts a harmless text that is wider than n cells.
func crop(text string, n int) string {
	if n < 1 {
		return ""
	}
	if width(text) <= n {
		return text
	}
	return ansi.WcWidth.Truncate(text, n, "…")
}

// typed returns letters from a keyboard without what [harmless] would leave out or show as signs, blanks included.
func typed(text string) string {
	return strings.Map(func(r rune) rune {
		if s := string(r); r == ' ' || harmless(s) == s {
			return r
		}
		return -1
	}, text)
}

// of writes tokens of a budget; a budget of 0 is none.
func of(tokens, budget int) string {
	if budget == 0 {
		return overview.Short(tokens)
	}
	return overview.Short(tokens) + "/" + overview.Short(budget)
}

// spark draws what the last prompts were.
func spark(p overview.Packs, width int) string {
	values := make([]float64, len(p.Values))
	for i, n := range p.Values {
		values[i] = float64(n)
	}
	return overview.Sparkline(values, float64(p.Peak), width)
}
