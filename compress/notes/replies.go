package notes

import (
	"slices"

	"github.com/ctxfs/ctxfs/compress"
)

// UserAnswer is the user's answer to one question of a program's own question tool.
type UserAnswer struct {
	Question, Answer string   // one line each
	Passed           []string // the options that the user did not choose
}

// Replied is a reply and its position in the history.
type Replied struct {
	At   Position
	Text string
}

// maxReplies is the number of replies that a State keeps, newest first.
const maxReplies = 512

// String formats the reply on one line: "Which tier? → Free tier".
func (r UserAnswer) String() string { return r.Question + " → " + r.Answer }

// replied notes each reply of the user, the choice it makes, and the facts it states.
func (f *finder) replied(replies []UserAnswer) {
	for _, r := range replies[:min(len(replies), maxProposals)] {
		question := splitWords(r.Question, nil)
		found := Finding{Kind: FoundReply, Text: compress.Clip(r.String(), maxStatement), Key: ItemKey(r.Question)}
		if isConsent(question, splitWords(r.Answer, nil)) {
			found.State = proposedAct
		}
		f.out = append(f.out, found)
		g := newFinder(people)
		g.read(sentencesOf(r.Answer))
		f.out = append(f.out, slices.DeleteFunc(g.out, func(fact Finding) bool { return fact.Kind != FoundFact })...)
	}
}

var whichWords = wordSet("whichWords")

// isConsent reports whether an answer only permits a single act.
func isConsent(question, answer []noteWord) bool {
	at := 0
	for at < len(answer) && (answer[at].mark || yeses.at(answer, at) > 0) {
		at++
	}
	which := slices.ContainsFunc(question, func(w noteWord) bool { return whichWords.has(w.text) })
	switch {
	case acts.at(answer, at) > 0:
		return !isChoice(answer, false)
	case which:
		return mayI.has(question) && acts.has(question) || acts.has(question) && !isChoice(question, true)
	}
	yesOrNo := at > 0 || len(answer) > 0 && isOneOf(answer[0].text, "no", "nope", "nein")
	return yesOrNo && !isChoice(question, false)
}

// reply adds a reply of the user. Unless it only permits a single act, it is a decision.
func (n *State) reply(f *Finding, r *adding) {
	n.replies = append(last(n.replies, maxReplies-1), Replied{r.at, f.Text})
	said := Statement{Text: f.Text, Part: r.replies}
	if r.replies++; f.State != proposedAct {
		said.Question = f.Key
		as := adding{at: r.at, role: people, ids: r.ids}
		n.addRow(&as, &Finding{Kind: FoundDecision, Text: f.Text}, "")
		r.ids = as.ids
	}
	r.said = append(r.said, said)
}
