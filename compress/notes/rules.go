package notes

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Who says a sentence.
const (
	people = "user"
	models = "assistant"
)

var (
	// A sentence with unsaid, or a clause behind unsaidBefore, states nothing. Nor do the clauses
	// that colons connect to reports. A clause begins behind leads.
	unsaid       = phraseSet("unsaid")
	unsaidBefore = phraseSet("unsaidBefore")
	reports      = phraseSet("reports")
	leads        = phraseSet("leads")
	vague        = phraseSet("vague")
	things       = phraseSet("things")
	allows       = phraseSet("allows")
	askWords     = wordSet("askWords")

	startRules = phraseSet("startRules")
	firmRules  = phraseSet("firmRules")
	shoulds    = phraseSet("shoulds")
	bans       = phraseSet("bans")
	musts      = phraseSet("musts")
	allOf      = phraseSet("allOf")
	allMust    = phraseSet("allMust")
	noneOf     = phraseSet("noneOf")
	noneMay    = phraseSet("noneMay")
	approvals  = phraseSet("approvals")
	leaves     = phraseSet("leaves")
	leftAs     = phraseSet("leftAs")

	tastes      = phraseSet("tastes")
	tasteStarts = phraseSet("tasteStarts")
	tasteFor    = phraseSet("tasteFor")

	ruleWords   = wordSet("ruleWords")
	rulePhrases = phraseSet("rulePhrases")
	ruleMarks   = textSet("ruleMarks")
	romanceNots = wordSet("romanceNots")
	noRules     = wordSet("noRules")
	romance     = wordSet("romance")
)

// states reports whether a sentence states something at all.
func (s *sentence) states() bool {
	return !s.question && (len(s.words) > 1 || s.isRun()) && !unsaid.has(s.words) && !asksBack(s.words)
}

// isRun reports whether a sentence is in a script without spaces, or in Korean, and longer than a
// reply.
func (s *sentence) isRun() bool {
	return strings.IndexFunc(s.text, isRunRune) >= 0 && utf8.RuneCountInString(s.text) > 8
}

// asksBack reports whether a sentence asks without a question mark: "is it true that …", "can you
// …".
func asksBack(words []noteWord) bool {
	if len(words) < 2 {
		return false
	}
	first, next := words[0].text, words[1].text
	return askWords.has(first) && next != "to" || first == "do" && isPerson(next)
}

// markDoubts marks each word whose clause states nothing up to it: "if the port is …".
func markDoubts(words []noteWord) {
	doubt, report := false, false
	for i := range words {
		w := &words[i]
		doubt = !w.mark && (doubt || unsaidBefore.at(words, i) > 0)
		report = (!w.mark || w.text == ":") && (report || reports.at(words, i) > 0 && i > 0 && !isPerson(words[i-1].text))
		w.doubt, w.report = doubt || report, report
	}
}

// clauseStart reports whether a clause begins at word i.
func clauseStart(words []noteWord, i int) bool {
	return i == 0 || words[i-1].mark || leads.at(words, i-1) > 0
}

// subjectOf returns the number of the word with which the clause of word i begins.
func subjectOf(words []noteWord, i int) int {
	from := i
	for from > 0 && !clauseStart(words, from) {
		from--
	}
	return from
}

// spoken reports whether the clause of word i is about somebody, or about something that it does
// not name.
func spoken(w []noteWord, i int) bool {
	from := subjectOf(w, i)
	return from == i || vague.at(w, from) > 0 || w[from].text == "i" || w[from].text == "i'm" || w[from].text == "we"
}

// isPerson reports whether a word is one of us: what we need, have to, must is often no more than
// the next step.
func isPerson(w string) bool { return w == "i" || w == "we" || w == "you" }

// Rules returns the parts that IsRule accepts, in order.
func Rules(parts []string) (rules []string) {
	for _, part := range parts {
		if IsRule(part) {
			rules = append(rules, part)
		}
	}
	return rules
}

// IsRule reports whether a sentence of the user may be a standing rule: one that always, never, or
// only in some cases wants something done. It knows words of English, German, French, Spanish,
// Portuguese, Chinese, Japanese, and Korean. A question is no rule.
func IsRule(text string) bool {
	s := sentence{text: text, words: splitWords(text, nil), question: isQuestion(text)}
	markDoubts(s.words)
	return text != leftOutMark && !s.question && (s.states() && s.orders() || s.rules())
}

// orders reports whether a sentence says, with a phrase of English or German, what must, must not,
// or may be done.
func (s *sentence) orders() bool {
	w := s.words
	for i := range w {
		if w[i].doubt || w[i].sets == 0 {
			continue
		}
		begins := clauseStart(w, i)
		switch {
		case begins && startRules.at(w, i) > 0,
			reaches(w, i, allOf, allMust), reaches(w, i, noneOf, noneMay),
			leaves.at(w, i) > 0 && (begins || w[i-1].text == "to") && leftAs.has(w[i+1:]),
			begins && bans.at(w, i) > 0 && s.bans(i),
			i > 0 && firmRules.at(w, i) > 0 && binds(w, i),
			i > 0 && musts.at(w, i) > 0 && !spoken(w, i) && w[i-1].text != "there" && w[i-1].text != "it",
			i > 0 && approvals.at(w, i) > 0 && !spoken(w, i):
			return true
		case i > 0 && shoulds.at(w, i) > 0 && !spoken(w, i):
			if from := subjectOf(w, i); !isPerson(w[from].text) && len(tokensIn(w[from:i])) > 0 {
				return true
			}
		}
	}
	return false
}

// reaches reports whether a clause begins at word i with a phrase of who, and one of what that is
// not about one of us follows a few words later: "all exported functions need a comment".
func reaches(w []noteWord, i int, who, what *phrases) bool {
	n := who.at(w, i)
	if n == 0 || !clauseStart(w, i) {
		return false
	}
	for k := i + n + 1; k < len(w) && k < i+9 && !w[k].mark; k++ {
		if what.at(w, k) > 0 && !isPerson(w[k-1].text) {
			return true
		}
	}
	return false
}

// binds reports whether the clause of word i, which says what is bound to happen, is about
// something that it names, and not only the next step of one of us.
func binds(w []noteWord, i int) bool {
	from, verb := subjectOf(w, i), w[i].text
	subject := w[from].text
	duty := strings.HasPrefix(verb, "ha") || strings.HasPrefix(verb, "need") // has to, needs to
	switch {
	case from == i:
		return false
	case vague.at(w, from) > 0:
		return (duty || strings.HasPrefix(verb, "can") || verb == "must") && subject == "it"
	}
	return !(isPerson(subject) && duty)
}

// bans reports whether "no …" at word i is an order: two or three words up to the end of its
// clause, said loudly or with a please.
func (s *sentence) bans(i int) bool {
	end := i + 1
	for end < len(s.words) && !s.words[end].mark && s.words[end].text != "please" {
		end++
	}
	if end-i < 3 || end-i > 4 {
		return false
	}
	polite := func(k int) bool { return k < len(s.words) && s.words[k].text == "please" }
	return strings.HasSuffix(s.text, "!") || polite(end) || polite(end+1)
}

// rules reports whether a sentence has a word, a phrase, or a mark of a standing rule in any of the
// languages.
func (s *sentence) rules() bool {
	if strings.IndexFunc(s.text, isRunRune) >= 0 {
		for _, mark := range ruleMarks() {
			if strings.Contains(s.text, mark) {
				return true
			}
		}
	}
	for i := range s.words {
		if s.rulesAt(i) {
			return true
		}
	}
	at, _ := rulePhrases.in(s.words)
	return at >= 0 && !s.words[at].report
}

// rulesAt reports whether word i makes its clause a rule: a word like "never" in an order or in a
// clause about something that it names, or a negated order ("don't …", "ne …", "não …").
func (s *sentence) rulesAt(i int) bool {
	words, w := s.words, s.words[i].text
	begins := clauseStart(words, i)
	if words[i].report {
		return false
	}
	if ruleWords.has(w) {
		return (begins || !spoken(words, i)) && !startRules.excepts(words, i)
	}
	if !begins || i+1 == len(words) {
		return false
	}

	next := words[i+1].text
	switch {
	case w == "don't" || w == "dont" || w == "do" && next == "not":
		return !startRules.excepts(words, i)
	case w == "ne" || strings.HasPrefix(w, "n'") || w == "kein" || w == "keine" || w == "keinen":
		return true
	}
	inRomance := slices.ContainsFunc(words, func(w noteWord) bool { return romance.has(w.text) }) // Spanish or Portuguese
	return romanceNots.has(w) && !noRules.has(next) && inRomance
}

// prefers reports whether a sentence says what somebody prefers, or how they work.
func (s *sentence) prefers() bool {
	w := s.words
	for i := range w {
		if w[i].doubt {
			continue
		}
		begins := clauseStart(w, i)
		if tastes.at(w, i) > 0 && (begins || i < 3) ||
			tasteStarts.at(w, i) > 0 && begins && i+1 < len(w) && vague.at(w, i+1) == 0 && tasteFor.has(w[i+1:]) {
			return true
		}
	}
	return false
}
