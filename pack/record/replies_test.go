package record

import (
	"slices"
	"strings"
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
		for i := range questionTools {
			if q := &questionTools[i]; q.formats[0] == c.format {
				for _, r := range q.userAnswers(c.asked, c.text) {
					got = append(got, r.String())
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.format, c.text, got, c.want)
		}
	}
}

func TestQuestionToolsByFormatAndName(t *testing.T) {
	for _, c := range []struct {
		format, name string
		counts       bool
	}{
		{"claude-code", "AskUserQuestion", true},
		{native, "AskUserQuestion", true},
		{native, "request_user_input", true},
		{native, "question", true},
		{native, "ask_user", false},
		{native, "mcp__x__AskUserQuestion", false},
		{native, "askuserquestion", false},
		{native, "", false},
		{"codex", "AskUserQuestion", false},
		{"openai", "question", false},
		{"claude-code", "mcp__x__AskUserQuestion", false},
	} {
		if got := questionTool(c.format, c.name) != nil; got != c.counts {
			t.Errorf("%s %q: counts %t", c.format, c.name, got)
		}
	}
}

// Both ends of a long message were joined without a mark.
func TestEndsMarkTheGap(t *testing.T) {
	text := Ends(strings.Repeat("a", LongText) + strings.Repeat("b", LongText))
	if want := strings.Repeat("a", LongText/2) + "\n…\n" + strings.Repeat("b", LongText/2); text != want {
		t.Errorf("%d bytes", len(text))
	}
}
