package notes

import (
	"fmt"
	"slices"
	"testing"
)

func TestAnswersOfQuestionTools(t *testing.T) {
	const two = `{"questions":[{"question":"Which tier?","options":[{"label":"Paid"},{"label":"Free"}]},{"question":"Say \"a\", or \"b\"?"}]}`
	for _, c := range []struct {
		format, asked, text string
		want                []string
	}{
		{"claude-code", two, `User has answered your questions: "Which tier?"="Free", "Say "a", or "b"?"="it's "b", ok". You can now continue with the user's answers in mind.`, []string{"Which tier? → Free", `Say "a", or "b"? → it's "b", ok`}},
		{"claude-code", two, `User has answered your questions: "Which tier?"="Free" user notes: no card. You can now continue with the user's answers in mind.`, []string{"Which tier? → Free (no card)"}},
		{"claude-code", two, "User has answered your questions: \"Which tier?\"=\"Free\" selected preview:\n| x |\n. You can now continue with the user's answers in mind.", []string{"Which tier? → Free"}},
		{"claude-code", two, `User has answered your questions: . You can now continue with the user's answers in mind.`, nil},
		{"claude-code", two, `User has answered your questions: "Which region?"="eu". You can now continue with the user's answers in mind.`, nil},
		{"claude-code", two, "User declined to answer questions", nil},
		{"claude-code", two, "The user doesn't want to proceed with this tool use. \"Which tier?\"=\"Free\". You can now continue", nil},
		{"opencode", two, `User has answered your questions: "Which tier?"="Unanswered", "Say "a", or "b"?"="b, c". You can now continue with the user's answers in mind.`, []string{`Say "a", or "b"? → b, c`}},
		{"codex", `{"questions":[{"id":"t","question":"Which tier?"},{"id":"k","question":"The key?","isSecret":true}]}`, `{"answers":{"t":{"answers":["Free","user_note: no card"]},"k":{"answers":["sk-1"]}}}`, []string{"Which tier? → Free, no card"}},
		{"codex", `{"questions":[{"id":"t","question":"Which tier?"}]}`, "request_user_input was cancelled before receiving a response", nil},
		{"gemini", two, `{"answers":{"1":"b"}}`, []string{`Say "a", or "b"? → b`}},
		{"gemini", two, "User dismissed ask_user dialog without answering.", nil},
		{"openai", two, `{"answers":{"1":"b"}}`, nil},
		{"claude-code", "{}", `User has answered your questions: "Which tier?"="Free". You can now continue`, nil},
	} {
		var got []string
		for _, r := range UserAnswers(c.format, c.asked, c.text) {
			got = append(got, r.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.format, c.text, got, c.want)
		}
	}
	if AsksUser("claude-code", "mcp__x__AskUserQuestion") || AsksUser("codex", "AskUserQuestion") || AsksUser("claude-code", "") || AsksUser("openai", "question") {
		t.Error("a tool counts that is not the program's own")
	}
}

// An answer to a question tool is a choice or a consent like any other of the user's words.
func TestQuestionToolReplyDecides(t *testing.T) {
	for _, c := range []struct {
		question, answer, passed string
		decision, fact           string
	}{
		{"Which tier should I use?", "Free tier", "Paid tier", "Which tier should I use? → Free tier", ""},
		{"Should I use pgx or sqlx?", "pgx", "sqlx", "Should I use pgx or sqlx? → pgx", ""},
		{"Should we keep the old API?", "Until version 3", "No", "Should we keep the old API? → Until version 3", ""},
		{"Shall I force-push to main?", "Yes", "No", "", ""},
		{"How should I handle the changes?", "Commit them first", "Stash them", "", ""},
		{"Which branch should I delete?", "old", "new", "", ""},
		{"Ready to deploy?", "Yes, deploy now", "Wait", "", ""},
		{"Anything else to know?", "Never push to main.", "", "Anything else to know? → Never push to main.", "Never push to main."},
	} {
		n := talk("user: let's use the paid tier for now")
		n.Add(Position{Line: 2}, "tool", Find(Record{Role: "tool", Result: true, Tool: "q", Text: "x", Replies: []UserAnswer{{c.question, c.answer, []string{c.passed}}}}))
		got, want := "", ""
		for _, d := range n.Decisions() {
			got += fmt.Sprintln(d.ID, d.By, d.Source, d.Decision)
		}
		if c.passed != "Paid tier" {
			want = "d1 user messages:1 let's use the paid tier for now\n"
		}
		if c.decision != "" {
			want += "d2 user messages:2 " + c.decision + "\n"
		}
		if got != want {
			t.Errorf("%s %s: %q, want %q", c.question, c.answer, got, want)
		}
		if facts := n.Facts(); len(facts) > 0 != (c.fact != "") || c.fact != "" && facts[0].Text != c.fact {
			t.Errorf("%s %s: facts %+v", c.question, c.answer, facts)
		}
		if at, text := n.LastReply(); at.Line != 2 || text != c.question+" → "+c.answer {
			t.Errorf("%s %s: the last reply is %q at %v", c.question, c.answer, text, at)
		}
	}
}
