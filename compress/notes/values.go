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
	states   = phraseSet("states")
	keyIdle  = phraseSet("keyIdle")
	causes   = phraseSet("causes")
)

// value gives a value that somebody names, and of the assistant also a cause that it found.
func (f *finder) value(s *sentence) (Finding, bool) {
	subject, ok := f.valueOf(s)
	if !ok {
		return Finding{}, false
	}
	key := content(subject, false)
	return Finding{Kind: FoundFact, State: factValue, Text: s.text, Key: key, Value: key}, key != ""
}

// valueOf gives the words that say whose value a sentence states.
func (f *finder) valueOf(s *sentence) (subject []noteWord, ok bool) {
	w := s.words
	said := f.role != "assistant"
	if at, n := causes.in(w); at >= 0 && len(w) > at+n+2 {
		return w[at : at+2], !unsaidBefore.has(w[:at])
	}
	if said && len(w) >= 3 && !w[0].mark {
		for k := 1; k < len(w) && k <= 5; k++ {
			if w[k].mark && w[k].text == ":" && keyIdle.at(w, 0) == 0 {
				if value := w[k+1:]; len(value) > 0 && len(value) <= 12 && (value[0].valuable && len(value) <= 3 || (value[0].valuable || len(value) <= 4) && names.has(w[:k])) && !states.has(value[:1]) && strings.IndexByte("[<", value[0].raw[0]) < 0 {
					return w[:k], true
				}
				break
			}
			if w[k].mark {
				break
			}
		}
	}
	for i := 1; i < len(w); i++ {
		if w[i-1].doubt {
			continue
		}
		from := subjectOf(w, i)
		if from == i {
			continue
		}
		if from > 0 && w[from-1].text == "(" {
			continue // "(default is 1)"
		}
		subject := w[from:i]
		if n := copulas.at(w, i); n > 0 && i+n < len(w) {
			value := w[i+n:]
			if len(subject) <= 8 && vague.at(subject, 0) == 0 && states.at(value, 0) == 0 && !unlikely.has(subject[max(0, len(subject)-1):]) {
				named := names.has(subject)
				near := value[:min(len(value), 5)]
				switch {
				case named && (isValue(near[:min(2, len(near))]) || said && len(value) <= 4 && near[0].capital):
					return subject, true
				case named && len(value) <= 6 && (w[i+n-1].text == "named" || w[i+n-1].text == "called"):
					return subject, true
				case said && named && isDate(near):
					return subject, true
				case said && len(value) == 1 && value[0].valuable && len(subject) <= 5 && !unlikely.has(subject):
					return subject, true
				case said && isPlaceName(near[0].raw) && (subject[0].text == "our" || subject[0].text == "my"):
					return subject, true
				}
			}
		}
		if n := placed.at(w, i); n > 0 && i+n < len(w) && len(subject) <= 8 && vague.at(subject, 0) == 0 && subject[0].text != "to" && !unlikely.has(subject) {
			value := w[i+n:]
			if v := value[0]; v.valuable || v.text == "port" && len(value) > 1 && value[1].valuable {
				if (w[i].text == "named" || w[i].text == "called") && !compress.IsStopWord(subject[0].text) {
					continue // "create a file named …"
				}
				strong := w[i].text != "in" && w[i].text != "called" && w[i].text != "named" && w[i].text != "is" && w[i].text != "are"
				if strong || said && isPlaceName(v.raw) && (names.has(subject) || len(subject) <= 3) || said && names.has(subject) && n > 0 && w[i].text != "in" {
					return subject, true
				}
			}
		}
	}
	if said {
		if at, n := moves.in(w); at >= 0 && clauseStart(w, at) && at+n < len(w) && w[at+n].valuable && names.has(w[at+1:at+n]) {
			return w[at+1 : at+n-1], true
		}
		if at, n := owns.in(w); at >= 0 && (clauseStart(w, at) || w[at].text == "has" || w[at].text == "have") && !w[at].doubt {
			end := min(at+n+2, len(w))
			for k := at + 1; k < end; k++ {
				if w[k].valuable {
					return w[at:min(at+n+1, len(w))], at+n <= len(w) && w[at].text != "it's" || k == at+2
				}
			}
		}
		if (w[0].text == "i'm" || len(w) > 2 && w[0].text == "i" && w[1].text == "am") && isName(w) {
			return w[:1], true
		}
	}
	return nil, false
}

// isValue says whether words begin with something that is looked up again: code, a number, an identifier, a path.
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

// isPlaceName says whether a word is a path, a URL, a mail address or code.
func isPlaceName(w string) bool {
	return strings.ContainsAny(w, "/@`") || strings.Contains(w, "::") || strings.IndexByte(compress.TrimWord(w), '.') > 0
}

// isName says whether "I'm …" is followed by a name: one or two words with capitals, and then the end of a clause.
func isName(words []noteWord) bool {
	at := 1
	if words[0].text == "i" {
		at = 2
	}
	n := 0
	for at < len(words) && words[at].capital && n < 3 {
		at++
		n++
	}
	return n > 0 && (at == len(words) || words[at].mark || words[at].text == "and" || words[at].text == "from")
}
