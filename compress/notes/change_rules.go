package notes

import (
	_ "embed" // changes.txt
	"slices"
	"strings"
	"sync"
)

// changeEffect is what a sentence does to the statement that it changes.
type changeEffect uint8

const (
	replaces  changeEffect = iota // it ends a statement that is no ban
	revokes                       // it ends any statement
	lifts                         // it ends a ban
	takesBack                     // it ends the statement before it
	returns                       // it ends what took the place of an earlier choice
)

// changeRule is one way to change a statement. says lists phrases, separated by semicolons, in
// which X stands for what no longer holds, ^ for the beginning of a clause, and ~ for any word.
type changeRule struct {
	name, language string
	says           string
	effect         changeEffect
	noun           bool   // X ends at a preposition
	whole          bool   // X is the clause without the phrase
	marked         bool   // the clause has a word such as "now" or "again"
	was, now       string // example: now changes was
	kept, idle     string // counterexample: idle resembles a change of kept
}

// changesFile holds the rules; its head explains the form.
//
//go:embed changes.txt
var changesFile string

var effects = map[string]changeEffect{
	"replaces": replaces, "revokes": revokes, "lifts": lifts, "takesBack": takesBack, "returns": returns,
}

// changeRules returns the rules of changesFile, in their order.
var changeRules = sync.OnceValue(func() (rules []changeRule) {
	for paragraph := range strings.SplitSeq(changesFile, "\n\n") {
		lines := strings.Split(strings.TrimSpace(paragraph), "\n")
		name, rest, ok := strings.Cut(strings.TrimPrefix(lines[0], "["), "] ")
		if !ok || len(lines) != 4 {
			continue
		}

		options := strings.Fields(rest)
		r := changeRule{name: name, language: options[0], says: lines[1]}
		for _, option := range options[1:] {
			r.effect = max(r.effect, effects[option])
		}
		has := func(option string) bool { return slices.Contains(options, option) }
		r.noun, r.whole, r.marked = has("noun"), has("whole"), has("marked")
		r.was, r.now, _ = strings.Cut(strings.TrimPrefix(lines[2], "+ "), " / ")
		r.kept, r.idle, _ = strings.Cut(strings.TrimPrefix(lines[3], "- "), " / ")
		rules = append(rules, r)
	}
	return rules
})

// scopeWords begin the phrase that says where or when something holds, by language.
var scopeWords = map[string][]string{
	"en": {"for", "in", "on", "at", "under", "below", "during", "within", "outside"},
	"de": {"für", "in", "im", "auf", "bei", "beim", "während", "unter", "am"},
	"es": {"para", "en", "durante"},
	"fr": {"pour", "dans", "pendant", "chez", "durant"},
	"pt": {"para", "em", "na", "no", "durante"},
}

var (
	changeIdle    = wordSet("changeIdle")
	changeVerbs   = stemSet("changeVerbs")
	changeMarks   = wordSet("changeMarks")
	negations     = wordSet("negations")
	bare          = stemSet("bare")
	clauseBreaks  = wordSet("clauseBreaks")
	conditionally = wordSet("conditionally")
	pointers      = wordSet("pointers")
)

// changePhrase is one phrase of a rule.
type changePhrase struct {
	rule   *changeRule
	begins bool       // where a clause begins
	pre    [][]string // of each word its alternatives; see changeRule
	object bool       // it has an X
	post   [][]string
}

// changePhrases are those of all rules, in their order.
var changePhrases = sync.OnceValue(func() (all []changePhrase) {
	rules := changeRules()
	for i := range rules {
		if rules[i].language == runs {
			continue
		}
		for says := range strings.SplitSeq(rules[i].says, "; ") {
			p := changePhrase{rule: &rules[i]}
			says, p.begins = strings.CutPrefix(says, "^")
			pre, post, object := strings.Cut(says, "X")
			p.pre, p.object, p.post = alternatives(pre), object, alternatives(post)
			all = append(all, p)
		}
	}
	return all
})

// alternatives returns the words of a phrase, of each its alternatives.
func alternatives(phrase string) (words [][]string) {
	for word := range strings.FieldsSeq(phrase) {
		words = append(words, strings.Split(word, "|"))
	}
	return words
}

// phraseAt returns how many words a phrase takes at word i; 0 if it does not begin there.
func phraseAt(phrase [][]string, w []noteWord, i int) int {
	if len(phrase) == 0 || i+len(phrase) > len(w) {
		return 0
	}
	for k, want := range phrase {
		if got := &w[i+k]; !slices.Contains(want, got.text) && (want[0] != "~" || got.mark) {
			return 0
		}
	}
	return len(phrase)
}

// find returns the words that a phrase takes, from word at to word end, and those of X.
func (p *changePhrase) find(w []noteWord) (at, end, from, to int, ok bool) {
	for at = range w {
		if w[at].doubt {
			continue
		}
		switch n := phraseAt(p.pre, w, at); {
		case len(p.pre) == 0 && clauseStart(w, at):
			from = at
		case n > 0 && (!p.begins || clauseStart(w, at)):
			from = at + n
		default:
			continue
		}
		for to = from; p.object && to < len(w) && !w[to].mark && phraseAt(p.post, w, to) == 0; to++ {
			scope := p.rule.noun && to > from && slices.Contains(scopeWords[p.rule.language], w[to].text)
			if len(p.post) == 0 && (scope || clauseBreaks.has(w[to].text)) {
				break
			}
		}
		end = to + phraseAt(p.post, w, to)
		if len(p.post) == 0 || end > to {
			return at, end, from, to, !p.object || to > from
		}
	}
	return 0, 0, 0, 0, false
}

// changeIn returns the change that a sentence asks for, or nil. before and next are the sentences
// around it in the same message. Questions, conditions, reports, and exceptions ask for none.
func changeIn(text, before, next string) *changing {
	if ch := changeInRuns(text); ch != nil {
		return ch
	}
	w := splitWords(text, nil)
	if mayNotChange(w) || limitsIt(splitWords(next, nil)) || isQuestion(text) {
		return nil
	}
	markDoubts(w)
	phrases := changePhrases()
	for i := range phrases {
		p := &phrases[i]
		at, end, from, to, ok := p.find(w)
		if !ok || strings.Count(text[:w[max(at, end-1)].to], `"`)%2 == 1 {
			continue
		}
		if ch := p.changing(w, at, end, from, to); ch != nil {
			ch.beside = append(ch.beside, tokensOf(before)...)
			return ch
		}
	}
	return nil
}

// mayNotChange reports whether a sentence is a question, a condition, a guess, or an exception.
func mayNotChange(w []noteWord) bool {
	return len(w) == 0 || unsaid.has(w) || asksBack(w) || onces.has(w) || limits.has(w) ||
		slices.ContainsFunc(w, func(w noteWord) bool { return conditionally.has(w.text) })
}

// changing returns the change that a phrase asks for; nil if it names nothing.
func (p *changePhrase) changing(w []noteWord, at, end, from, to int) *changing {
	start, stop := at, end
	for start > 0 && !w[start-1].mark {
		start--
	}
	for stop < len(w) && !w[stop].mark {
		stop++
	}
	if p.rule.marked && !slices.ContainsFunc(w[start:stop], func(w noteWord) bool { return changeMarks.has(w.text) }) {
		return nil
	}
	if p.object && slices.ContainsFunc(w[from:to], func(w noteWord) bool { return negations.has(w.text) }) {
		return nil
	}

	ch := &changing{rule: p.rule, object: tokensIn(w[from:to])}
	outside := append(slices.Clone(w[:at]), w[end:]...)
	if p.rule.whole {
		ch.object = append(tokensIn(w[start:at]), tokensIn(w[end:stop])...)
		if len(p.pre) > 2 { // the word between "ne" and "plus"
			ch.object = append(ch.object, tokensIn(w[at+1:at+2])...)
		}
		outside = append(slices.Clone(w[:start]), w[stop:]...)
	} else if !slices.ContainsFunc(ch.object, func(t token) bool { return !bare.has(t.stem) }) { // "X is no longer needed"
		ch.object = tokensIn(w[start:at])
	}
	if len(ch.object) == 0 && p.rule.effect != takesBack {
		return nil
	}
	ch.beside = tokensIn(outside)
	if !p.rule.whole {
		ok := ch.readScopes(w[:at]) && ch.readScopes(w[end:stop])
		if !ok {
			return nil
		}
	}
	return ch
}

// readScopes reads the phrases that say where or when the change holds. It returns false if one
// names nothing that an earlier statement could name: "for this file", "for her".
func (ch *changing) readScopes(w []noteWord) bool {
	words := scopeWords[ch.rule.language]
	for i := range w {
		if !slices.Contains(words, w[i].text) {
			continue
		}
		end := i + 1
		for end < len(w) && !w[end].mark && !slices.Contains(words, w[end].text) && !clauseBreaks.has(w[end].text) {
			end++
		}
		scope := tokensIn(w[i+1 : end])
		if len(scope) == 0 || pointers.has(w[i+1].text) {
			return false
		}
		ch.scopes = append(ch.scopes, scope)
	}
	return true
}
