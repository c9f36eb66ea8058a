package notes

import "strings"

var (
	copulas  = phraseSet("copulas")
	placed   = phraseSet("placed")
	owns     = phraseSet("owns")
	moves    = phraseSet("moves")
	names    = phraseSet("names")
	unlikely = phraseSet("unlikely")
	noValues = phraseSet("noValues")
	keyIdle  = phraseSet("keyIdle")
	causes   = phraseSet("causes")
)

// valueRule is one way to state a value. The rules are tried in their order.
type valueRule struct {
	name, by string
	// subject returns the words for what has the value. known is false where the rule says nothing
	// of a sentence; stated is false where it says that the sentence states no value.
	subject       func(s *sentence, role string) (words []noteWord, stated, known bool)
	example, idle string
}

var valueRules = []valueRule{
	{name: "a cause", by: anybody, subject: causeFound, example: "The root cause is that the token never expires.", idle: "I wonder why the root cause is not in the log"},
	{name: "a label", by: people, subject: labelled, example: "API base URL: https://api.example.org/v2", idle: "note: 12"},
	{name: "a statement", by: anybody, subject: statedOf, example: "The service listens on port 8443.", idle: "(default is 8443)"},
	{name: "an order to set it", by: people, subject: movedTo, example: "Change the timeout to 30s please", idle: "change the colour to green please"},
	{name: "what we have", by: people, subject: owned, example: "we're on go1.24", idle: "we have trouble"},
}

// value returns a value that somebody names, and of the assistant also a cause that it found; ok
// is false if a sentence states none.
func (f *finder) value(s *sentence) (found Finding, ok bool) {
	subject, ok := f.valueOf(s)
	if !ok {
		return Finding{}, false
	}
	key := content(subject, false)
	return Finding{Kind: FoundFact, State: factValue, Text: s.text, Key: key}, key != ""
}

// valueOf returns the words for what has the value that a sentence states; ok is false if it
// states none.
func (f *finder) valueOf(s *sentence) (subject []noteWord, ok bool) {
	for i := range valueRules {
		r := &valueRules[i]
		if r.by != anybody && r.by != f.role {
			continue
		}
		if words, stated, known := r.subject(s, f.role); known {
			return words, stated
		}
	}
	return nil, false
}

// causeFound is the rule for "the root cause is …".
func causeFound(s *sentence, _ string) (subject []noteWord, stated, known bool) {
	w := s.words
	at, n := causes.in(w)
	if at < 0 || len(w) <= at+n+2 {
		return nil, false, false
	}
	return w[at : at+2], !unsaidBefore.has(w[:at]), true
}

// labelled is the rule for "port: 8443", with at most five words before the colon.
func labelled(s *sentence, _ string) (subject []noteWord, stated, known bool) {
	w := s.words
	if len(w) < 3 || w[0].mark {
		return nil, false, false
	}
	k := 1
	for k < len(w) && k <= 5 && !w[k].mark {
		k++
	}
	if k == len(w) || k > 5 || w[k].text != ":" || keyIdle.at(w, 0) > 0 {
		return nil, false, false
	}
	label, value := w[:k], w[k+1:]
	if len(value) == 0 || len(value) > 12 || noValues.has(value[:1]) || strings.IndexByte("[<", value[0].raw[0]) >= 0 {
		return nil, false, false
	}
	alone := value[0].valuable && len(value) <= 3
	known = alone || (value[0].valuable || len(value) <= 4) && names.has(label)
	return label, true, known
}

// movedTo is the rule for "change the timeout to 30s".
func movedTo(s *sentence, _ string) (subject []noteWord, stated, known bool) {
	w := s.words
	at, n := moves.in(w)
	if at < 0 || !clauseStart(w, at) || at+n >= len(w) || !w[at+n].valuable || !names.has(w[at+1:at+n]) {
		return nil, false, false
	}
	return w[at+1 : at+n-1], true, true
}

// owned is the rule for "we have 12 shards".
func owned(s *sentence, _ string) (subject []noteWord, stated, known bool) {
	w := s.words
	at, n := owns.in(w)
	if at < 0 || !clauseStart(w, at) && w[at].text != "has" && w[at].text != "have" || w[at].doubt {
		return nil, false, false
	}
	for k := at + 1; k < min(at+n+2, len(w)); k++ {
		if w[k].valuable {
			return w[at:min(at+n+1, len(w))], at+n <= len(w) && w[at].text != "it's" || k == at+2, true
		}
	}
	return nil, false, false
}
