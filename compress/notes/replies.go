package notes

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// UserAnswer is what a user answered to a question of a program's own question tool.
type UserAnswer struct {
	Question, Answer string   // in one line each
	Passed           []string // the options that were offered and not chosen
}

// String returns the reply in one line: "Which tier? → Free tier".
func (r UserAnswer) String() string { return r.Question + " → " + r.Answer }

// questionTools are the tools with which programs ask their user, by the format of their transcripts, and how each writes
// down the answers.
var questionTools = map[string]struct {
	tool string
	read func(asked []gjson.Result, text string) []string
}{
	"claude-code": {"AskUserQuestion", quotedAnswers},
	"opencode":    {"question", quotedAnswers},
	"codex":       {"request_user_input", listedAnswers},
	"gemini":      {"ask_user", listedAnswers},
}

// AsksUser reports whether a tool of exactly this name is the question tool of the program whose transcripts have a
// format; "" for any of them. A tool of an MCP server never is, whatever the server calls it.
func AsksUser(format, tool string) bool {
	for f, q := range questionTools {
		if q.tool == tool && (format == "" || format == f) {
			return true
		}
	}
	return false
}

// UserAnswers returns what the user answered to a call of the question tool of a format, in the order of the questions.
// Declined, cancelled and secret questions have no reply.
func UserAnswers(format, arguments, text string) (out []UserAnswer) {
	asked := gjson.Get(arguments, "questions").Array()
	if questionTools[format].read == nil || len(asked) == 0 {
		return nil
	}
	answers := questionTools[format].read(asked, strings.TrimSpace(text))
	for i, answer := range answers {
		q := asked[i]
		if answer = oneLine(answer); answer == "" || answer == "Unanswered" || q.Get("isSecret").Bool() {
			continue
		}
		r := UserAnswer{Question: oneLine(q.Get("question").Str), Answer: answer}
		for _, o := range q.Get("options").Array() {
			if label := oneLine(o.Get("label").Str); label != "" && !strings.Contains(answer, label) {
				r.Passed = append(r.Passed, label)
			}
		}
		out = append(out, r)
	}
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

const (
	answeredBegin = "User has answered your questions: "
	answeredEnd   = ". You can now continue"
)

// quotedAnswers reads `User has answered your questions: "Which tier?"="Free tier", …`. An answer goes as far as the next
// question that was asked, so that quotation marks in it do no harm.
func quotedAnswers(asked []gjson.Result, text string) []string {
	text, ok := strings.CutPrefix(text, answeredBegin)
	if end := strings.LastIndex(text, answeredEnd); ok && end >= 0 {
		text = text[:end]
	} else {
		return nil
	}
	type mark struct{ of, from, to int }
	var marks []mark
	for i, q := range asked {
		sign := `"` + q.Get("question").Str + `"=`
		if at := strings.Index(text, sign); at == 0 || at > 1 && text[at-2:at] == ", " {
			marks = append(marks, mark{i, at, at + len(sign)})
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.from, b.from) })
	out := make([]string, len(asked))
	for k, m := range marks {
		end := len(text)
		if k+1 < len(marks) {
			end = max(m.to, marks[k+1].from-len(", "))
		}
		out[m.of] = unquoted(text[m.to:end])
	}
	return out
}

// unquoted returns an answer without its quotation marks: `"Free tier" user notes: no card` is "Free tier (no card)".
func unquoted(s string) string {
	said, note := s, ""
	for _, sign := range []string{" user notes: ", " notes: "} {
		if before, after, ok := strings.Cut(s, sign); ok {
			said, note = before, after
			break
		}
	}
	said, _, _ = strings.Cut(said, "\" selected preview:")
	if said = strings.Trim(said, "\""); said == "(no option selected)" {
		said = ""
	}
	if said != "" && note != "" {
		return said + " (" + note + ")"
	}
	return said + note
}

// listedAnswers reads `{"answers":{"tier":{"answers":["Free tier","user_note: no card"]}}}`, where a question has an id,
// and `{"answers":{"0":"Free tier"}}`, where it has a place.
func listedAnswers(asked []gjson.Result, text string) []string {
	if !gjson.Valid(text) {
		return nil
	}
	answers := gjson.Get(text, "answers").Map()
	out := make([]string, len(asked))
	for i, q := range asked {
		if id := q.Get("id").Str; id != "" {
			var parts []string
			for _, a := range answers[id].Get("answers").Array() {
				parts = append(parts, strings.TrimPrefix(a.Str, "user_note: "))
			}
			out[i] = strings.Join(parts, ", ")
			continue
		}
		out[i] = answers[strconv.Itoa(i)].Str
	}
	return out
}

// replied notes what a user replied: each reply, what it chooses, and the facts that it states.
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

// consented reports whether a reply only lets a program act once.
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

// reply adds what a user replied: a choice replaces an earlier reply to the same question, and decisions for what the user
// passed over.
func (n *State) reply(f *Finding, r *adding) {
	if n.replies = append(n.replies, replyRow{r.at, f.Text}); len(n.replies) > maxReplies {
		n.replies = slices.Delete(n.replies, 0, 1)
	}
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
