package result

import (
	"math"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// eachFeature calls emit with what a line is about: its identifiers, and its longer words for
// less, and what each is worth. An identifier is a string of 4 to 120 characters with one of / .
// _ : @ # in it, or a letter beside a digit, or a capital after a small letter, or a number of
// three digits.
func eachFeature(line string, emit func(f uint64, weight float64)) {
	for at := 0; at < len(line); {
		if !featureByte(line[at]) {
			at++
			continue
		}
		from := at
		for at < len(line) && featureByte(line[at]) {
			at++
		}
		word := strings.Trim(line[from:at], ".:-/#@")
		if len(word) < 3 || len(word) > 120 {
			continue
		}
		w := featureWeight(word)
		if w == 0 {
			continue
		}
		emit(compress.Hash(word), w)
		if strings.ContainsAny(word, "./:@#") { // the parts are used alone as well
			for part := range strings.FieldsFuncSeq(word, func(c rune) bool { return strings.ContainsRune("./:@#", c) }) {
				if len(part) >= 3 && len(part) < len(word) {
					if w := featureWeight(part); w > 0 {
						emit(compress.Hash(part), w/2)
					}
				}
			}
		}
	}
}

// What an identifier and a plain word are worth.
const (
	identifierWorth = 1.0
	wordWorth       = 0.08
)

func featureWeight(word string) float64 {
	letters, digits, marks, camel := 0, 0, 0, false
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80:
			letters++
			if c >= 'A' && c <= 'Z' && i > 0 && word[i-1] >= 'a' && word[i-1] <= 'z' {
				camel = true
			}
		case c != '-':
			marks++
		}
	}
	switch {
	case letters == 0 && digits < 3:
		return 0
	case len(word) >= 4 && (marks > 0 || camel || letters > 0 && digits > 0), letters == 0:
		return identifierWorth
	case len(word) >= 4 && !compress.IsStopWord(word):
		return wordWorth
	}
	return 0
}

// repeated returns by how much more a feature is worth that stands in n lines: what a text keeps
// coming back to is used later.
func repeated(n int) float64 { return 1 + 0.2*math.Log2(float64(min(n, 16))) }

func featureByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80 || strings.IndexByte("_./:@#-", c) >= 0
}

// patternOf returns a hash of a line without its numbers, hexadecimal ids, and the width of its blanks. Of a
// progress bar, only the label before the first number counts.
func patternOf(line string) uint64 {
	if compress.IsProgress(line) {
		line = line[:strings.IndexAny(line, "0123456789")] + "%"
	}
	h := uint64(14695981039346656037)
	last := byte(' ')
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c >= '0' && c <= '9' || hexID(line, i) > 0:
			c = '0'
			i += max(1, hexID(line, i)) - 1
		case c == '\t':
			c = ' '
		}
		if c == last && (c == '0' || c == ' ') {
			continue
		}
		h, last = (h^uint64(c))*1099511628211, c
	}
	return h
}

// hexID returns the length of the id of hexadecimal digits, with a digit among them, that begins at a
// byte of a line and stands alone there; 0 for none.
func hexID(line string, at int) int {
	const least = 6
	isWord := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80 }
	if at > 0 && isWord(line[at-1]) {
		return 0
	}
	end, digit := at, false
	for end < len(line) && (line[end]|0x20 >= 'a' && line[end]|0x20 <= 'f' || line[end] >= '0' && line[end] <= '9') {
		digit = digit || line[end] <= '9'
		end++
	}
	if end-at < least || !digit || end < len(line) && isWord(line[end]) {
		return 0
	}
	return end - at
}
