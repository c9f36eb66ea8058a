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
var unsaid = phraseSet(`suppose, supposing, imagine, assuming, what if, let's say, i wonder, wondering, not sure, unsure, i think, i thought, i doubt, i guess, i assume, i believe, maybe, perhaps,
	probably, seems, seem, apparently, presumably, just asking, used to, in the old, old version, back then, previously, formerly,
	is it true, whether, if we|i|you|they used|were|had|took|went|switched|chose|wanted|could|would|did, as if, for example, e.g, for instance, would have, would've, could have, should have, should've,
	vielleicht, wahrscheinlich, angeblich, falls, ob, wäre, hätte, würde, würden, wenn wir|ich|man, früher`)

// Words before what a rule looks for, with which it is not said either.
var unsaidBefore = phraseSet(`would, could, might, why, when, how, what, if, because, since, unless, was, were, did, didn't, wasn't, tried, trying, looks, means, wonder, asked, asking, says, said, shows, showed,
	he|she|they|it said|says|say|thinks|think|claims|told, colleague|boss|someone|somebody|doc|docs|documentation|readme|manual|log|logs|error|message|output|article|tutorial|comment thinks|says|said|claims|states`)

// Words after which a clause begins.
var leads = phraseSet(`please, pls, plz, and, but, so, also, then, just, ok, okay, now, remember, note, btw, careful, important, important!, thus, hence, bitte, aber, und, also:, well, yes, no, nice, thanks, actually, really, again, that, freely`)

var (
	startRules = phraseSet(`never ~, always ~, do not ~, don't ~, dont ~, do never ~, under no circumstances, whatever you do, from now on, make sure ~, be sure to, ensure ~, avoid ~, stay below|under|within|above|away|out|off,
		no ~ without, no new, no more than, never ever, niemals ~, nie ~, auf keinen fall, ab jetzt, stets ~, limit ~ to, limit ~ ~ to, refrain from, stop ~`)
	idle = phraseSet(`never mind, never said|heard|saw|had|got|knew|works|worked|seen|happened|did|the|a, don't|dont|not worry|know|bother|forget|hesitate|think|mind|panic|understand|see|get|you|care|want|need|have|believe|like|feel|remember|wait|be,
		do not worry|know|bother|forget|hesitate|think|mind|panic|understand|see|get|want|need|have|believe|feel|remember, always the|a|there, always been, stop it|here|there|that|this, make sure to understand, no new ones, ensure that|the|a|you understand, avoid it|this|that, limit it`)
	firmRules = phraseSet(`must not, mustn't, must never, must always, must only, may only, may never, may not, should never, should always, should only, should not, shouldn't, shall not, shall never, shall always, shall only,
		is|are|am|'m|isn't|aren't not allowed|permitted|supposed, i'm|we're|you're not allowed|permitted, isn't|aren't allowed|permitted, not allowed to, is|are forbidden|prohibited|disallowed|frozen|mandatory|off-limits, is|are off limits, is|are strictly forbidden|prohibited,
		has|have|needs|need to be|stay|work|go|come|use|match|support|run|return|remain|pass|fit|keep|include|contain|have|happen|live|end|start|follow|build|compile|survive|finish|arrive|leave, needs|need a|an,
		cannot|can't exceed|use|change|ship|break|add|upgrade|touch|share|store|modify|drop|rename|afford, can not exceed|use|change|ship|break|add|touch|share|store|modify,
		cannot|can't have|take|be more|less|longer|later|earlier|fewer, cannot|can't be changed|modified|touched|renamed|removed|moved|upgraded|shared|later|earlier|longer|more|less, may under no,
		darf|dürfen nicht, darf|dürfen kein|keine|keinen|nur, muss|müssen ~, soll|sollen nie|immer|niemals`)
	shoulds     = phraseSet(`should be|stay|remain|return|use|have|look|show|contain|match|follow|support|accept|run|live|go|include|default|start|end|keep|take|give|work|fit|come|print|exit|point, needs to be|stay, sollte ~, sollten ~`)
	shouldsIdle = phraseSet(`should be that|this|it|so|fine|ok|okay|good|enough|possible|easy|able|there|done|ready|working|fixed|green|all|here|trivial|simple|interesting|obvious|clear|faster|right|in|back|live|up|visible|a|an|about|around, should work|look|go fine|ok|okay|good|now|again|well|for, should have been|a|an|done|seen|known|said|told, should look at|into|like, should go ahead|away|to|through|back, should use it|this|that, should start|run|end|keep|take|come ~ing, should show up, should give|take it|you|us|me, should come back|up`)
	noThing     = phraseSet(`no ~`)
	noIdle      = phraseSet(`no idea|problem|problems|worries|need|rush|luck|thanks|change|changes|error|errors|difference|clue|way|hurry|it|that|this|the|i|you|we|don't|dont|longer|more|one|wait|doubt|matter|wonder|good|not|but|please|just|because|sorry|effect|output|result|news|hm|hmm|stop|leave|keep|use|undo|revert|now|no|there|they|he|she|what|why|how|go|yes|sir|sense|reason|reply|response|big|deal|questions|comment|comments|luck`)
	plainMust   = phraseSet(`must ~`)
	allOf       = phraseSet(`every, each, all, any, jede, jeder, jedes, alle`)
	allMust     = phraseSet(`needs, need, must, has to, have to, should, requires, require, shall, muss, müssen, soll, sollen`)
	noneOf      = phraseSet(`nothing, nobody, none, no one, only, nur, niemand`)
	noneMay     = phraseSet(`should, may, can, must, shall, is|are allowed, darf, dürfen, gets to`)
	approvals   = phraseSet(`requires|require|needs|need ~ approval|review|permission|confirmation|sign-off|signoff|consent, requires|require|needs|need approval|review|permission|confirmation|sign-off, requires|require|needs a|an ~`)
	leaves      = phraseSet(`leave ~, keep ~`)
	alone       = phraseSet(`alone, untouched, unchanged, as is, as they are, in sync, intact, out of, short, small, brief, concise, simple, minimal, below, under, compatible, stable, private, secret, readable, consistent, sorted, up to date, ascii, to one, to a`)
	vague       = phraseSet(`leave|keep it|this|that|going|in|on|trying|up|looking, keep us|me posted|updated`)
	allows      = phraseSet(`you|we can|may, it's|it is ok|okay|fine|allowed to, feel free to, no need to, you|we don't have|need to, you|we are allowed to, you're|we're allowed to, is|are allowed|fine|ok now|again, no longer needed|required|necessary|forbidden`)
	againNow    = phraseSet(`again, after all, anymore, any more, no longer`)
	things      = phraseSet(`it, this, that, them, these, those`)
	weak        = phraseSet(`it, this, that, there, they, he, she, which, what, something, someone, somebody, who, here`)
)

var (
	tastes = phraseSet(`i prefer, i'd prefer, i would prefer, i'd rather, i would rather, we prefer, we'd rather, i like ~ better, i like ~ ~ better, i like ~ ~ ~ better, i like ~ ~ ~ ~ better, i like ~ much better, i like ~ ~ much better, i like ~ ~ ~ much better, my preference is, i don't like, i do not like, i hate, i dislike,
		i want ~ ~, i'd like all|every|the|to|my|it, i would like all|every|my|the|to, i always ~, we always ~, we never ~, i never ~, we use ~, we're using ~, we are using ~, we write ~, we follow ~, we deploy ~, we run ~, we wrap ~, we name ~, we keep ~, we store ~, we stick to, we work with, we test ~, we build ~, we format ~, we log ~, we ship ~, we host ~, we release ~, we pin ~,
		we don't use, we do not use, we no longer use, we switched to, we moved to, we migrated to, we have switched to, we've switched to, we've moved to, i use ~,
		our team uses|follows|prefers|writes, my team uses|follows|prefers|writes, the team uses|follows|prefers, call me ~, my name is, i am|i'm vegetarian|vegan|allergic|diabetic|based|left-handed|colorblind, i live in, i work at|for|as, i speak ~,
		ich bevorzuge, ich möchte lieber, wir verwenden, wir benutzen, wir nutzen, mir ist lieber, ich mag keine`)
	tasteStarts = phraseSet(`use ~, prefer ~, answer ~, reply ~, respond ~, write ~, format ~, stick to, stick with, name ~`)
	tasteFor    = phraseSet(`not, instead of, rather than, over, from now on, everywhere, for all, for every, in all, in every, always, in german|english|french|spanish|italian|japanese|chinese|portuguese, whenever, by default`)
	tasteIdle   = phraseSet(`i like|hate|prefer|want it|that|this|the|how|your|you|what, i want you|to|this|that|it, i'd like the|to, i would like the|to, i never|always ~ed, i never said|heard|saw|had|got|knew|meant|asked|did|wanted|thought|tried|used|received|made|told,
		we use it|that|this|the, we run it|that|this|the|into|out, we keep getting|seeing|having|running|it|the, i use it|that|this|the, we store it|this|that|the, we need, we test it|this|the|that, we build it|this|the|that, we log it|this|the, we write it|this|the, we name it|this, we host it|this, we ship it|this, we follow that|this|it|up, we always had|have|been|were|get|got, we never had|have|been|were|got|did|get, i always|never get|have|see|end|feel|am|was|thought|forget|knew`)
	noLonger = phraseSet(`no longer, don't use, do not use, not use, stopped using, moved away from, moved off, dropped`)
	ruledOut = phraseSet(`not, instead of, rather than, over, no longer use, no longer uses, from`)
)

// Sets without which a sentence is no rule, and no preference.
var (
	ruleSets  = anyOf(startRules, allOf, noneOf, leaves, firmRules, noThing, shoulds, plainMust, approvals)
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
			if startRules.at(w, i) > 0 && idle.at(w, i) == 0 {
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
			if leaves.at(w, i) > 0 && vague.at(w, i) == 0 && alone.has(w[i+1:]) {
				return true
			}
		}
		if i > 0 && leaves.at(w, i) > 0 && w[i-1].text == "to" && alone.has(w[i+1:]) && vague.at(w, i) == 0 {
			return true // I want you to leave … alone
		}
		if n := firmRules.at(w, i); n > 0 && i > 0 {
			from := subjectOf(w, i)
			limit := strings.HasPrefix(w[i].text, "ha") || strings.HasPrefix(w[i].text, "need") || strings.HasPrefix(w[i].text, "can") || strings.HasPrefix(w[i].text, "must") && w[i].text == "must"
			switch {
			case from == i:
			case weak.at(w, from) > 0 && !(limit && w[from].text == "it"):
			case (w[from].text == "i" || w[from].text == "we" || w[from].text == "you") && (strings.HasPrefix(w[i].text, "ha") || strings.HasPrefix(w[i].text, "need")):
			default:
				return true
			}
		}
		if plainMust.at(w, i) > 0 && i > 0 {
			from := subjectOf(w, i)
			if from < i && !spoken(w, i) && w[i-1].text != "there" && w[i-1].text != "it" {
				return true
			}
		}
		if shoulds.at(w, i) > 0 && shouldsIdle.at(w, i) == 0 && i > 0 && !spoken(w, i) && !isPerson(w[subjectOf(w, i)].text) && content(w[subjectOf(w, i):i], true) != "" {
			return true
		}
		if noThing.at(w, i) > 0 && noIdle.at(w, i) == 0 && clauseStart(w, i) && isBan(s, i) {
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
	return from == i || weak.at(w, from) > 0 || w[from].text == "i" || w[from].text == "i'm" || w[from].text == "we"
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
		if tastes.at(w, i) > 0 && (clauseStart(w, i) || i < 3) && tasteIdle.at(w, i) == 0 {
			return i
		}
		if tasteStarts.at(w, i) > 0 && clauseStart(w, i) && i+1 < len(w) && weak.at(w, i+1) == 0 {
			if at, _ := tasteFor.in(w[i+1:]); at >= 0 {
				return i
			}
		}
	}
	return -1
}
