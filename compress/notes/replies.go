package notes

import (
	"slices"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
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
		words := splitWords(r.Question, nil)
		found := Finding{Kind: FoundReply, Text: compress.Clip(r.String(), maxStated), Key: content(words, true)}
		if f.consented(words, r) {
			found.State = proposedAct
		}
		f.out = append(f.out, found)
		g := finder{role: people, stated: -1}
		prose(r.Answer, g.say, func(string, bool) {})
		for _, fact := range g.out {
			if fact.Kind == FoundFact {
				f.out = append(f.out, fact)
			}
		}
	}
}

// consented reports whether a reply only permits a single act.
func (f *finder) consented(question []noteWord, r UserAnswer) bool {
	answer := splitWords(r.Answer, nil)
	at := 0
	for at < len(answer) && (answer[at].mark || yeses.at(answer, at) > 0) {
		at++
	}
	if proposesAct(answer, at) && !standing.has(answer) {
		return true
	}
	choice := slices.ContainsFunc(question, func(w noteWord) bool {
		return isOneOf(w.text, "which", "what", "how", "where", "when", "who", "or", "welche", "welcher", "welches", "was", "wie", "wo", "oder")
	})
	if !choice {
		return asksConsent(&sentence{text: r.Question, words: question, question: true})
	}
	i, n := mayI.in(question)
	return i >= 0 && proposesAct(question, i+n)
}

// reply adds a reply of the user. Unless it only permits a single act, it is a decision.
func (n *State) reply(f *Finding, r *adding) {
	n.replies = append(last(n.replies, maxReplies-1), Replied{r.at, f.Text})
	said := Statement{Text: f.Text, Part: r.replies}
	if r.replies++; f.State != proposedAct {
		said.Question = f.Key
		n.decide(decisionRow{DecisionRow: ctxabi.DecisionRow{ID: r.id("d"), Decision: f.Text, Source: r.at.Source(), By: people}, at: r.at, said: f.Text})
	}
	r.said = append(r.said, said)
}
