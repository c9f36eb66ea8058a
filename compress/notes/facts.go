package notes

import "strings"

// What a fact is: the State of a finding.
const (
	factRule   = "c" // a constraint
	factTaste  = "p" // a preference, a way of working
	factValue  = "v" // a value that stays
	factAllows = "a" // a permission that ends a constraint
)

// Words with which a sentence is no statement, wherever they stand.
var unsaid = phraseSet("unsaid")

// Words before what a rule looks for, with which it is not said either.
var unsaidBefore = phraseSet("unsaidBefore")

// Words after which a clause begins.
var leads = phraseSet("leads")

var (
	startRules     = phraseSet("startRules")
	startRulesIdle = phraseSet("startRulesIdle")
	firmRules      = phraseSet("firmRules")
	shoulds        = phraseSet("shoulds")
	shouldsIdle    = phraseSet("shouldsIdle")
	bans           = phraseSet("bans")
	bansIdle       = phraseSet("bansIdle")
	musts          = phraseSet("musts")
	allOf          = phraseSet("allOf")
	allMust        = phraseSet("allMust")
	noneOf         = phraseSet("noneOf")
	noneMay        = phraseSet("noneMay")
	approvals      = phraseSet("approvals")
	leaves         = phraseSet("leaves")
	leftAs         = phraseSet("leftAs")
	leavesIdle     = phraseSet("leavesIdle")
	allows         = phraseSet("allows")
	againNow       = phraseSet("againNow")
	things         = phraseSet("things")
	vague          = phraseSet("vague")
)

var (
	tastes      = phraseSet("tastes")
	tasteStarts = phraseSet("tasteStarts")
	tasteFor    = phraseSet("tasteFor")
	tastesIdle  = phraseSet("tastesIdle")
	noLonger    = phraseSet("noLonger")
	ruledOut    = phraseSet("ruledOut")
)

// Sets without which a sentence is no rule, and no preference.
var (
	ruleSets  = anyOf(startRules, allOf, noneOf, leaves, firmRules, bans, shoulds, musts, approvals)
	tasteSets = anyOf(tastes, tasteStarts)
)

// states says whether a sentence states something at all.
func (f *finder) states(s *sentence) bool {
	return !s.question && len(s.words) > 1 && !unsaid.has(s.words) && !asksBack(s.words)
}

// rule returns a constraint that a person states. Sentences of the assistant tell what it does and expects.
func (f *finder) rule(s *sentence) (Finding, bool) {
	if f.role == "assistant" || !f.isRule(s) {
		return Finding{}, false
	}
	key := content(s.words, true)
	return Finding{Kind: FoundFact, State: factRule, Text: s.text, Key: key}, strings.Contains(key, " ") || key != "" && len(s.words) > 2 && !things.has(s.words)
}

// taste gives what somebody prefers, or how they work.
func (f *finder) taste(s *sentence) (Finding, bool) {
	if f.role == "assistant" || f.tasteAt(s) < 0 {
		return Finding{}, false
	}
	found := Finding{Kind: FoundFact, State: factTaste, Text: s.text, Key: content(s.words, true)}
	if i, n := ruledOut.in(s.words); i >= 0 {
		found.Not = content(s.words[min(i+n, len(s.words)):], true)
		found.Key = content(s.words[:i], true)
	}
	if subject, ok := f.valueOf(s); ok {
		found.Value = content(subject, false)
	}
	return found, found.Key != "" || found.Not != ""
}

// asksBack says whether a sentence asks without a question mark: "is it true that …", "can you …".
func asksBack(words []noteWord) bool {
	if len(words) < 2 {
		return false
	}
	switch words[0].text {
	case "is", "are", "does", "did", "can", "could", "should", "would", "will", "has", "have", "was", "why", "how", "what", "who", "where", "which", "when", "wie", "warum", "wer", "wo", "soll", "sollen", "kannst", "ist", "sind":
		return words[1].text != "to"
	case "do":
		return words[1].text == "you" || words[1].text == "we" || words[1].text == "i"
	}
	return false
}

// clauseStart says whether a clause begins at word i.
func clauseStart(words []noteWord, i int) bool {
	return i == 0 || words[i-1].mark || leads.at(words, i-1) > 0
}

// subjectOf gives the word with which the clause of word i begins.
func subjectOf(words []noteWord, i int) int {
	from := i
	for from > 0 && !clauseStart(words, from) {
		from--
	}
	return from
}

// isRule says whether a sentence states a constraint.
func (f *finder) isRule(s *sentence) bool {
	w := s.words
	if !s.hasAny(ruleSets) {
		return false
	}
	for i := range w {
		if w[i].doubt {
			continue
		}
		if clauseStart(w, i) {
			if startRules.at(w, i) > 0 && startRulesIdle.at(w, i) == 0 {
				return true
			}
			for _, of := range []struct{ who, what *phrases }{{allOf, allMust}, {noneOf, noneMay}} {
				n := of.who.at(w, i)
				for k := i + n + 1; n > 0 && k < len(w) && k < i+9 && !w[k].mark; k++ {
					if of.what.at(w, k) > 0 && !isPerson(w[k-1].text) {
						return true
					}
				}
			}
			if leaves.at(w, i) > 0 && leavesIdle.at(w, i) == 0 && leftAs.has(w[i+1:]) {
				return true
			}
		}
		if i > 0 && leaves.at(w, i) > 0 && w[i-1].text == "to" && leftAs.has(w[i+1:]) && leavesIdle.at(w, i) == 0 {
			return true // I want you to leave … alone
		}
		if n := firmRules.at(w, i); n > 0 && i > 0 {
			from := subjectOf(w, i)
			limit := strings.HasPrefix(w[i].text, "ha") || strings.HasPrefix(w[i].text, "need") || strings.HasPrefix(w[i].text, "can") || strings.HasPrefix(w[i].text, "must") && w[i].text == "must"
			switch {
			case from == i:
			case vague.at(w, from) > 0 && !(limit && w[from].text == "it"):
			case (w[from].text == "i" || w[from].text == "we" || w[from].text == "you") && (strings.HasPrefix(w[i].text, "ha") || strings.HasPrefix(w[i].text, "need")):
			default:
				return true
			}
		}
		if musts.at(w, i) > 0 && i > 0 {
			from := subjectOf(w, i)
			if from < i && !spoken(w, i) && w[i-1].text != "there" && w[i-1].text != "it" {
				return true
			}
		}
		if shoulds.at(w, i) > 0 && shouldsIdle.at(w, i) == 0 && i > 0 && !spoken(w, i) && !isPerson(w[subjectOf(w, i)].text) && content(w[subjectOf(w, i):i], true) != "" {
			return true
		}
		if bans.at(w, i) > 0 && bansIdle.at(w, i) == 0 && clauseStart(w, i) && isBan(s, i) {
			return true
		}
		if approvals.at(w, i) > 0 && i > 0 && !spoken(w, i) {
			return true
		}
	}
	return false
}

// isBan says whether "no …" at word i is an order: two or three words up to the end of its clause, said loudly or with a please.
func isBan(s *sentence, i int) bool {
	end := i + 1
	for end < len(s.words) && !s.words[end].mark && s.words[end].text != "please" {
		end++
	}
	if end-i < 3 || end-i > 4 {
		return false
	}
	return strings.HasSuffix(s.text, "!") || end < len(s.words) && s.words[end].text == "please" || end+1 < len(s.words) && s.words[end+1].text == "please"
}

// markDoubts notes of each word whether one before it, or itself, makes what its clause says no statement: "if the port is …".
func markDoubts(words []noteWord) {
	doubt := false
	for i := range words {
		doubt = !words[i].mark && (doubt || unsaidBefore.at(words, i) > 0)
		words[i].doubt = doubt
	}
}

// isPerson says whether a word is one of us: what we need, have to, must is often no more than the next step.
func isPerson(w string) bool { return w == "i" || w == "we" || w == "you" }

// spoken says whether the clause of word i speaks of somebody, or of something that it does not name.
func spoken(w []noteWord, i int) bool {
	from := subjectOf(w, i)
	return from == i || vague.at(w, from) > 0 || w[from].text == "i" || w[from].text == "i'm" || w[from].text == "we"
}

// permission gives what a sentence allows that was ruled out before, or says that it is over.
func (f *finder) permission(s *sentence) (Finding, bool) {
	if f.role == "assistant" || s.question || unsaid.has(s.words) || asksBack(s.words) {
		return Finding{}, false
	}
	at, n := allows.in(s.words)
	switch {
	case at >= 0 && clauseStart(s.words, at):
		key := content(s.words[min(at+n, len(s.words)):], true)
		u := Finding{Kind: FoundUndo, Key: key, State: factAllows}
		if againNow.has(s.words) {
			u.Text = s.text // it stands, where something is taken back
		}
		return u, strings.Contains(key, " ")
	default:
		if at, n = noLonger.in(s.words); at >= 0 {
			key := content(s.words[min(at+n, len(s.words)):], true)
			if i := strings.IndexByte(key, ' '); i > 0 {
				key = key[:i]
			}
			return Finding{Kind: FoundUndo, Key: key, State: factTaste}, key != ""
		}
	}
	return Finding{}, false
}

// tasteAt gives the word where a sentence says what somebody prefers, or how they work; -1.
func (f *finder) tasteAt(s *sentence) int {
	w := s.words
	if !s.hasAny(tasteSets) {
		return -1
	}
	for i := range w {
		if w[i].doubt {
			continue
		}
		if tastes.at(w, i) > 0 && (clauseStart(w, i) || i < 3) && tastesIdle.at(w, i) == 0 {
			return i
		}
		if tasteStarts.at(w, i) > 0 && clauseStart(w, i) && i+1 < len(w) && vague.at(w, i+1) == 0 {
			if at, _ := tasteFor.in(w[i+1:]); at >= 0 {
				return i
			}
		}
	}
	return -1
}
