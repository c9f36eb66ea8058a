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
	allWords    = wordSet("runQuantities")
)

// Subject identifies the run of tests and the like whose result a sentence states.
type Subject struct {
	Measure string // the noun: "test"
	Object  string // the first identifier of the sentence, or the word before the noun; "": all of them
}

// covers reports whether a later sentence about s supersedes an earlier sentence about other.
func (s Subject) covers(other Subject) bool {
	return s.Measure == other.Measure && (s.Object == other.Object || s.Object == "" || other.Object == "")
}

// Restated reports whether a sentence has subjects, and later ones cover all of them.
func Restated(subjects, later []Subject) bool {
	return len(subjects) > 0 && !slices.ContainsFunc(subjects, func(s Subject) bool {
		return !slices.ContainsFunc(later, func(l Subject) bool { return l.covers(s) })
	})
}

// Subjects returns the run that the first sentence of a text states the result of; none if there
// is no run, or if the sentence numbers something else, as in "module 2 failed".
func Subjects(text string) []Subject {
	text, _ = cutSentence(strings.TrimPrefix(text, "… "))
	fields := strings.Fields(strings.ToLower(text))
	words := make([]string, len(fields)) // without marks and digits
	run, hasResult := -1, false
	for i, field := range fields {
		words[i] = strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) })
		hasResult = hasResult || resultWords.has(words[i])
		if run < 0 && runWords.has(words[i]) {
			run = i
		}
		isNumber := strings.IndexFunc(field, unicode.IsDigit) >= 0 && words[i] == ""
		if isNumber && i > 0 && words[i-1] != "" && !compress.IsStopWord(words[i-1]) && !resultWords.has(words[i-1]) && !allWords.has(words[i-1]) {
			return nil
		}
	}
	if run < 0 || !hasResult {
		return nil
	}

	object := ""
	compress.EachWord(text, func(word string, kind compress.WordKind) {
		if object == "" && kind == compress.IdentifierWord && strings.ContainsFunc(word, unicode.IsLetter) {
			object = word
		}
	})
	if object == "" && run > 0 && !compress.IsStopWord(words[run-1]) && !allWords.has(words[run-1]) {
		object = words[run-1]
	}
	return []Subject{{strings.TrimSuffix(words[run], "s"), object}}
}
