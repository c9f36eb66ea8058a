package ctxabi

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// What reads JSON that is no record, such as the transcripts of others, can
// have the scan of records with a bound of its own.

// EachField calls field with each key, still quoted, and each value of the
// JSON object that is all of b, but for blanks around it. Both are parts of b.
// ok is false when b is none, or when its values are nested more than depth
// deep, the object counted; field may have been called before.
func EachField(b []byte, depth int, field func(key, value []byte)) (ok bool) {
	s := scanner{b: b, maxDepth: depth}
	s.blanks()
	return s.peek() == '{' && s.object(1, field) && s.atEnd()
}

// EachElement calls element with each value of the JSON list that is all of b,
// but for blanks around it: parts of b, in their order. ok is as of [EachField]; where it is
// false, the values in front of the mistake were given.
func EachElement(b []byte, depth int, element func(value []byte)) (ok bool) {
	s := scanner{b: b, maxDepth: depth}
	s.blanks()
	return s.peek() == '[' && s.array(1, element) && s.atEnd()
}

// IsCompact reports whether b is one JSON value without any blanks between its
// tokens, nested at most depth deep.
func IsCompact(b []byte, depth int) bool {
	s := scanner{b: b, maxDepth: depth}
	return s.value(1) && s.i == len(b) && !s.spaced
}

func (s *scanner) atEnd() bool {
	s.blanks()
	return s.i == len(s.b)
}

// WithoutHalves replaces each escape of an unpaired surrogate in JSON with \ufffd, because parsers
// refuse such an escape. It returns s itself if there is none.
func WithoutHalves(s string) string {
	escape := func(at int) rune { // -1: none
		if at+6 > len(s) || s[at] != '\\' || s[at+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(s[at+2:at+6], 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	var b []byte // nil until the first replacement
	from := 0
	for i := strings.IndexByte(s, '\\'); i >= 0 && i < len(s); i++ {
		switch r := escape(i); {
		case s[i] != '\\':
		case r < 0:
			i++ // an escape of another character
		case !utf16.IsSurrogate(r):
			i += 5
		case utf16.DecodeRune(r, escape(i+6)) != unicode.ReplacementChar:
			i += 11
		default:
			b = append(append(b, s[from:i]...), `\ufffd`...)
			i += 5
			from = i + 1
		}
	}
	if b == nil {
		return s
	}
	return string(append(b, s[from:]...))
}
