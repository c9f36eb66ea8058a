package notes

import (
	"slices"
	"strings"

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
		found := Finding{Kind: FoundReply, Text: compress.Clip(r.String(), maxStated), Key: content(words, true), Value: content(splitWords(r.Answer, nil), true)}
		if f.consented(words, r) {
			found.State = proposedAct
		}
		gone := r.Passed
		answer := splitWords(r.Answer, nil)
		if i, n := ruledOut.in(answer); i >= 0 {
			gone = append(slices.Clip(gone), r.Answer[answer[min(i+n, len(answer))-1].to:])
		}
		for _, passed := range gone {
			if key := content(splitWords(passed, nil), true); key != "" {
				found.Not += key + ";"
			}
		}
		f.out = append(f.out, found)
		g := finder{role: people, stated: -1}
		prose(r.Answer, g.say, func(string, bool) {})
		for _, fact := range g.out {
			if fact.Kind == FoundFact || fact.Kind == FoundUndo {
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

// reply adds a reply of the user. A choice replaces an earlier reply to the same question, and also
// decisions for the options that the user did not choose.
func (n *State) reply(f *Finding, r *adding) {
	n.replies = append(last(n.replies, maxReplies-1), Replied{r.at, f.Text})
	if f.State == proposedAct {
		return
	}
	n.decisions = slices.DeleteFunc(n.decisions, func(old decisionRow) bool {
		if old.question != "" && old.question == f.Key {
			return true
		}
		return slices.ContainsFunc(strings.Split(f.Not, ";"), func(gone string) bool {
			both, _ := overlap(gone, old.key.words)
			about, _ := overlap(f.Key, old.key.words)
			return gone != "" && both == countWords(gone) && (both > 1 || about > 0)
		})
	})
	n.decide(decisionRow{DecisionRow: ctxabi.DecisionRow{ID: r.id("d"), Decision: f.Text, Source: r.at.Source(), By: people}, key: topicOf(f.Key + " " + f.Value), at: r.at, question: f.Key})
}
