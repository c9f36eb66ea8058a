package eval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// eachWord calls emit with the words of one line of text in their order.
func eachWord(text string, emit func(word string)) {
	from := -1
	end := func(to int) {
		if from >= 0 {
			w := text[from:to]
			if from > 0 && strings.IndexByte(")]}", text[from-1]) >= 0 {
				w = strings.TrimLeft(w, ".") // f(x).trim is no file .trim
			}
			if w = trimWord(w); w != "" {
				emit(w)
			}
			from = -1
		}
	}
	for at := 0; at < len(text); {
		c, size := rune(text[at]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(text[at:])
		}
		switch {
		case inWord(c):
			if from < 0 {
				from = at
			}
		case c == '\\': // an escape is no letter
			end(at)
			size = escapeLength(text[at:])
		case c == 0x1b: // nor is a colour of a terminal a word
			end(at)
			size = escape(text[at:])
		default:
			end(at)
		}
		at += size
	}
	end(len(text))
}

// escape is how long the control sequence is that s begins with: "\x1b[1;31m".
func escape(s string) int {
	parameters, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return 1
	}
	return len(s) - max(0, len(strings.TrimLeft(parameters, "0123456789:;<=>?"))-1)
}

func inWord(c rune) bool {
	if c < utf8.RuneSelf {
		return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("/._:@#-", byte(c)) >= 0
	}
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c))
}

// trimWord takes away punctuation at the ends; a path keeps its first slash, a hidden file its dot.
func trimWord(w string) string {
	w = strings.TrimRight(w, ".:@#-_/")
	for w != "" {
		switch {
		case strings.IndexByte(":@#-", w[0]) >= 0, strings.HasPrefix(w, ".."), strings.HasPrefix(w, "//"):
			w = w[1:]
		case strings.HasPrefix(w, "./"):
			w = w[2:]
		default:
			return w
		}
	}
	return w
}

// kind is what a word is worth for the figures.
type kind uint8

const (
	other      kind = iota
	identifier      // see the package's documentation
	plain           // letters alone, at least four
)

func kindOf(w string) kind {
	var runes, digits, letters, marks, rest int
	camel, lower := false, false
	for _, c := range w {
		runes++
		switch {
		case unicode.IsDigit(c):
			digits++
		case unicode.IsLetter(c) || unicode.IsMark(c):
			letters++
			camel = camel || lower && unicode.IsUpper(c)
		case c == '-':
			rest++
		default:
			marks++
		}
		lower = unicode.IsLower(c)
	}
	switch {
	case runes > 120:
	case letters == 0 && digits >= 3:
		return identifier
	case runes < 4:
	case marks > 0 || letters > 0 && digits > 0 || camel:
		return identifier
	case rest == 0 && digits == 0:
		return plain
	}
	return other
}
