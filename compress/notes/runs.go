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

// Subject identifies what the result of a sentence is about: a run of tests and the like, or the
// things that it counts as "N/M" or "N of M".
type Subject struct {
	Measure string // the noun: "test"
	Object  string // the first identifier, or the word before the noun, or a count's sentence without N; "": all
	Total   string // of a count: M; "" for a run
}

// covers reports whether a later sentence about s supersedes an earlier sentence about other.
func (s Subject) covers(other Subject) bool {
	return s == other || s.Total+other.Total == "" && s.Measure == other.Measure &&
		(s.Object == other.Object || s.Object == "" || other.Object == "")
}

// Restated reports whether a sentence has subjects, and later ones cover all of them.
func Restated(subjects, later []Subject) bool {
	return len(subjects) > 0 && !slices.ContainsFunc(subjects, func(s Subject) bool {
		return !slices.ContainsFunc(later, func(l Subject) bool { return l.covers(s) })
	})
}

// Subjects returns the things that the first sentence of a text counts, or the run that it states
// the result of; none if there is neither, or if the sentence numbers something else, as in
// "module 2 failed".
func Subjects(text string) []Subject {
	text, _ = cutSentence(strings.TrimPrefix(text, "… "))
	fields := strings.Fields(strings.ToLower(text))
	words := make([]string, len(fields)) // without marks and digits
	object := identifierIn(text)
	run, hasResult := -1, false
	for i, field := range fields {
		words[i] = strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) })
		hasResult = hasResult || resultWords.has(words[i])
		if run < 0 && runWords.has(words[i]) {
			run = i
		}
		isNumber := strings.IndexFunc(field, unicode.IsDigit) >= 0 && words[i] == ""
		if total, unit := countAt(fields, i); unit != "" {
			if object == "" {
				_, fields[i], _ = strings.Cut(fields[i], "/")
				object = strings.Join(fields, " ")
			}
			return []Subject{{Measure: unit, Object: object, Total: total}}
		}
		if isNumber && i > 0 && words[i-1] != "" && !compress.IsStopWord(words[i-1]) && !resultWords.has(words[i-1]) && !allWords.has(words[i-1]) {
			return nil
		}
	}
	if run < 0 || !hasResult {
		return nil
	}

	if object == "" && run > 0 && !compress.IsStopWord(words[run-1]) && !allWords.has(words[run-1]) {
		object = words[run-1]
	}
	return []Subject{{Measure: strings.TrimSuffix(words[run], "s"), Object: object}}
}

// identifierIn returns the first identifier of a text with a letter, or "".
func identifierIn(text string) (id string) {
	compress.EachWord(text, func(word string, kind compress.WordKind) {
		if id == "" && kind == compress.IdentifierWord && strings.ContainsFunc(word, unicode.IsLetter) {
			id = word
		}
	})
	return id
}

// countAt returns the total and the unit of a count that begins at fields[i], as in "3/12 rows" or
// "3 of 12 rows". unit is "" if there is none.
func countAt(fields []string, i int) (total, unit string) {
	n, total, _ := strings.Cut(fields[i], "/")
	next := i + 1
	if next+2 < len(fields) && fields[next] == "of" {
		total, next = fields[i+2], i+3
	}
	isDigits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	if next == len(fields) || !isDigits(n) || !isDigits(total) {
		return "", ""
	}
	unit = strings.TrimFunc(fields[next], func(r rune) bool { return !unicode.IsLetter(r) })
	if compress.IsStopWord(unit) {
		return "", ""
	}
	return total, unit
}
