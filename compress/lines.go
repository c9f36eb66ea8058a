package compress

import (
	"strings"
	"unicode/utf8"
)

// Lengths in bytes: longer lines are taken in pieces. What an API answers is one line, and a piece
// of it says little.
const (
	longLine = 1600
	pieceLen = 320
)

// EachLine calls emit with the lines of a text and their numbers from 0, without blanks at their
// ends and without the empty ones. A line ends at a line end, or at one that is written \n as in
// the arguments of a call. A very long line comes in pieces; data in pieces that is no text
// (base64) is left out.
func EachLine(text string, emit func(n int, line string)) {
	n := 0
	eachLineSpan(text, func(from, to int) {
		if line := strings.TrimSpace(text[from:to]); line != "" && !isPayload(line) {
			emit(n, line)
		}
		n++
	})
}

// eachLineSpan calls emit with the bytes of each line, or piece of a very long line.
func eachLineSpan(text string, emit func(from, to int)) {
	for at := 0; at < len(text); {
		end, skip := LineEnd(text[at:])
		end += at
		for end-at > longLine {
			to := at + pieceEnd(text[at:end])
			emit(at, to)
			at = to
		}
		emit(at, end)
		at = end + skip
	}
}

// LineEnd returns where the first line of text ends as [EachLine] reads it, and how many bytes
// its end takes.
func LineEnd(text string) (end, skip int) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !mayEndLine[c] {
			continue
		}
		switch {
		case c == '\n' || c == '\r' || c == '\v' || c == '\f':
			return i, 1
		case c == '\\' && strings.HasPrefix(text[i+1:], "n"):
			return i, 2
		case c == '\\' && strings.HasPrefix(text[i+1:], "\\"):
			i++
		case c == 0xC2 && strings.HasPrefix(text[i:], "\u0085"):
			return i, 2
		case c == 0xE2 && (strings.HasPrefix(text[i:], "\u2028") || strings.HasPrefix(text[i:], "\u2029")):
			return i, 3
		}
	}
	return len(text), 0
}

// mayEndLine has the bytes that ends of lines begin with.
var mayEndLine = [256]bool{'\n': true, '\r': true, '\v': true, '\f': true, '\\': true, 0xC2: true, 0xE2: true}

// pieceEnd returns where a piece of a long line ends: behind a blank or a comma where there is
// one.
func pieceEnd(line string) int {
	if i := strings.LastIndexAny(line[:pieceLen], " ,;\t"); i > pieceLen/2 {
		return i + 1
	}
	end := pieceLen
	for end > 1 && !utf8.RuneStart(line[end]) {
		end--
	}
	return end
}

// isPayload reports whether a line is data rather than text: a long run without a blank.
func isPayload(line string) bool {
	return len(line) > 200 && !strings.ContainsAny(line, " \t,;()[]{}<>=\"'|&")
}
