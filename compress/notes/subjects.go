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

// Subject identifies the test run or the quantity that a sentence reports.
type Subject struct {
	Measure string // the noun of a run ("test"), or the word next to a number
	Object  string // the first identifier of the sentence, or the word before the noun of a run; "": none
	IsRun   bool
}

// Covers reports whether a later sentence about s supersedes an earlier sentence about other. A run
// without an object is about all of them.
func (s Subject) Covers(other Subject) bool {
	return s == other || s.IsRun && other.IsRun && s.Measure == other.Measure && (s.Object == "" || other.Object == "")
}

// Restated reports whether a sentence has subjects, and later ones cover all of them.
func Restated(subjects, later []Subject) bool {
	return len(subjects) > 0 && !slices.ContainsFunc(subjects, func(s Subject) bool {
		return !slices.ContainsFunc(later, func(l Subject) bool { return l.Covers(s) })
	})
}

// Subjects returns the subjects of the first sentence of a text: a run of tests and the like with
// its result; otherwise counts "N/M" and "N of M", and numbers if the sentence has an identifier.
// It ignores numbers that may be names, such as #47.
func Subjects(text string) (subjects []Subject) {
	text, _ = cutSentence(strings.TrimPrefix(text, "… "))
	object := ""
	compress.EachWord(text, func(word string, kind compress.WordKind) {
		if object == "" && kind == compress.IdentifierWord && strings.ContainsFunc(word, unicode.IsLetter) {
			object = word
		}
	})

	fields := strings.Fields(strings.ToLower(text))
	words := make([]string, len(fields)) // without marks and digits
	for i, field := range fields {
		words[i] = strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) })
	}
	run, hasResult, isNumbered := -1, false, false
	for i, word := range words {
		hasResult = hasResult || resultWords.has(word)
		if run < 0 && runWords.has(word) {
			run = i
		}
		count := isCount(fields, i)
		isNumbered = isNumbered || isFigure(fields[i]) && !count && !countsRuns(words, i)
		if count || object != "" && isFigure(fields[i]) {
			if measure := measureAt(words, i, count); measure != "" {
				subjects = append(subjects, Subject{Measure: measure, Object: object})
			}
		}
	}
	if run < 0 || !hasResult || isNumbered {
		return subjects
	}
	if object == "" && run > 0 && !compress.IsStopWord(words[run-1]) && !allWords.has(words[run-1]) {
		object = words[run-1]
	}
	return []Subject{{strings.TrimSuffix(words[run], "s"), object, true}}
}

// countsRuns reports whether the number at words[i] counts runs, as in "57 tests" or "2 failed",
// and is not the name of something, as in "module 2 failed".
func countsRuns(words []string, i int) bool {
	if i+1 == len(words) || !runWords.has(words[i+1]) && !strings.HasSuffix(words[i+1], "ed") {
		return false
	}
	return i == 0 || words[i-1] == "" || compress.IsStopWord(words[i-1]) || allWords.has(words[i-1]) ||
		runWords.has(words[i-1]) || resultWords.has(words[i-1])
}

// isFigure reports whether a field is a number of up to six digits, with a unit or marks around it.
func isFigure(field string) bool {
	field = strings.Trim(field, "*_`()[].,;:$€~≈+%")
	return field != "" && len(field) <= 6 && strings.Trim(field, "0123456789.,") == ""
}

// isCount reports whether "N/M" or "N of M" begins at fields[i].
func isCount(fields []string, i int) bool {
	n, of, ok := strings.Cut(fields[i], "/")
	return ok && isFigure(n) && isFigure(of) ||
		i+2 < len(fields) && fields[i+1] == "of" && isFigure(fields[i]) && isFigure(fields[i+2])
}

// measureAt returns the unit of the number at words[i]: the next word, or the previous word if no
// word follows. For a count "N of M" it skips two fields.
func measureAt(words []string, i int, isCount bool) string {
	for _, at := range []int{i + 1, i + 3, i - 1} {
		if at >= 0 && at < len(words) && (at != i+3 || isCount) && words[at] != "" && words[at] != "of" &&
			(at < i || !compress.IsStopWord(words[at])) {
			return words[at]
		}
	}
	return ""
}
