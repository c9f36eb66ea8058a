package compress

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// WordKind is what a word is worth to a reader who comes back to it later.
type WordKind uint8

const (
	OtherWord      WordKind = iota
	PlainWord               // letters alone, at least four
	IdentifierWord          // an identifier, see eachWord
)

// EachWord calls emit with each word of a line and its kind, in order. A word is a run of letters,
// digits, and / . _ : @ # -, trimmed by [TrimWord]. An identifier is a number of at least three
// digits, or a word of 4 to 120 characters that has camelCase, one of / . _ : @ #, or a letter and
// a digit. After an identifier with a colon, EachWord emits its parts that are identifiers: auth.go
// follows auth.go:41. In scripts without spaces, each pair of adjacent characters is a plain word,
// as in [Terms].
func EachWord(line string, emit func(word string, kind WordKind)) {
	word := func(w string) {
		w = TrimWord(w)
		kind := KindOfWord(w)
		if w != "" {
			emit(w, kind)
		}
		if kind != IdentifierWord || strings.IndexByte(w, ':') < 0 {
			return
		}
		for part := range strings.SplitSeq(w, ":") {
			if part = TrimWord(part); KindOfWord(part) == IdentifierWord {
				emit(part, IdentifierWord)
			}
		}
	}
	from := -1
	end := func(at int) {
		if from >= 0 {
			word(line[from:at])
			from = -1
		}
	}
	for at := 0; at < len(line); {
		if classes[line[at]]&ofWord != 0 {
			if from < 0 {
				from = at
			}
			at++
			continue
		}
		c, size := runeAt(line, at)
		if spaceless(c) {
			end(at)
			run := spacelessRun(line[at:])
			eachPair(line[at:at+run], func(pair string) {
				if len(pair) > size {
					emit(pair, PlainWord)
				}
			})
			at += run
			continue
		}
		if InWord(c) {
			if from < 0 {
				from = at
			}
			at += size
			continue
		}
		end(at)
		if c == '\\' && at+1 < len(line) && strings.IndexByte(`ntr"\`, line[at+1]) >= 0 { // an escape of JSON
			size = 2
		}
		at += size
	}
	end(len(line))
}

// spacelessRun returns the length in bytes of the longest prefix of s in scripts without spaces.
func spacelessRun(s string) int {
	for at, c := range s {
		if !spaceless(c) && !unicode.IsMark(c) && c != 'ー' {
			return at
		}
	}
	return len(s)
}

// What a byte can be; most text is ASCII, and much of it is read for its words.
const (
	letterByte = 1 << iota
	digitByte
	endByte // one of / . _ : @ # -, which TrimWord removes at the ends

	ofWord = letterByte | digitByte | endByte
)

var classes = func() (all [256]uint8) {
	for c := range all {
		switch {
		case c >= utf8.RuneSelf:
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			all[c] = letterByte
		case '0' <= c && c <= '9':
			all[c] = digitByte
		case strings.IndexByte("/._:@#-", byte(c)) >= 0:
			all[c] = endByte
		}
	}
	return all
}()

// InWord reports whether a character may stand in a word of [EachWord].
func InWord(c rune) bool {
	if c < utf8.RuneSelf {
		return classes[c]&ofWord != 0
	}
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c))
}

// TrimWord returns a word without the punctuation at its ends; a path keeps its first slash, a
// hidden file its dot.
func TrimWord(w string) string {
	for w != "" && classes[w[len(w)-1]]&endByte != 0 {
		w = w[:len(w)-1]
	}
	for w != "" {
		switch {
		case w[0] == ':' || w[0] == '@' || w[0] == '#' || w[0] == '-', strings.HasPrefix(w, ".."), strings.HasPrefix(w, "//"):
			w = w[1:]
		case strings.HasPrefix(w, "./"):
			w = w[2:]
		default:
			return w
		}
	}
	return w
}

// KindOfWord returns what a word is worth, see [EachWord].
func KindOfWord(w string) WordKind {
	if len(w) < 3 || len(w) > 4*maxIdentifier {
		return OtherWord
	}
	var runes, digits, letters, marks, rest int
	camel, lower := false, false
	for _, c := range w {
		runes++
		switch {
		case '0' <= c && c <= '9' || c >= utf8.RuneSelf && unicode.IsDigit(c):
			digits++
		case c == '-':
			rest++
		case c < utf8.RuneSelf && !('a' <= c|0x20 && c|0x20 <= 'z'):
			marks++
		default:
			letters++
			camel = camel || lower && unicode.IsUpper(c)
		}
		lower = unicode.IsLower(c)
	}
	switch {
	case runes > maxIdentifier:
	case letters == 0 && digits >= 3:
		return IdentifierWord
	case runes < 4:
	case marks > 0 || letters > 0 && digits > 0 || camel:
		return IdentifierWord
	case rest == 0 && digits == 0:
		return PlainWord
	}
	return OtherWord
}

// maxIdentifier is how many characters an identifier has at most.
const maxIdentifier = 120
