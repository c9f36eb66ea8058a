package notes

import (
	"cmp"
	"strings"
)

var (
	chooses     = phraseSet("chooses")
	decisionKey = phraseSet("decisionKey")
	settles     = phraseSet("settles")
	instead     = phraseSet("instead")
	will        = phraseSet("will")
	willNot     = wordSet("looks")

	proposes  = phraseSet("proposes")
	bareAsk   = phraseSet("bareAsk")
	asksWhich = phraseSet("asksWhich")
	mayI      = phraseSet("mayI")
	acts      = phraseSet("acts")
	ways      = phraseSet("ways")
	standing  = phraseSet("standing")
	limits    = phraseSet("limits")
	onces     = phraseSet("onces")

	yeses    = phraseSet("yeses")
	noes     = phraseSet("noes")
	choosing = phraseSet("choosing")
	takes    = phraseSet("takes")
	ordinal  = map[string]string{"first": "1", "second": "2", "third": "3", "erste": "1", "zweite": "2"}
)

// decides reports whether a sentence of a role states a decision and names its object.
func (s *sentence) decides(role string) bool {
	w := s.words
	if s.question || len(w) < 3 || unsaid.has(w) || asksBack(w) {
		return false
	}
	for i := range w {
		if w[i].doubt || !clauseStart(w, i) && (i < 2 || w[i-1].text != w[0].text) || chooses.excepts(w, i) {
			continue
		}
		if end := i + decisionKey.at(w, i); end > i && end < len(w) && w[end].text == ":" {
			return namesObject(w, role)
		}
		n := will.at(w, i)
		switch {
		case role == people && chooses.at(w, i) > 0:
			return namesObject(w, role) && (!isOneOf(w[i].text, "let's", "lets", "go") || isChoice(w[i:], true))
		case role == models && (settles.at(w, i) > 0 || n > 0 && instead.has(w[i+n:]) && !willNot.has(w[i+n-1].text)):
			return namesObject(w, role)
		}
	}
	return false
}

// namesObject reports whether words name what they are about: the user with one word, a model with two.
func namesObject(w []noteWord, role string) bool {
	n := len(tokensIn(w))
	return n > 1 || n > 0 && role == people
}

// isChoice reports whether words say how something is to be from now on, as "use pgx" or "before
// every commit", rather than one act, as "push it". unknown is the answer for words with neither.
//
// A yes to a question about one act permits the act once. In the notes of a session it would permit
// the act again and again, so it is no decision.
func isChoice(w []noteWord, unknown bool) bool {
	if standing.has(w) {
		return true
	}
	for i := range w {
		switch {
		case ways.at(w, i) > 0:
			next := noteWord{}
			if i+1 < len(w) {
				next = w[i+1]
			}
			isAct := isOneOf(next.text, "your", "my", "our", "this", "that", "these", "it", "root", "force", "admin") || // "use your card"
				strings.HasPrefix(strings.TrimLeft(next.raw, "`\""), "-")
			return !isAct
		case acts.at(w, i) > 0:
			return false
		}
	}
	return unknown
}

// States of a proposal or a reply.
const (
	proposedAct = "a" // a yes permits one act
	saidYes     = "y" // of a decision: its sentence only repeats the yes
)

// proposal returns what a sentence of the assistant proposes; ok is false if it proposes nothing. A
// proposal that names nothing ("Shall I proceed?") is none.
func proposal(s *sentence) (found Finding, ok bool) {
	w := s.words
	found = Finding{Kind: FoundProposal, Text: s.text, Key: s.label}
	if s.label != "" && (s.item || s.led || len(s.label) == 1) {
		if !isChoice(w, true) {
			found.State = proposedAct
		}
		return found, len(w) > 1
	}
	ok = s.question || asksWhich.has(w)
	for i := range w {
		ok = ok || proposes.at(w, i) > 0 && (clauseStart(w, i) || i <= 3)
		if proposes.excepts(w, i) || chooses.excepts(w, i) {
			return found, false
		}
		if n := bareAsk.at(w, i); n > 0 && len(tokensIn(w[i+n:])) == 0 {
			return found, false
		}
	}
	if ok && !isChoice(w, proposes.has(w) && !mayI.has(w)) {
		found.State = proposedAct
	}
	return found, ok && len(tokensIn(w)) > 0
}

// propose keeps the proposals that a yes may mean: the last ones, and options if the record asks
// in the end.
func (f *finder) propose() {
	options := 0
	for _, p := range f.proposals {
		if p.Key != "" {
			options++
		}
	}
	kept := f.proposals[:0]
	for _, p := range f.proposals {
		if p.Key != "" && f.actOn {
			p.State = proposedAct
		}
		if p.Key == "" || options > 1 && options <= maxProposals && f.asks {
			kept = append(kept, p)
		}
	}
	f.out = append(f.out, last(kept, maxProposals)...)
}

// last returns the last n rows, or all.
func last[T any](rows []T, n int) []T { return rows[max(0, len(rows)-n):] }

// accept notes the yes at the beginning of a user's message. It reports whether s is that yes.
func (f *finder) accept(s *sentence) bool {
	label, ok := acceptance(s.words)
	if !f.first || f.role != people || !ok || f.size > maxYes {
		return false
	}
	f.drop(FoundRequest) // a yes asks for nothing
	f.yes = len(f.out)
	f.out = append(f.out, Finding{Kind: FoundAcceptance, Key: label, Text: s.text})
	return true
}

// maxYes is the length of a message that may be a yes, in bytes.
const maxYes = 200

// acceptance reports whether words are a yes to what was proposed before them. label is that of the
// option which they take, "" for none.
func acceptance(words []noteWord) (label string, ok bool) {
	if label = optionName(words); label != "" {
		return label, true
	}
	at, _ := yeses.in(words)
	if at < 0 || at > 2 {
		return "", false
	}
	for i := range words { // "but only …" just limits a yes
		if noes.at(words, i) > 0 && !(isOneOf(words[i].text, "but", "aber") && limits.at(words, i) > 0) {
			return "", false
		}
	}
	return optionName(words[at+1:]), true
}

// optionName returns the label of the option that words begin with: "B please", "option 2", "the
// second one", "go with B"; "" if they begin with none.
func optionName(words []noteWord) string {
	named := false // a word says that an option follows
	for i := 0; i < len(words); i++ {
		w := &words[i]
		label := cmp.Or(ordinal[w.text], strings.TrimRight(w.text, ")"))
		isLabel := len(label) == 1 && (label[0] >= 'a' && label[0] <= 'h' || label[0] >= '1' && label[0] <= '9')
		ends := i+1 == len(words) || words[i+1].mark || isOneOf(words[i+1].text, "please", "then", "one", "option", "bitte")
		if isLabel && (ends || named && ordinal[w.text] != "") && (label != "a" || w.capital) {
			return label
		}
		n := choosing.at(words, i)
		switch {
		case takes.at(words, i) > 0, isOneOf(w.text, "with", "the", "number", "option"):
			named = true
		case n > 0:
			i += n - 1
		case !w.mark && !isOneOf(w.text, "please", "ok", "okay", "hmm"):
			return ""
		}
	}
	return ""
}

// limitsIt reports whether the whole sentence limits the previous one: "Only until Friday."
func limitsIt(w []noteWord) bool {
	i := 0
	for i < len(w) && (w[i].mark || isOneOf(w[i].text, "but", "and", "though", "however", "aber", "und")) {
		i++
	}
	if i == len(w) || isOneOf(w[i].text, "if", "while") { // a sentence of its own
		return false
	}
	return isOneOf(w[i].text, "only", "just", "nur") || limits.at(w, i) > 0 || onces.at(w, i) > 0 || i+1 < len(w) && onces.at(w, i+1) > 0
}
