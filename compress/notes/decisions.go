package notes

import "strings"

var (
	// What people say who choose.
	chooses = phraseSet(`i'd like to go with ~, i would like to go with ~, i'd|i would like to proceed|continue with ~, i'd like to choose|take|pick ~, i want to go with ~, let's|lets proceed|continue with ~, please proceed with|to ~, please go ahead and|with ~, let's|lets use|take|go|do|stick|keep|drop|switch|stay|choose|pick|make|have|ship|move|call|store|write|skip|remove|replace|split|put, we'll go|use|take|keep|stick|stay, we will go|use|take|keep|stick|stay, i'll take, i'll go with, i will take, i will go with,
		go with ~, go for ~, stay with ~, stick with ~, stick to ~, we stay with, we stick with|to, we keep ~, we go with|for, we're going with|to, we are going with|to, going with ~, i've decided, i have decided, i decided, we've decided, we have decided, we decided, decided to, we agreed, we've agreed, decision is, the decision, my decision,
		i choose, i chose, i pick, i picked, i'd say we, i say we, final answer, instead of ~ let's|we|use|take, scrap the, drop the ~ approach|idea|plan, use ~ instead, use ~ then, use ~ for, take ~ then, take the ~, we do ~ instead, use ~ and not, use ~ not, i'm going with, i am going with, i'm going to take|use,
		wir nehmen, lass uns, wir bleiben bei, ich habe mich für, wir haben entschieden, wir machen ~, nimm ~`)
	choosesIdle = phraseSet(`let's|lets go through|over|back|on|ahead|deeper|step, let's|lets do it|this|that, let's|lets have a, let's|lets make sure|it, let's|lets take a, let's|lets keep going|it|in, let's|lets move on|to, let's|lets put it|this|that, let's|lets write a|the|tests, let's|lets use the tool|search|command|following, let's|lets call it, let's|lets skip it|that|this, i decided that it, i decided for that|it|this, i decided on that|it|this, go for it|that, go with it|that|this, go with the flow, use it|this|that then|for|instead, take it|this|that|a, take the time|following|first|example|last|next|time, take the ~ example, we keep getting|seeing|having|running|it, we'll use it|this|that|the, we'll take a|it|this, we're|are going to need|have|be|see|get, let's|lets split it|this|that, let's|lets remove it|this|that, let's|lets replace it|this|that, let's|lets switch gears|back, let's|lets drop it|this|that, let's|lets store it|this|that, let's|lets use it|this|that, i choose to believe, let's|lets stick to it`)
	decisionKey = phraseSet(`decision, decided, final answer, entscheidung, agreed, resolution, resolved`)
	// What models say who choose by themselves.
	settles = phraseSet(`i decided to|that|on|against, i've decided, i have decided, i decided, i chose ~, i've chosen, i have chosen, i'm going with, i am going with, i'll go with, i will go with, i went with, i opted for|to, i picked, we decided to, i'll stick with|to, i will stick with|to`)
	instead = phraseSet(`instead of, rather than, instead, over`)
	will    = phraseSet(`i'll ~, i will ~, i'm using, i am using, i use ~, i used ~, i replaced ~`)
	// What models say who propose.
	proposes = phraseSet(`i suggest, i'd suggest, i would suggest, i propose, i'd propose, i would propose, i recommend, i'd recommend, i would recommend, my suggestion, my proposal, my recommendation, proposal is, proposal:, suggestion:, recommendation:, suggestion, recommendation, proposal, recommended approach, shall i|we, should i|we, do you want me to, would you like me to, do you want to, would you like to, want me to, please confirm|approve, can you confirm, could you confirm, how about, what about, we could, i could, alternatively, one option, the best option, better option, let's|lets use|go|keep|switch|choose|pick|store|stick|put ~, shall this, may i, if you agree, if you like,
		soll ich, sollen wir, ich schlage vor, ich empfehle, möchten sie, möchtest du, ich würde vorschlagen, wir könnten`)
	proposesIdle = phraseSet(`can i help, i can see|help|assist|confirm|find|now|also|only|not, we can see, how can i, what about you, i could not, i could see|find, we could see|not, should we see, if you like it`)
	bareAsk      = phraseSet(`proceed, continue, go ahead, go on, confirm, sound good, do that, do this, do it, fortfahren, weiter, anything else, help, make any`)
	asksWhich    = phraseSet(`let me know which|what|if|how, tell me which, please confirm|choose|pick|select`) // without a question mark
	// With these a sentence asks for something else, or says when it would be.
	conditions = phraseSet(`if, once, could you, can you, please, after, when, unless, wenn, sobald`)
	// Yes.
	yeses = phraseSet(`yes, yep, yeah, yup, sure, ok, okay, agreed, agree, approved, lgtm, perfect, great, go ahead, go for it, do it, do that, please do, sounds good, sounds great, sounds right, sounds perfect, sounds reasonable, make it so, absolutely, definitely, of course, right, correct, fine, fine with me, works for me, that works, i agree, i like it, i like that, good idea, great idea, good plan, nice idea, good, excellent, exactly, please proceed, proceed, please go ahead, let's do it|that, lets do it|that, yes please, alright, all right, cool, ship it, confirmed, i confirm, ja, jo, gerne, einverstanden, passt, genau, klar, mach das, ok mach, in ordnung`)
	noes  = phraseSet(`no, nope, not, don't, dont, do not, wait, hold on, hmm, but, however, instead, actually, rather, stop, except, unless, without, before, first, why, what, how, which, nein, nicht, aber, warte, moment, never, later, thanks, thank, nothing, that's all`)
	// Which option.
	choosing = phraseSet(`i'd like to go with, i would like to go with, i want to go with, i'd like, i would like, i'll go with, i will go with, let's go with, lets go with, i'll take, i will take, i choose, i prefer, i'd prefer, yes, please`)
	takes    = phraseSet(`option ~, variant ~, approach ~, alternative ~, number ~, the first, the second, the third, the last, go with ~, take ~, let's do ~, do ~, choose ~, i choose ~, use ~`)
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
