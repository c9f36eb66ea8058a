package notes

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

var (
	copulas  = phraseSet("copulas")
	placed   = phraseSet("placed")
	owns     = phraseSet("owns")
	moves    = phraseSet("moves")
	names    = phraseSet("names")
	unlikely = phraseSet("unlikely")
	noValues = phraseSet("noValues")
	keyIdle  = phraseSet("keyIdle")
)

// hasValue reports whether a sentence names something and its value: "the port is 8443", "port:
// 8443", "change the timeout to 30s", "we have 12 shards".
func (s *sentence) hasValue() bool {
	w := s.words
	if isLabelled(w) {
		return true
	}
	for i := range w {
		if w[i].doubt {
			continue
		}
		n := owns.at(w, i)
		if n > 0 && (clauseStart(w, i) || w[i].text == "has" || w[i].text == "have") && isValue(w[i+1:min(i+n+2, len(w))]) {
			return true
		}
		n = moves.at(w, i)
		if n > 0 && clauseStart(w, i) && i+n < len(w) && w[i+n].valuable && names.has(w[i+1:i+n]) {
			return true
		}
		n = max(copulas.at(w, i), placed.at(w, i))
		from := subjectOf(w, i)
		if n == 0 || from == i || i+n == len(w) || from > 0 && w[from-1].text == "(" { // "(default is 1)"
			continue
		}
		if isStated(w[from:i], w[i:i+n], w[i+n:]) {
			return true
		}
	}
	return false
}

// isLabelled reports whether a sentence is a label of at most five words, a colon, and a value.
func isLabelled(w []noteWord) bool {
	k := 0
	for k < len(w) && k <= 5 && !w[k].mark {
		k++
	}
	if k == 0 || k+1 >= len(w) || k > 5 || w[k].text != ":" || keyIdle.at(w, 0) > 0 {
		return false
	}
	value := w[k+1:]
	if len(value) > 12 || noValues.has(value[:1]) || strings.IndexByte("[<", value[0].raw[0]) >= 0 {
		return false
	}
	alone := value[0].valuable && len(value) <= 3
	return alone || (value[0].valuable || len(value) <= 4) && names.has(w[:k])
}

// isStated reports whether a clause with a subject, a word that links, and the rest states a value
// that stays.
func isStated(subject, link, value []noteWord) bool {
	named := names.has(subject)
	switch {
	case len(subject) > 8, vague.at(subject, 0) > 0, subject[0].text == "to", noValues.at(value, 0) > 0,
		unlikely.has(subject[len(subject)-1:]):
		return false
	case placed.at(link, 0) == len(link):
		return isPlaced(subject, link, value)
	case named:
		return isValue(value[:min(2, len(value))]) || len(value) <= 4 && value[0].capital ||
			len(value) <= 6 && isOneOf(link[len(link)-1].text, "named", "called") || isDate(value[:min(5, len(value))])
	}
	ours := subject[0].text == "our" || subject[0].text == "my"
	return len(value) == 1 && value[0].valuable && len(subject) <= 5 && !unlikely.has(subject) || ours && isPlaceName(value[0].raw)
}

// isPlaced is isStated for a link that says where something is: "the binaries are stored in /opt".
func isPlaced(subject, link, value []noteWord) bool {
	creates := isOneOf(link[len(link)-1].text, "named", "called")
	isPort := value[0].text == "port" && isValue(value[:min(2, len(value))])
	if unlikely.has(subject) || !value[0].valuable && !isPort ||
		creates && !compress.IsStopWord(subject[0].text) { // "create a file named …"
		return false
	}
	isVerb := !isOneOf(link[0].text, "in", "is", "are") && !creates
	named := names.has(subject)
	return isVerb || isPlaceName(value[0].raw) && (named || len(subject) <= 3) || named && link[0].text != "in"
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

var days = wordSet("days")

func isDate(words []noteWord) bool {
	for i := range words {
		if days.has(words[i].text) {
			return true
		}
	}
	return false
}

// isPlaceName reports whether a word is a path, a URL, a mail address or code.
func isPlaceName(w string) bool {
	return strings.ContainsAny(w, "/@`") || strings.Contains(w, "::") || strings.IndexByte(compress.TrimWord(w), '.') > 0
}
