package notes

import "strings"

// What a fact is: the State of a finding.
const (
	factRule   = "c" // a constraint
	factTaste  = "p" // a preference, a way of working
	factValue  = "v" // a value that stays
	factAllows = "a" // a permission
)

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

	tastes      = phraseSet("tastes")
	tasteStarts = phraseSet("tasteStarts")
	tasteFor    = phraseSet("tasteFor")
	tastesIdle  = phraseSet("tastesIdle")
)

// constraints are the ways to state what must, must not or may be done. Sentences of the assistant
// say what it does and expects.
var constraints = newRules(
	rule{
		name: "an order", by: people, sets: anyOf(startRules),
		holds: func(s *sentence, i int) bool {
			return clauseStart(s.words, i) && startRules.at(s.words, i) > 0 && startRulesIdle.at(s.words, i) == 0
		},
		example: "Thanks, and please don't touch the files in gen/.", idle: "don't worry about the files in gen/",
	},
	rule{
		name: "all of something must", by: people, sets: anyOf(allOf),
		holds:   func(s *sentence, i int) bool { return reaches(s.words, i, allOf, allMust) },
		example: "All exported functions need a comment.", idle: "all tests in pack pass",
	},
	rule{
		name: "none of something may", by: people, sets: anyOf(noneOf),
		holds:   func(s *sentence, i int) bool { return reaches(s.words, i, noneOf, noneMay) },
		example: "Only Ana may merge.", idle: "only two of them fail",
	},
	rule{
		name: "leave it as it is", by: people, sets: anyOf(leaves),
		holds: func(s *sentence, i int) bool {
			begins := clauseStart(s.words, i) || s.words[i-1].text == "to" // I want you to leave … alone
			return begins && leaves.at(s.words, i) > 0 && leavesIdle.at(s.words, i) == 0 && leftAs.has(s.words[i+1:])
		},
		example: "keep answers short", idle: "keep us posted on short notice",
	},
	rule{
		name: "a thing is bound to", by: people, sets: anyOf(firmRules),
		holds:   func(s *sentence, i int) bool { return i > 0 && firmRules.at(s.words, i) > 0 && binds(s.words, i) },
		example: "The parser must not allocate.", idle: "We need to look at the parser.",
	},
	rule{
		name: "a thing must", by: people, sets: anyOf(musts),
		holds: func(s *sentence, i int) bool {
			w := s.words
			return i > 0 && musts.at(w, i) > 0 && !spoken(w, i) && w[i-1].text != "there" && w[i-1].text != "it"
		},
		example: "Releases must carry a tag.", idle: "it must be the cache",
	},
	rule{
		name: "a thing should", by: people, sets: anyOf(shoulds),
		holds: func(s *sentence, i int) bool {
			w := s.words
			if i == 0 || shoulds.at(w, i) == 0 || shouldsIdle.at(w, i) > 0 || spoken(w, i) {
				return false
			}
			from := subjectOf(w, i)
			return !isPerson(w[from].text) && content(w[from:i], true) != ""
		},
		example: "The parser should return errors by value.", idle: "The parser should work now.",
	},
	rule{
		name: "a ban", by: people, sets: anyOf(bans),
		holds: func(s *sentence, i int) bool {
			return bans.at(s.words, i) > 0 && bansIdle.at(s.words, i) == 0 && clauseStart(s.words, i) && isBan(s, i)
		},
		example: "no console logs! return an error", idle: "no problem at all!",
	},
	rule{
		name: "what needs consent", by: people, sets: anyOf(approvals),
		holds:   func(s *sentence, i int) bool { return i > 0 && approvals.at(s.words, i) > 0 && !spoken(s.words, i) },
		example: "Refunds above 50 euros require a supervisor.", idle: "we need a review",
	},
)

// preferences are the ways to say what somebody prefers, or how they work.
var preferences = newRules(
	rule{
		name: "a preference", by: people, sets: anyOf(tastes),
		holds: func(s *sentence, i int) bool {
			return tastes.at(s.words, i) > 0 && (clauseStart(s.words, i) || i < 3) && tastesIdle.at(s.words, i) == 0
		},
		example: "I prefer small commits", idle: "I like that",
	},
	rule{
		name: "an instruction for good", by: people, sets: anyOf(tasteStarts),
		holds: func(s *sentence, i int) bool {
			w := s.words
			return tasteStarts.at(w, i) > 0 && clauseStart(w, i) && i+1 < len(w) && vague.at(w, i+1) == 0 && tasteFor.has(w[i+1:])
		},
		example: "use tabs, not spaces", idle: "use the second one",
	},
)

// constraint returns what must, must not or may be done, as a person says; ok is false for
// another sentence.
func (f *finder) constraint(s *sentence) (found Finding, ok bool) {
	if constraints.find(s, f.role) == nil {
		return Finding{}, false
	}
	key := content(s.words, true)
	named := strings.Contains(key, " ") || key != "" && len(s.words) > 2 && !things.has(s.words)
	return Finding{Kind: FoundFact, State: factRule, Text: s.text, Key: key}, named
}

// preference returns what somebody prefers, or how they work; ok is false for another sentence.
func (f *finder) preference(s *sentence) (found Finding, ok bool) {
	if preferences.find(s, f.role) == nil {
		return Finding{}, false
	}
	found = Finding{Kind: FoundFact, State: factTaste, Text: s.text, Key: content(s.words, true)}
	return found, found.Key != ""
}

// permission returns what a sentence allows for a while, or again; ok is false for another sentence.
// A permission for one turn is no finding, but ok is true.
func (f *finder) permission(s *sentence) (found Finding, ok bool) {
	if f.role == models || s.question || unsaid.has(s.words) || asksBack(s.words) {
		return Finding{}, false
	}
	at, n := allows.in(s.words)
	if at < 0 || !clauseStart(s.words, at) {
		return Finding{}, false
	}
	key := content(s.words[min(at+n, len(s.words)):], true)
	switch {
	case onces.has(s.words):
		return Finding{}, true
	case !againNow.has(s.words) && !limits.has(s.words):
		return Finding{}, false
	}
	return Finding{Kind: FoundFact, State: factAllows, Text: s.text, Key: key}, strings.Contains(key, " ")
}

// reaches reports whether a clause begins at word i with a phrase of who, and a few words behind
// it in the clause stands one of what that is not about one of us.
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
	limit := duty || strings.HasPrefix(verb, "can") || verb == "must"
	switch {
	case from == i:
		return false
	case vague.at(w, from) > 0:
		return limit && subject == "it"
	}
	return !(isPerson(subject) && duty)
}

// isBan reports whether "no …" at word i is an order: two or three words up to the end of its
// clause, said loudly or with a please.
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
