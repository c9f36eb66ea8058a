package compress

import "strings"

// Passage is a part of a text: the bytes from From to before To, whole lines without blanks at their ends.
type Passage struct{ From, To int }

// Passages returns the parts of a text, in its order, of at most about size bytes each. They end
// at line ends, or at one that is written \n as in the arguments of a call; where they can at a
// blank line. A very long line comes in pieces; data in pieces that is no text (base64) is left
// out.
func Passages(text string, size int) (out []Passage) {
	out = make([]Passage, 0, min(strings.Count(text, "\n"), len(text)/size)+1)
	open := false // the last of out may go on
	eachLineSpan(text, func(from, to int) {
		line := strings.TrimSpace(text[from:to])
		last := len(out) - 1
		switch {
		case line == "":
			open = open && out[last].To-out[last].From < size/2
			return
		case isPayload(line):
			open = false
			return
		}
		from += strings.Index(text[from:to], line)
		to = from + len(line)
		if open && to-out[last].From <= size {
			out[last].To = to
			return
		}
		out, open = append(out, Passage{from, to}), true
	})
	return out
}
