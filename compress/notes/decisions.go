package notes

import "strings"

var (
	// What people say who choose.
	chooses     = phraseSet("chooses")
	choosesIdle = phraseSet("choosesIdle")
	decisionKey = phraseSet("decisionKey")
	// What models say who choose by themselves.
	settles = phraseSet("settles")
	instead = phraseSet("instead")
	will    = phraseSet("will")
	// What models say who propose.
	proposes     = phraseSet("proposes")
	proposesIdle = phraseSet("proposesIdle")
	bareAsk      = phraseSet("bareAsk")
	asksWhich    = phraseSet("asksWhich") // without a question mark
	// With these a sentence asks for something else, or says when it would be.
	conditions = phraseSet("conditions")
	// Yes.
	yeses = phraseSet("yeses")
	noes  = phraseSet("noes")
	// Which option.
	choosing = phraseSet("choosing")
	takes    = phraseSet("takes")
	ordinal  = map[string]string{"first": "1", "second": "2", "third": "3", "erste": "1", "zweite": "2", "one": "1", "two": "2", "three": "3"}
)

var decisionSets = anyOf(chooses, decisionKey, settles, will)

// decision gives what a sentence chooses.
func (f *finder) decision(s *sentence) (found Finding, ok bool) {
	w := s.words
	if s.question || len(w) < 3 || !s.hasAny(decisionSets) || unsaid.has(w) || asksBack(w) {
		return found, false
	}
	found = Finding{Kind: FoundDecision, Text: s.text, Key: content(w, true)}
	if !strings.Contains(found.Key, " ") && (f.role == "assistant" || found.Key == "") {
		return found, false
	}
	for i := range w {
		if w[i].doubt {
			continue
		}
		if !clauseStart(w, i) && !(i > 1 && w[i-1].text == w[0].text) {
			continue
		}
		if decisionKey.at(w, i) > 0 && i+decisionKey.at(w, i) < len(w) && w[i+decisionKey.at(w, i)].text == ":" {
			return found, true
		}
		if f.role == "assistant" {
			if settles.at(w, i) > 0 && choosesIdle.at(w, i) == 0 {
				return found, true
			}
			if n := will.at(w, i); n > 0 && instead.has(w[i+n:]) && decidesHow(w[i:]) {
				return found, true
			}
			continue
		}
		if chooses.at(w, i) > 0 && choosesIdle.at(w, i) == 0 && f.role == "user" {
			return found, true
		}
	}
	return found, false
}

// decidesHow says whether "I'll … instead" tells of a way to do something, not of the next step.
func decidesHow(words []noteWord) bool {
	for i := range words {
		switch words[i].text {
		case "use", "using", "write", "keep", "make", "put", "store", "build", "do", "take", "go", "add", "implement", "replaced", "used", "call":
			return true
		case "look", "check", "read", "search", "try", "run", "see", "view", "open", "focus":
			return false
		}
	}
	return false
}

// proposal gives what a sentence of the assistant proposes.
func (f *finder) proposal(s *sentence) (found Finding, ok bool) {
	w := s.words
	found = Finding{Kind: FoundProposal, Text: s.text, Key: s.label}
	if s.label != "" && (s.item || s.led || len(s.label) == 1) {
		return found, len(w) > 1
	}
	for i := range w {
		if i == 0 && conditions.at(w, 0) > 0 && proposes.at(w, 0) == 0 {
			return found, false
		}
		n := proposes.at(w, i)
		if n == 0 || !clauseStart(w, i) && i > 3 || proposesIdle.at(w, i) > 0 || choosesIdle.at(w, i) > 0 {
			continue
		}
		rest := w[min(i+n, len(w)):]
		if len(rest) < 2 && bareAsk.has(rest) || !strings.Contains(content(rest, true), " ") && !strings.Contains(content(rest, true), "_") && content(rest, true) == "" {
			return found, false
		}
		if n := bareAsk.at(rest, 0); n > 0 && content(rest[n:], true) == "" {
			found.State = proposedBare
		}
		return found, true
	}
	return found, false
}

// proposedBare is the state of a proposal that names nothing itself: "Shall I proceed?"
const proposedBare = "b"

// acceptance says whether a request is a yes to what was proposed before it, and to which option.
func acceptance(words []noteWord, whole int) (label string, ok bool) {
	if len(words) == 0 || whole > 200 {
		return "", false
	}
	n := 0
	for n < len(words) && (words[n].mark || words[n].text == "please" || words[n].text == "ok" || words[n].text == "okay" || words[n].text == "hmm") {
		n++
	}
	if n < len(words) {
		if name := optionName(words[n:]); name != "" {
			return name, true
		}
	}
	at, _ := yeses.in(words)
	no, _ := noes.in(words)
	if at < 0 || no >= 0 || at > 2 {
		return "", false
	}
	if name := optionName(words[at+1:]); name != "" {
		return name, true
	}
	return "", true
}

// optionName gives the label of an option that words begin with: "B please", "option 2", "the second one", "go with B".
func optionName(words []noteWord) string {
	at := 0
	for n := choosing.at(words, at); n > 0; n = choosing.at(words, at) {
		for at += n; at < len(words) && words[at].mark; at++ {
		}
	}
	start := at
	for at < len(words) && (words[at].mark || takes.at(words, at) > 0 || words[at].text == "with" || words[at].text == "the" || words[at].text == "number" || words[at].text == "option") {
		if takes.at(words, at) > 0 && at+1 < len(words) && ordinal[words[at+1].text] != "" {
			return ordinal[words[at+1].text]
		}
		at++
	}
	if at == len(words) {
		return ""
	}
	w := words[at].text
	if o := ordinal[w]; o != "" && at > start && w != "one" {
		return o
	}
	w = strings.TrimRight(w, ")")
	one := len(w) == 1 && (w[0] >= 'a' && w[0] <= 'h' || w[0] >= '1' && w[0] <= '9')
	if !one || w == "a" && !words[at].capital && (at == 0 || at+1 < len(words) && !words[at+1].mark && words[at+1].text != "please") {
		return ""
	}
	if at == start && start > 0 && !(at+1 == len(words) || words[at+1].mark) {
		return ""
	}
	if at == 0 && len(words) > 1 && !words[1].mark && words[1].text != "please" && words[1].text != "then" {
		return ""
	}
	return w
}
