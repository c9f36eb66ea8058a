package notes

import "strings"

// A yes to "Shall I push?" lets somebody act, now. A yes to "Should we keep the old API?" says how
// things are. Only the latter is a decision: a consent says nothing beyond its turn, and in the notes
// of a session, or in the memory of a workspace, it would allow the act again and again.

var (
	mayI     = phraseSet("mayI")
	doYou    = phraseSet("doYou")
	goAhead  = phraseSet("goAhead")
	acts     = phraseSet("acts")
	ways     = phraseSet("ways")
	standing = phraseSet("standing")
	limits   = phraseSet("limits")
	onces    = phraseSet("onces")

	holdings = wordSet("holdings")
	removes  = wordSet("removes")
	actsLast = wordSet("actsLast")
	betweens = wordSet("betweens")
)

// proposedAct is the state of a proposal to do something once.
const proposedAct = "a"

// asksConsent reports whether a yes to a sentence of the assistant is a consent to an act. A
// sentence with "always" or "every" is none: it is about each time.
func asksConsent(s *sentence) bool {
	w := s.words
	if standing.has(w) {
		return false
	}
	if i, n := mayI.in(w); i >= 0 {
		return !saysWay(w, i+n, true)
	}
	if i, _ := goAhead.in(w); i >= 0 {
		for k := i + 1; k < len(w); k++ {
			if w[k-1].text == "we" && ways.at(w, k) > 0 { // "Please confirm that we keep the old API."
				return false
			}
		}
		return true
	}
	if i, n := doYou.in(w); i >= 0 {
		return proposesAct(w, i+n) || saysWay(w, i+n, false) && !saysWay(w, i+n, true)
	}
	if i, n := proposes.in(w); i >= 0 {
		if proposes.at(w, i) > 1 && (w[i].text == "let's" || w[i].text == "lets") {
			n = 1
		}
		return proposesAct(w, i+n)
	}
	if s.question {
		at, _ := acts.in(w)
		return at >= 0 || actsLast.has(w[len(w)-1].text)
	}
	return false
}

// proposesAct reports whether the verb, or the noun, of what is proposed from word i on is an act.
func proposesAct(w []noteWord, i int) bool {
	if len(w) > 0 && actsLast.has(w[len(w)-1].text) {
		return true
	}
	article := false
	for ; i < len(w) && (w[i].mark || betweens.has(w[i].text) || isArticle(w[i].text)); i++ {
		article = article || isArticle(w[i].text)
	}
	if i >= len(w) {
		return false
	}
	if removes.has(w[i].text) {
		for k := i + 1; k < len(w) && k < i+6 && !w[k].mark; k++ {
			if holdings.has(w[k].text) {
				return true
			}
		}
		return false
	}
	n := acts.at(w, i)
	if n == 0 {
		return false
	}
	if i+n == len(w) || w[i+n].mark {
		return true
	}
	next := w[i+n].text
	if article { // "a release branch" is no act, "a release of 2.0" is
		return isOneOf(next, "of", "to", "into", "onto", "on", "now", "today", "for", "with", "from", "in", "and", "before", "after")
	}
	goesOn := next == "to" && isOneOf(w[i].text, "continue", "start", "begin")
	return !goesOn && !strings.HasSuffix(next, "ing") // "stop supporting 3.8"
}

// saysWay reports whether a verb behind word i says how things are. bare is for those who ask for
// themselves: "use pgx" is a way, "use your card" and "use --force" are acts.
func saysWay(w []noteWord, i int, bare bool) bool {
	if last := len(w) - 1; i < last && strings.HasSuffix(w[last].text, "en") && ways.at(w, last) > 0 { // German
		return true
	}
	for i < len(w) && (w[i].mark || betweens.has(w[i].text)) {
		i++
	}
	if ways.at(w, i) == 0 {
		return false
	}
	if !bare || !isOneOf(w[i].text, "use", "using") {
		return true
	}
	if i+1 == len(w) {
		return false
	}
	next := &w[i+1]
	flag := strings.HasPrefix(strings.TrimLeft(next.raw, "`\""), "-")
	return !flag && !isArticle(next.text) && acts.at(w, i+1) == 0 && !isOneOf(next.text, "your", "my", "our", "this", "that",
		"these", "it", "its", "their", "root", "force", "admin", "production")
}

func isArticle(w string) bool { return w == "a" || w == "an" || w == "the" || w == "another" }

// limitsIt reports whether a sentence, all of it, limits the one before it: "Only until Friday."
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

// limit puts a sentence that limits the one before it to what that states. A permission for once
// ends no rule.
func (f *finder) limit(s *sentence) {
	if f.stated < 0 || f.stated >= len(f.out) || s.question || len(s.words) > 20 || !limitsIt(s.words) {
		return
	}
	last := &f.out[f.stated]
	if last.Kind == FoundUndo {
		if onces.has(s.words) {
			f.out = f.out[:f.stated]
			return
		}
		last.Kind, last.Text = FoundFact, f.statedText
	}
	last.Text += " " + s.text
}
