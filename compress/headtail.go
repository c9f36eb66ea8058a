package compress

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// HeadTail shortens text to at most limit tokens (by ctxabi.Weight). It keeps the first and the
// last lines and puts one line between them, which counts the omitted whole lines and bytes and
// names the file with the full text (path):
//
//	[118 lines, 4510 bytes left out, all of it in context/line/97.txt]
//
// It cuts between lines where it can and never inside a UTF-8 sequence. It also cuts at long runs
// of blanks, so a shortened text contains no such run. If text fits the limit, HeadTail returns it
// unchanged with cut == false. If the limit is too small for the middle line and some text around
// it, HeadTail returns the middle line alone, which may exceed the limit.
func HeadTail(text string, limit int, path string) (short string, cut bool) {
	_, behind := longBlanks(text)
	return shorten(text, limit, path, func(before string, room int) (head, tail string) {
		head = before[:headOf(before, room/2)]
		return head, text[len(text)-tailOf(text[max(len(head), behind):], room-room/2):]
	})
}

// Head shortens text to at most limit tokens (by ctxabi.Weight): its first lines, and a last line
// with the size of the omission and the path of the whole text, as [HeadTail] writes it. A
// truncated line ends after a word, in "…". Head closes an open code fence. It returns a text
// within the limit as it is, with cut == false.
func Head(text string, limit int, path string) (short string, cut bool) {
	return shorten(text, limit, path, func(before string, room int) (head, tail string) {
		return before[:headOf(before, room)], ""
	})
}

// shorten returns the parts of text that edges chooses in room tokens, and a line about the omission
// between them. before is the text up to the first long run of blanks.
func shorten(text string, limit int, path string,
	edges func(before string, room int) (head, tail string)) (short string, cut bool) {
	if Fits(text, limit) {
		return text, false
	}
	// The note is weighed with the largest numbers it can hold.
	room := limit - ctxabi.Weight(LeftOut(strings.Count(text, "\n")+1, len(text), path)) - 2
	blanks, _ := longBlanks(text)
	for ; room >= 2; room -= room/16 + 1 { // weights of parts add up only nearly
		head, tail := edges(text[:blanks], room)
		at := len(head)
		if tail == "" && 0 < at && at < blanks && text[at-1] != '\n' && text[at] != '\n' { // inside a line
			at = beforeWord(text, at)
			head = text[:at] + "…"
		}
		note := LeftOut(wholeLines(text, at, len(text)-len(tail)), len(text)-len(tail)-at, path)
		if open := openFence(head); open != "" && tail == "" {
			note = open + "\n" + note
		}
		if short = JoinLeftOut(head, note, tail); ctxabi.Weight(short) <= limit {
			return short, true
		}
	}
	return LeftOut(wholeLines(text, 0, len(text)), len(text), path), true
}

// beforeWord returns the offset after the last blank in text[:n], or n if the line has no blank
// there, as in scripts without spaces.
func beforeWord(text string, n int) int {
	if n == len(text) || text[n] == ' ' {
		return n
	}
	from := strings.LastIndexByte(text[:n], '\n') + 1
	if at := strings.LastIndexByte(text[from:n], ' '); at > 0 {
		return from + at + 1
	}
	return n
}

// FromWord returns the part of text that begins with the first whole word at or after text[n]. If
// no blank follows, as in scripts without spaces, the part begins with the character there.
func FromWord(text string, n int) string {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	if n == 0 || text[n-1] == ' ' {
		return text[n:]
	}
	if _, rest, ok := strings.Cut(text[n:], " "); ok {
		return rest
	}
	return text[n:]
}

// maxBlanks is the longest run of spaces, tabs, and line ends in a shortened text, in bytes.
const maxBlanks = 1024

// longBlanks returns the start of the first run of more than maxBlanks blanks and the end of the
// last one. Without such a run it returns len(text) and 0.
func longBlanks(text string) (begin, end int) {
	begin = len(text)
	run := 0 // length of the current run
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			if run++; run > maxBlanks {
				begin, end = min(begin, i+1-run), i+1
			}
		default:
			run = 0
		}
	}
	return begin, end
}

// openFence returns the mark of the code fence that text leaves open, "" for none.
func openFence(text string) (open string) {
	for line := range strings.Lines(text) {
		open = FenceAfter(open, strings.TrimSpace(line))
	}
	return open
}

// Fits reports whether text weighs at most limit tokens by ctxabi.Weight. It weighs a text only
// if that can be: no 128 bytes weigh less than one token.
func Fits(text string, limit int) bool {
	return len(text)/bytesPerWeight <= limit && ctxabi.Weight(text) <= limit
}

const bytesPerWeight = 128

// LeftOut returns the line, without its end, that stands for so many lines and bytes that are
// left out of a text, all of which stands at path.
func LeftOut(lines, bytes int, path string) string {
	switch lines {
	case 0:
		return fmt.Sprintf("[%d bytes left out, all of it in %s]", bytes, path)
	case 1:
		return fmt.Sprintf("[1 line, %d bytes left out, all of it in %s]", bytes, path)
	}
	return fmt.Sprintf("[%d lines, %d bytes left out, all of it in %s]", lines, bytes, path)
}

// wholeLines returns how many lines of text lie wholly in text[from:to].
func wholeLines(text string, from, to int) int {
	n := strings.Count(text[from:to], "\n")
	if to == len(text) && to > from && text[to-1] != '\n' {
		n++ // the last line has no end
	}
	if from > 0 && text[from-1] != '\n' && n > 0 {
		n-- // begun before from
	}
	return n
}

// JoinLeftOut returns head, note and tail, each on lines of its own.
func JoinLeftOut(head, note, tail string) string {
	if head != "" && head[len(head)-1] != '\n' {
		head += "\n"
	}
	if tail != "" && tail[0] != '\n' {
		note += "\n"
	}
	return head + note + tail
}

// headOf returns the length of the longest beginning of text within limit tokens: whole lines, or if
// these use less than half of it, also a part of the next one.
func headOf(text string, limit int) int { return edgeOf(text, limit, false) }

// tailOf is headOf for the end of text.
func tailOf(text string, limit int) int { return edgeOf(text, limit, true) }

func edgeOf(text string, limit int, tail bool) (size int) {
	used, rest := 0, text
	for rest != "" {
		n := strings.IndexByte(rest, '\n') + 1
		if tail {
			n = len(rest) - 1 - strings.LastIndexByte(rest[:len(rest)-1], '\n')
		} else if n == 0 {
			n = len(rest)
		}
		line, others := cutEdge(rest, n, tail)
		if !Fits(line, limit-used) {
			break
		}
		used, size, rest = used+ctxabi.Weight(line), size+n, others
	}
	if used*2 < limit && rest != "" {
		size += cutPoint(rest, limit-used, tail)
	}
	return size
}

// cutEdge splits n bytes off the beginning of text, or off its end.
func cutEdge(text string, n int, tail bool) (edge, rest string) {
	if tail {
		return text[len(text)-n:], text[:len(text)-n]
	}
	return text[:n], text[n:]
}

// cutPoint returns the length of the longest beginning of text, or end, that has at most limit tokens
// and whole characters.
func cutPoint(text string, limit int, tail bool) int {
	whole := func(n int) int {
		for n > 0 && n < len(text) {
			at := n
			if tail {
				at = len(text) - n
			}
			if utf8.RuneStart(text[at]) {
				break
			}
			n--
		}
		return n
	}
	low, high := 0, min(len(text), limit*bytesPerWeight)
	for low < high {
		middle := (low + high + 1) / 2
		if edge, _ := cutEdge(text, whole(middle), tail); ctxabi.Weight(edge) <= limit {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return whole(low)
}
