package notes

import "strings"

// A yes to "Shall I push?" permits one act, now. A yes to "Should we keep the old API?" sets a
// rule. Only the rule is a decision. A consent ends with its turn: in the notes of a session or the
// memory of a workspace, it would permit the act again and again.

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

// proposedAct is the state of a proposal for a single act.
const proposedAct = "a"

// asksConsent reports whether the assistant's sentence asks for consent to a single act. A sentence
// with "always" or "every" asks for a rule instead.
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

// proposesAct reports whether the proposal that starts at word i names an act, by a verb or a noun.
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

// saysWay reports whether the first verb from word i on describes a lasting choice, not an act.
// With bare, the assistant asks about its own action: "use pgx" is a choice, while "use your card"
// and "use --force" are acts.
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

// limit appends a limiting sentence to the finding of the previous sentence. It drops a permission
// for one time, because the rule stays in force.
func (f *finder) limit(s *sentence) {
	if f.stated < 0 || f.stated >= len(f.out) || s.question || len(s.words) > 20 || !limitsIt(s.words) {
		return
	}
	last := &f.out[f.stated]
	if last.State == factAllows && onces.has(s.words) {
		f.out = f.out[:f.stated]
		return
	}
	last.Text += " " + s.text
}
