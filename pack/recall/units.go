package recall

import (
	"strings"

	"github.com/rivo/uniseg"

	"github.com/ctxfs/ctxfs/compress"
)

// unitBytes is the size up to which lines or sentences are joined to a unit.
const unitBytes = 240

// unitsOf splits a text into units: adjacent lines, or sentences of a long line.
func unitsOf(text string) (out []compress.Passage) {
	for _, p := range compress.Passages(text, unitBytes) {
		if p.To-p.From <= unitBytes+unitBytes/2 {
			out = append(out, p)
			continue
		}
		from := p.From
		for at := p.From; at < p.To; {
			end := at + sentenceEnd(text[at:p.To])
			if end-from > unitBytes && at > from {
				out = append(out, trimmed(text, from, at))
				from = at
			}
			at = end
		}
		out = append(out, trimmed(text, from, p.To))
	}
	return out
}

// trimmed returns a part of a text without the blanks at its ends.
func trimmed(text string, from, to int) compress.Passage {
	part := text[from:to]
	from += len(part) - len(strings.TrimLeft(part, " \t\r\n"))
	return compress.Passage{From: from, To: from + len(strings.TrimSpace(part))}
}

// sentenceEnd returns the length of the first sentence of a text, with the blanks after it.
func sentenceEnd(text string) int {
	sentence, _, _ := uniseg.FirstSentenceInString(text, -1)
	return len(sentence)
}

// Asks reports whether a request contains a question: a sentence that ends with a question mark or
// begins with a word that asks.
func Asks(request string) bool {
	for at := 0; at < len(request); {
		end := at + sentenceEnd(request[at:])
		sentence := strings.TrimSpace(request[at:end])
		at = end
		first, _, _ := strings.Cut(sentence, " ")
		sentence = strings.TrimRight(sentence, `"')]*_”’`)
		if strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？") || askWords[strings.ToLower(first)] {
			return true
		}
	}
	return false
}

var askWords = compress.WordSet("who whose whom what which when where why how did does do is are was were remind recall")
