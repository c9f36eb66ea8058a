package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A splitter gives the length in bytes of the first piece of text, which is
// not empty and valid UTF-8. The two below are the regular expressions of the
// encodings, written out by hand: each comment quotes the alternative it
// stands for, and their order is the order of the alternatives.
type splitter func(text string) int

// class is a set of the properties of a character that the expressions ask for.
type class uint8

const (
	letter  class = 1 << iota // \p{L}
	upper                     // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	lower                     // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	number                    // \p{N}
	space                     // \s
	newline                   // [\r\n]
)

// punct reports whether c is [^\s\p{L}\p{N}]; marks are, as they are not letters.
func (c class) punct() bool { return c&(space|letter|number) == 0 }

// opens reports whether c is [^\r\n\p{L}\p{N}].
func (c class) opens() bool { return c&(newline|letter|number) == 0 }

// ascii is classOf for the characters below 0x80.
var ascii = func() (t [utf8.RuneSelf]class) {
	for i := range t {
		t[i] = computeClass(rune(i))
	}
	return t
}()

func computeClass(r rune) (c class) {
	switch {
	case unicode.Is(unicode.L, r):
		c = letter
		if !unicode.Is(unicode.Ll, r) {
			c |= upper
		}
		if !unicode.In(r, unicode.Lu, unicode.Lt) {
			c |= lower
		}
	case unicode.Is(unicode.M, r):
		c = upper | lower
	case unicode.Is(unicode.N, r):
		c = number
	case unicode.IsSpace(r):
		c = space
		if r == '\r' || r == '\n' {
			c |= newline
		}
	}
	return c
}

// at returns the class and the size of the character at i; size is 0 at the end.
func at(text string, i int) (class, int) {
	if i >= len(text) {
		return 0, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return ascii[b], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	// The two large scripts whose characters are all of one class.
	if r >= 0x4E00 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7A3 {
		return letter | upper | lower, size
	}
	return computeClass(r), size
}

// run returns the end of the longest run of characters of set from i on.
func run(text string, i int, set class) int {
	for {
		c, size := at(text, i)
		if c&set == 0 {
			return i
		}
		i += size
	}
}

// splitCl100k is
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
//	| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func splitCl100k(text string) int {
	if n := contraction(text, 0); n > 0 {
		return n
	}
	c, size := at(text, 0)
	switch {
	case c&letter != 0: // \p{L}+
		return run(text, size, letter)
	case c&number != 0:
		return numbers(text)
	}
	if c.opens() { // [^\r\n\p{L}\p{N}]\p{L}+
		if end := run(text, size, letter); end > size {
			return end
		}
	}
	if end := symbols(text); end > 0 { // ...[\r\n]*
		return run(text, end, newline)
	}
	return blanks(text)
}

// splitO200k is
//
//	[^\r\n\p{L}\p{N}]?U*W+C?|[^\r\n\p{L}\p{N}]?U+W*C?|\p{N}{1,3}
//	| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// with U for upper, W for lower and C for (?i:'s|'t|'re|'ve|'m|'ll|'d).
func splitO200k(text string) int {
	c, size := at(text, 0)
	if c&number != 0 {
		return numbers(text)
	}
	end := 0
	if c.opens() {
		end = wordToLower(text, size)
	}
	if end == 0 {
		end = wordToLower(text, 0)
	}
	if end == 0 && c.opens() {
		end = capitals(text, size)
	}
	if end == 0 {
		end = capitals(text, 0)
	}
	if end > 0 {
		return end + contraction(text, end)
	}
	if end = symbols(text); end > 0 { // ...[\r\n/]*; symbols took the slashes that follow at once
		for end < len(text) && (text[end] == '\r' || text[end] == '\n' || text[end] == '/') {
			end++
		}
		return end
	}
	return blanks(text)
}

// wordToLower is U*W+ at i: its end, or 0. U and W share the letters without
// case and the marks, so U* gives back what W+ needs.
func wordToLower(text string, i int) int {
	j, shared := i, 0 // shared: the end of the last character of the run of U that is also W
	for {
		c, size := at(text, j)
		if c&upper == 0 {
			break
		}
		j += size
		if c&lower != 0 {
			shared = j
		}
	}
	if end := run(text, j, lower); end > j {
		return end
	}
	return shared
}

// capitals is U+ at i, where wordToLower found nothing: its end, or 0. No W* can
// follow, or wordToLower would have found it.
func capitals(text string, i int) int {
	if end := run(text, i, upper); end > i {
		return end
	}
	return 0
}

// contraction is the length of (?i:'s|'t|'re|'ve|'m|'ll|'d) at i, or 0.
func contraction(text string, i int) int {
	if i+1 >= len(text) || text[i] != '\'' {
		return 0
	}
	switch text[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if i+2 < len(text) {
		switch string([]byte{text[i+1] | 0x20, text[i+2] | 0x20}) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

// numbers is \p{N}{1,3}, where the first one is known to be there.
func numbers(text string) int {
	end := 0
	for range 3 {
		c, size := at(text, end)
		if c&number == 0 {
			break
		}
		end += size
	}
	return end
}

// symbols is " ?[^\s\p{L}\p{N}]+": its end, or 0.
func symbols(text string) int {
	start := 0
	if strings.HasPrefix(text, " ") {
		start = 1
	}
	end := start
	for {
		c, size := at(text, end)
		if size == 0 || !c.punct() {
			break
		}
		end += size
	}
	if end == start {
		return 0
	}
	return end
}

// blanks is \s*[\r\n]+|\s+(?!\S)|\s+, where the first character is a blank:
// up to the last line end; else all at the end of the text; else all but the
// last, which belongs to what follows, unless it is the only one.
func blanks(text string) int {
	end, last, afterNewline := 0, 0, 0
	for {
		c, size := at(text, end)
		if c&space == 0 {
			break
		}
		last = end
		end += size
		if c&newline != 0 {
			afterNewline = end
		}
	}
	switch {
	case afterNewline > 0:
		return afterNewline
	case end < len(text) && last > 0:
		return last
	}
	return end
}
