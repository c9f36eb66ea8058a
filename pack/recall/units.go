package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
)

// unitBytes is about how many bytes a unit has at most that is more than one sentence or line.
const unitBytes = 240

// unitsOf returns the parts of a text, in its order, of which each says something by itself: lines that stand together, or
// sentences of a long line.
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

// trimmed is a part of a text without blanks at its ends.
func trimmed(text string, from, to int) compress.Passage {
	part := text[from:to]
	from += len(part) - len(strings.TrimLeft(part, " \t\r\n"))
	return compress.Passage{From: from, To: from + len(strings.TrimSpace(part))}
}

// sentenceEnd returns where the first sentence of a text ends, with the blanks behind it: behind a mark of its end that
// a blank and no small letter follow, or at a line end.
func sentenceEnd(text string) int {
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '\n':
			return at + 1
		case '.', '!', '?':
			end := at + 1
			for end < len(text) && strings.IndexByte(`"')]*_.!?`, text[end]) >= 0 {
				end++
			}
			if strings.HasPrefix(text[end:], "”") || strings.HasPrefix(text[end:], "’") {
				end += len("”")
			}
			next := end + len(text[end:]) - len(strings.TrimLeft(text[end:], " \t"))
			if next == end && next < len(text) {
				continue
			}
			if c, _ := utf8.DecodeRuneInString(text[next:]); unicode.IsLower(c) {
				continue
			}
			return next
		}
	}
	return len(text)
}

// Asks reports whether a request is a question: it has the mark of one, or begins a sentence or a line as one does.
func Asks(request string) bool {
	for at := 0; at < len(request); {
		end := at + sentenceEnd(request[at:])
		sentence := strings.TrimSpace(request[at:end])
		at = end
		if strings.HasSuffix(strings.TrimRight(sentence, `"')]*_”’`), "?") {
			return true
		}
		for word := range wordsIn(sentence) {
			if askWords[strings.ToLower(word)] {
				return true
			}
			break
		}
	}
	return false
}

var askWords = compress.WordSet("who whose whom what which when where why how did does do is are was were remind recall")

// wanted is what kind of thing a question asks for.
type wanted struct {
	time, number, name bool
	said               map[string]bool // words of the question, in lower case
}

// wantedBy reads what a question asks for off its words.
func wantedBy(question string) wanted {
	w := wanted{said: map[string]bool{}}
	last := ""
	for word := range wordsIn(question) {
		word = strings.ToLower(word)
		switch {
		case word == "when", word == "who", word == "whose", word == "where", word == "whom":
			w.time, w.name = w.time || word == "when", w.name || word != "when"
		case last == "how" && (word == "many" || word == "much" || word == "old" || word == "often"):
			w.number = true
		case last == "how" && word == "long":
			w.number, w.time = true, true
		case (last == "what" || last == "which") && timeWords[word]:
			w.time = true
		case numberWords[word]:
			w.number = true
		case nameWords[word]:
			w.name = true
		}
		w.said[word] = true
		last = word
	}
	return w
}

var (
	timeWords   = compress.WordSet("day date time year month week weekday season hour")
	numberWords = compress.WordSet("number amount price cost percentage total count score age")
	nameWords   = compress.WordSet("name named called country city town street company brand title book movie song band restaurant place person")
	dateWords   = compress.WordSet(`monday tuesday wednesday thursday friday saturday sunday january february march april june july august
		september october november december jan feb mar apr jun jul aug sep sept oct nov dec yesterday today tomorrow tonight ago noon midnight
		weekend weekends annually yearly monthly weekly daily sophomore freshman birthday`)
	countWords = compress.WordSet(`one two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty hundred thousand
		million once twice half both single couple`)
)

// has reports whether a text holds a thing of the kind that is asked for.
func (w *wanted) has(text string) bool {
	if !w.time && !w.number && !w.name {
		return false
	}
	begin := true // of a sentence
	for word := range wordsIn(text) {
		lower := strings.ToLower(word)
		first, _ := utf8.DecodeRuneInString(word)
		switch digits := '0' <= first && first <= '9'; {
		case w.said[lower]:
		case w.time && (dateWords[lower] || digits && len(word) >= 2):
			return true
		case w.number && (digits || countWords[lower]):
			return true
		case w.name && !begin && unicode.IsUpper(first) && len(word) > 1 && !compress.IsStopWord(lower):
			return true
		}
		at := strings.Index(text, word) + len(word)
		begin = at < len(text) && strings.IndexByte(".!?\n", text[at]) >= 0
		text = text[at:]
	}
	return false
}

// wordsIn calls yield with the runs of letters and digits in a text.
func wordsIn(text string) func(yield func(word string) bool) {
	return func(yield func(word string) bool) {
		from := -1
		for at, c := range text {
			in := unicode.IsLetter(c) || unicode.IsDigit(c)
			switch {
			case in && from < 0:
				from = at
			case !in && from >= 0:
				if !yield(text[from:at]) {
					return
				}
				from = -1
			}
		}
		if from >= 0 {
			yield(text[from:])
		}
	}
}

// namesIn are the words of a question that are names: with a capital in the midst of a sentence, or a digit.
func namesIn(question string) map[string]bool {
	names := map[string]bool{}
	begin := true
	rest := question
	for word := range wordsIn(question) {
		first, _ := utf8.DecodeRuneInString(word)
		lower := strings.ToLower(word)
		if (unicode.IsUpper(first) && !begin || strings.ContainsAny(word, "0123456789")) && !compress.IsStopWord(lower) {
			names[lower] = true
		}
		at := strings.Index(rest, word) + len(word)
		begin = strings.HasPrefix(rest[at:], ".") || strings.HasPrefix(rest[at:], "!") || strings.HasPrefix(rest[at:], "?") || strings.HasPrefix(rest[at:], "\n")
		rest = rest[at:]
	}
	return names
}
