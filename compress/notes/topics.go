package notes

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// topic is what a row is about.
type topic struct {
	words string // stems
	bare  string // those that are no numbers
	mask  uint64 // a bit for each of these: topics without a common bit share no word
}

// topicOf returns the topic of stems with blanks between.
func topicOf(words string) topic {
	t := topic{words: words, bare: withoutNumbers(words)}
	for w := range strings.FieldsSeq(t.bare) {
		t.mask |= 1 << (compress.Hash(w) % 64)
	}
	return t
}

// overlap returns how many words two keys share, and how many they have together.
func overlap(a, b string) (both, all int) {
	all = countWords(b)
	for w := range strings.FieldsSeq(a) {
		if hasWord(b, w) {
			both++
		} else {
			all++
		}
	}
	return both, all
}

// hasWord reports whether a key has a word.
func hasWord(key, word string) bool {
	for at := 0; at+len(word) <= len(key); {
		i := strings.Index(key[at:], word)
		if i < 0 {
			return false
		}
		from, end := at+i, at+i+len(word)
		if (from == 0 || key[from-1] == ' ') && (end == len(key) || key[end] == ' ') {
			return true
		}
		at = end
	}
	return false
}

// within reports whether all words of a key are among those of another.
func within(a, b string) bool {
	both, all := overlap(a, b)
	return both > 0 && both == countWords(a) && all == countWords(b)
}

func countWords(key string) int {
	if key == "" {
		return 0
	}
	return strings.Count(key, " ") + 1
}

// withoutNumbers returns a key without words of digits.
func withoutNumbers(key string) string {
	if !strings.ContainsAny(key, "0123456789") {
		return key
	}
	var out []byte
	for w := range strings.FieldsSeq(key) {
		if isNumber(w) {
			continue
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, w...)
	}
	return string(out)
}

// ItemKey returns what two items share that are the same, written another way: the words in
// lower case.
func ItemKey(text string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !compress.InWord(r) || r == '.' || r == ':' || r == '-' }), " "))
}
