package result

import (
	"strings"
	"unicode/utf8"
)

// plainText returns text without what only a terminal shows: ANSI sequences, characters that
// were overwritten after a carriage return or by backspaces, other control characters. It
// returns valid UTF-8.
func plainText(text string) string {
	if !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == utf8.RuneError || c == 0x7f }) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	out := make([]byte, 0, len(text))
	begin := 0 // of the line, in out
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == 0x1b:
			at += escape(text[at:])
			continue
		case c == '\n':
			out = append(out, c)
			begin = len(out)
		case c == '\r':
			rest := text[at:]
			if skip := len(rest) - len(strings.TrimLeft(rest, "\r")); skip < len(rest) && rest[skip] != '\n' {
				out = out[:begin]
			}
		case c == '\b':
			_, size := utf8.DecodeLastRune(out[begin:])
			out = out[:len(out)-size]
		case c >= ' ' && c != 0x7f || c == '\t':
			out = append(out, c)
		}
		at++
	}
	return string(out)
}

// escape returns the length of the control sequence that s begins with.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[': // CSI: parameters, then one letter
		for i := 2; i < len(s) && i < 64; i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] >= 0x7f {
				return i
			}
		}
		return 2
	case ']': // OSC: up to BEL or ESC \
		for i := 2; i < len(s) && i < 4096 && s[i] != '\n'; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return 2
	}
	if s[1] >= 0x20 && s[1] < 0x7f {
		if strings.IndexByte("()*+#%", s[1]) >= 0 && len(s) > 2 && s[2] > 0x20 && s[2] < 0x7f {
			return 3
		}
		return 2
	}
	return 1
}
