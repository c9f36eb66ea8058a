package notes

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// statement is a clause with something, a word that links, and a value or a place.
type statement struct {
	subject, value []noteWord
	link           []noteWord // "is", "listens on"
	names          bool       // the subject has a word for what has a value
}

// statementRule is one way to tell statements of a value that stays from others.
type statementRule struct {
	name, by      string
	holds         func(v *statement) bool
	example, idle string
}

// Rules for statements with a copula, and for those with a place.
var (
	copulaRules = []statementRule{
		{
			name: "a name and a value", by: anybody, holds: func(v *statement) bool { return v.names && isValue(v.value[:min(2, len(v.value))]) },
			example: "The staging port is 8443.", idle: "The staging port is wrong.",
		},
		{
			name: "a name and a proper name", by: people, holds: func(v *statement) bool { return v.names && len(v.value) <= 4 && v.value[0].capital },
			example: "The maintainer is Ada.", idle: "The maintainer is nice.",
		},
		{
			name: "how it is called", by: anybody, holds: func(v *statement) bool {
				last := v.link[len(v.link)-1].text
				return v.names && len(v.value) <= 6 && (last == "named" || last == "called")
			},
			example: "The queue is called orders", idle: "The queue is empty",
		},
		{
			name: "a date", by: people, holds: func(v *statement) bool { return v.names && isDate(v.value[:min(len(v.value), 5)]) },
			example: "the deadline is next friday at noon", idle: "the deadline is good",
		},
		{
			name: "a value alone", by: people, holds: func(v *statement) bool {
				return len(v.value) == 1 && v.value[0].valuable && len(v.subject) <= 5 && !unlikely.has(v.subject)
			},
			example: "the magic word is ab-12", idle: "the difference is 12",
		},
		{
			name: "where ours is", by: people, holds: func(v *statement) bool {
				return isPlaceName(v.value[0].raw) && (v.subject[0].text == "our" || v.subject[0].text == "my")
			},
			example: "our handbook is `doc/hand.md` for now", idle: "their handbook is `doc/hand.md` for now",
		},
	}
	placeRules = []statementRule{
		{
			name: "a verb of place", by: anybody, holds: func(v *statement) bool {
				switch v.link[0].text {
				case "in", "called", "named", "is", "are":
					return false
				}
				return true
			},
			example: "The API runs on `host-1` these days", idle: "it runs on `host-1` these days",
		},
		{
			name: "a place of something named", by: people, holds: func(v *statement) bool {
				return isPlaceName(v.value[0].raw) && (v.names || len(v.subject) <= 3)
			},
			example: "The binaries are stored in /opt/shop, all of them", idle: "The old binaries of it are stored in /opt/shop, all of them",
		},
		{
			name: "a value of something named", by: people, holds: func(v *statement) bool { return v.names && v.link[0].text != "in" },
			example: "The database is stored in eu-west-1 and nowhere else", idle: "create a database named eu-west-1 and nothing else",
		},
	}
)

// statedOf returns the subject of the first statement of a value in a sentence, as a [valueRule].
func statedOf(s *sentence, role string) (subject []noteWord, stated, known bool) {
	w := s.words
	for i := 1; i < len(w); i++ {
		if w[i].sets&(copulas.bit|placed.bit) == 0 || w[i-1].doubt {
			continue
		}
		from := subjectOf(w, i)
		if from == i || from > 0 && w[from-1].text == "(" { // "(default is 1)"
			continue
		}
		if v, ok := copulaAt(w, from, i); ok && anyHolds(copulaRules, &v, role) {
			return v.subject, true, true
		}
		if v, ok := placeAt(w, from, i); ok && anyHolds(placeRules, &v, role) {
			return v.subject, true, true
		}
	}
	return nil, false, false
}

func anyHolds(rules []statementRule, v *statement, role string) bool {
	for i := range rules {
		if r := &rules[i]; (r.by == anybody || r.by == role) && r.holds(v) {
			return true
		}
	}
	return false
}

// copulaAt returns the statement of the clause from word from on, whose copula begins at word i; ok
// is false if it states nothing that could be a value.
func copulaAt(w []noteWord, from, i int) (v statement, ok bool) {
	n := copulas.at(w, i)
	if n == 0 || i+n >= len(w) {
		return v, false
	}
	v = statement{subject: w[from:i], value: w[i+n:], link: w[i : i+n]}
	if len(v.subject) > 8 || vague.at(v.subject, 0) > 0 || noValues.at(v.value, 0) > 0 || unlikely.has(v.subject[len(v.subject)-1:]) {
		return v, false
	}
	v.names = names.has(v.subject)
	return v, true
}

// placeAt is copulaAt for words that say where something is.
func placeAt(w []noteWord, from, i int) (v statement, ok bool) {
	n := placed.at(w, i)
	if n == 0 || i+n >= len(w) {
		return v, false
	}
	v = statement{subject: w[from:i], value: w[i+n:], link: w[i : i+n]}
	if len(v.subject) > 8 || vague.at(v.subject, 0) > 0 || v.subject[0].text == "to" || unlikely.has(v.subject) {
		return v, false
	}
	if first := &v.value[0]; !first.valuable && (first.text != "port" || len(v.value) < 2 || !v.value[1].valuable) {
		return v, false
	}
	if (w[i].text == "named" || w[i].text == "called") && !compress.IsStopWord(v.subject[0].text) {
		return v, false // "create a file named …"
	}
	v.names = names.has(v.subject)
	return v, true
}

// isValue reports whether something that is looked up again stands before the first mark: code, a
// number, an identifier, a path.
func isValue(words []noteWord) bool {
	for i := range words {
		if words[i].mark {
			return false
		}
		if words[i].valuable {
			return true
		}
	}
	return false
}

func isDate(words []noteWord) bool {
	for i := range words {
		switch words[i].text {
		case "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "tomorrow", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december":
			return true
		}
	}
	return false
}

// isPlaceName reports whether a word is a path, a URL, a mail address or code.
func isPlaceName(w string) bool {
	return strings.ContainsAny(w, "/@`") || strings.Contains(w, "::") || strings.IndexByte(compress.TrimWord(w), '.') > 0
}
