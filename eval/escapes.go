package eval

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescaped returns the text of JSON with the escapes of its strings decoded, whether it is whole or cut.
// What is no escape of JSON stays as it is.
func unescaped(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		at := strings.IndexByte(s, '\\')
		if at < 0 {
			break
		}
		b.WriteString(s[:at])
		text, size := decoded(s[at:])
		b.WriteString(text)
		s = s[at+size:]
	}
	b.WriteString(s)
	return b.String()
}

// simpleEscapes are the letters of the escapes of JSON but for u, and escapedBytes what they stand for.
const (
	simpleEscapes = `nrtbf"\/`
	escapedBytes  = "\n\r\t\b\f\"\\/"
)

// decoded returns what the escape stands for that s begins with, and its length.
func decoded(s string) (string, int) {
	if len(s) < 2 {
		return s, len(s)
	}
	if i := strings.IndexByte(simpleEscapes, s[1]); i >= 0 {
		return escapedBytes[i : i+1], 2
	}
	r, ok := codeUnit(s)
	if !ok {
		return s[:1], 1
	}
	if utf16.IsSurrogate(r) {
		low, _ := codeUnit(s[6:])
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return string(r), 6
		}
		return string(r), 12
	}
	return string(r), 6
}

// codeUnit returns the code unit of the \uXXXX that s begins with.
func codeUnit(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// escapeLength is how long the escape is that s begins with, however often it was escaped again: `\n`, `\\n`, `\u00e9`.
// A backslash before another letter is one by itself.
func escapeLength(s string) int {
	run := len(s) - len(strings.TrimLeft(s, `\`))
	if run < len(s) && strings.IndexByte("ntr", s[run]) >= 0 {
		return run + 1
	}
	if _, ok := codeUnit(s[run-1:]); ok {
		return run + 5
	}
	return run
}

// unescapedCalls returns the text of records, or of a pack, with the arguments of the calls in it unescaped.
func unescapedCalls(text string) string {
	if !strings.Contains(text, "[call ") || strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "[call ") {
			line = unescaped(line)
		}
		b.WriteString(line)
	}
	return b.String()
}
