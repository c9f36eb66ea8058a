package notes

import "strings"

var (
	chooses     = phraseSet("chooses")
	choosesIdle = phraseSet("choosesIdle")
	decisionKey = phraseSet("decisionKey")
	settles     = phraseSet("settles")
	instead     = phraseSet("instead")
	will        = phraseSet("will")

	proposes     = phraseSet("proposes")
	proposesIdle = phraseSet("proposesIdle")
	bareAsk      = phraseSet("bareAsk")
	conditions   = phraseSet("conditions")
)

// choices are the ways to state a decision.
var choices = newRules(
	rule{
		name: "a label", by: anybody, sets: anyOf(decisionKey),
		holds: func(s *sentence, i int) bool {
			end := i + decisionKey.at(s.words, i)
			return decides(s, i) && end > i && end < len(s.words) && s.words[end].text == ":"
		},
		example: "Decision: retries are done by the client", idle: "The decision: who knows?",
	},
	rule{
		name: "a choice", by: people, sets: anyOf(chooses),
		holds: func(s *sentence, i int) bool {
			w := s.words
			acts := isOneOf(w[i].text, "let's", "lets", "go") && proposesAct(w, i+1)
			return decides(s, i) && chooses.at(w, i) > 0 && choosesIdle.at(w, i) == 0 && !acts
		},
		example: "let's use zap for logging", idle: "let's go through the logs once more",
	},
	rule{
		name: "a model settles it", by: models, sets: anyOf(settles),
		holds: func(s *sentence, i int) bool {
			return decides(s, i) && settles.at(s.words, i) > 0 && choosesIdle.at(s.words, i) == 0
		},
		example: "I went with a heap for the queue.", idle: "I decided for that; tell me if you disagree.",
	},
	rule{
		name: "a model's way", by: models, sets: anyOf(will),
		holds: func(s *sentence, i int) bool {
			n := will.at(s.words, i)
			return decides(s, i) && n > 0 && instead.has(s.words[i+n:]) && isWay(s.words[i:])
		},
		example: "I'll use a heap instead of a sort because it is bounded.", idle: "I'll look at the caller instead of the test.",
	},
)

// decision returns what a sentence chooses; ok is false if it chooses nothing.
func (f *finder) decision(s *sentence) (found Finding, ok bool) {
	if s.question || len(s.words) < 3 || !s.hasAny(choices.sets) || unsaid.has(s.words) || asksBack(s.words) {
		return found, false
	}
	found = Finding{Kind: FoundDecision, Text: s.text, Key: content(s.words, true)}
	if !strings.Contains(found.Key, " ") && (f.role == models || found.Key == "") {
		return found, false
	}
	return found, choices.find(s, f.role) != nil
}

// decides reports whether what is said at word i is said by the speaker: a clause begins there, or
// the subject of the sentence stands before it once more.
func decides(s *sentence, i int) bool {
	return clauseStart(s.words, i) || i > 1 && s.words[i-1].text == s.words[0].text
}

// isWay reports whether "I'll … instead" is about a way to do something, not about the next step.
func isWay(words []noteWord) bool {
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

// proposal returns what a sentence of the assistant proposes; ok is false if it proposes nothing.
func (f *finder) proposal(s *sentence) (found Finding, ok bool) {
	w := s.words
	found = Finding{Kind: FoundProposal, Text: s.text, Key: s.label}
	if s.label != "" && (s.item || s.led || len(s.label) == 1) {
		if proposesAct(w, 0) && !standing.has(w) {
			found.State = proposedAct
		}
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
		if len(rest) < 2 && bareAsk.has(rest) || content(rest, true) == "" {
			return found, false
		}
		if n := bareAsk.at(rest, 0); n > 0 && content(rest[n:], true) == "" {
			found.State = proposedBare
		} else if asksConsent(s) {
			found.State = proposedAct
		}
		return found, true
	}
	found.State = proposedAct
	return found, asksConsent(s) && (s.question || goAhead.has(w))
}

// proposedBare is the state of a proposal that names nothing itself: "Shall I proceed?"
const proposedBare = "b"
