package notes

import (
	"strings"
	"sync"
)

var (
	ruleWords   = wordSet("ruleWords")
	rulePhrases = textSet("rulePhrases")
	ruleMarks   = textSet("ruleMarks")
	romanceNots = wordSet("romanceNots")
	noRules     = wordSet("noRules")
	romance     = wordSet("romance")
)

// paddedPhrases returns rulePhrases with blanks at both ends, so that they match whole words only.
var paddedPhrases = sync.OnceValue(func() (padded []string) {
	for _, phrase := range rulePhrases() {
		padded = append(padded, " "+phrase+" ")
	}
	return padded
})

// IsRule reports whether a sentence of the user may be a standing rule: one that always, never, or
// only in some cases wants something done. It knows words of English, German, French, Spanish,
// Portuguese, Chinese, Japanese, and Korean. A question is no rule.
func IsRule(text string) bool {
	if text == leftOutMark || isQuestion(text) {
		return false
	}
	if strings.IndexFunc(text, isRunRune) >= 0 {
		for _, mark := range ruleMarks() {
			if strings.Contains(text, mark) {
				return true
			}
		}
	}

	s := sentence{text: text, words: splitWords(text, nil)}
	markDoubts(s.words)
	if states(&s) && constraints.find(&s, people) != nil {
		return true
	}
	var line strings.Builder
	for i := range s.words {
		line.WriteString(" " + s.words[i].text)
		if s.rulesAt(i) {
			return true
		}
	}
	line.WriteString(" ")
	for _, phrase := range paddedPhrases() {
		if strings.Contains(line.String(), phrase) {
			return true
		}
	}
	return false
}

// rulesAt reports whether word i makes its clause a rule: a word like "never" in an order or in a
// clause about something that it names, or a negated order ("don't …", "ne …", "não …").
func (s *sentence) rulesAt(i int) bool {
	words, w := s.words, s.words[i].text
	begins := clauseStart(words, i)
	if ruleWords.has(w) {
		return (begins || !spoken(words, i)) && startRulesIdle.at(words, i) == 0
	}
	if !begins || i+1 == len(words) {
		return false
	}

	next := words[i+1].text
	switch {
	case w == "don't" || w == "dont" || w == "do" && next == "not":
		return startRulesIdle.at(words, i) == 0
	case w == "ne" || strings.HasPrefix(w, "n'") || w == "kein" || w == "keine" || w == "keinen":
		return true
	}
	return romanceNots.has(w) && !noRules.has(next) && s.inRomance()
}

// inRomance reports whether a sentence has an article or a preposition of Spanish or Portuguese.
func (s *sentence) inRomance() bool {
	for i := range s.words {
		if romance.has(s.words[i].text) {
			return true
		}
	}
	return false
}

// Rules returns the parts that IsRule accepts, in order.
func Rules(parts []string) (rules []string) {
	for _, part := range parts {
		if IsRule(part) {
			rules = append(rules, part)
		}
	}
	return rules
}
