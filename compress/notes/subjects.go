package notes

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
)

var (
	runWords    = wordSet("runNouns")
	resultWords = wordSet("runResults")
)

// Subject is what a sentence states the result or a number of.
type Subject struct {
	Measure string // the noun of a run ("test"), the word next to the number, or the sentence without its numbers
	Object  string // the first identifier of the sentence; "": none
	IsRun   bool
}

// Covers reports whether a later sentence about s states again what one about the other subject
// states. A run without an object is about all of them.
func (s Subject) Covers(other Subject) bool {
	return s == other || s.IsRun && other.IsRun && s.Measure == other.Measure && (s.Object == "" || other.Object == "")
}

// Subjects returns the subjects of the first sentence of a text: runs of tests and the like with a
// result, counts "N/M" and "N of M", and numbers in sentences with an identifier; if there are none,
// what a number in a sentence of the same words would replace. It ignores numbers that may be names,
// such as #47.
func Subjects(text string) (subjects []Subject) {
	sentence, _ := cutSentence(strings.TrimPrefix(text, "… "))
	object := ""
	compress.EachWord(sentence, func(word string, kind compress.WordKind) {
		if object == "" && kind == compress.IdentifierWord && strings.ContainsFunc(word, unicode.IsLetter) {
			object = word
		}
	})
	add := func(s Subject) { subjects = append(subjects, s) }

	words := strings.Fields(strings.ToLower(sentence))
	noun, result, form := "", false, []string{}
	for i, word := range words {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
		result = result || resultWords.has(word)
		if runWords.has(word) {
			noun = strings.TrimSuffix(word, "s")
		}
		if form = append(form, word); isFigure(words[i]) {
			form[i] = "#"
		}
		if isCount(words, i) || object != "" && isFigure(words[i]) {
			if measure := measureAt(words, i); measure != "" {
				add(Subject{Measure: measure, Object: object})
			}
		}
	}
	if noun != "" && result {
		return []Subject{{noun, object, true}}
	}
	if len(subjects) == 0 && len(words) > 2 && slices.Contains(form, "#") {
		add(Subject{Measure: strings.Join(form, " ")})
	}
	return subjects
}

// isFigure reports whether a word is a number of up to six digits, with a unit or marks around it.
func isFigure(word string) bool {
	word = strings.Trim(word, "*_`()[].,;:$€~≈+%")
	return word != "" && len(word) <= 6 && strings.Trim(word, "0123456789.,") == ""
}

// isCount reports whether "N/M" or "N of M" begins at words[i].
func isCount(words []string, i int) bool {
	n, of, ok := strings.Cut(words[i], "/")
	return ok && isFigure(n) && isFigure(of) ||
		i+2 < len(words) && words[i+1] == "of" && isFigure(words[i]) && isFigure(words[i+2])
}

// measureAt returns the word that tells what the number at words[i] counts: the next one, or if that
// is none, the previous one.
func measureAt(words []string, i int) string {
	for _, at := range []int{i + 1, i + 3, i - 1} {
		if at >= 0 && at < len(words) && (at != i+3 || isCount(words, i)) {
			word := strings.TrimFunc(words[at], func(r rune) bool { return !unicode.IsLetter(r) })
			if word != "" && word != "of" && !compress.IsStopWord(word) {
				return word
			}
		}
	}
	return ""
}
