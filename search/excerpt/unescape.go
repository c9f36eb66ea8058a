package excerpt

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape reads the escapes of JSON's strings wherever they stand in a text.
func Unescape(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'b', 'f':
			b = append(b, ' ')
		case 'u':
			c, n := unescapeRune(s[i+1:])
			b = utf8.AppendRune(b, c)
			i += n
		default: // a quote, a slash, a backslash
			b = append(b, c)
		}
	}
	return string(b)
}

// unescapeRune reads what follows \u, and how many bytes that takes.
func unescapeRune(s string) (c rune, n int) {
	unit := func(s string) rune {
		if len(s) < 4 {
			return -1
		}
		v, err := strconv.ParseUint(s[:4], 16, 16)
		if err != nil {
			return -1
		}
		return rune(v)
	}
	c = unit(s)
	switch {
	case c < 0:
		return utf8.RuneError, 0
	case utf16.IsSurrogate(c):
		if strings.HasPrefix(s[4:], `\u`) {
			if c = utf16.DecodeRune(c, unit(s[6:])); c != utf8.RuneError {
				return c, 10
			}
		}
		return utf8.RuneError, 4
	}
	return c, 4
}
