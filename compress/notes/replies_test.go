package notes

import (
	"fmt"
	"testing"
)

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
		got, want := "", "d1 user messages:1 let's use the paid tier for now\n"
		for _, d := range n.Decisions() {
			got += fmt.Sprintln(d.ID, d.By, d.Source, d.Decision)
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
		if all := n.Replies(); len(all) != 1 || all[0].At.Line != 2 || all[0].Text != c.question+" → "+c.answer {
			t.Errorf("%s %s: the replies are %v", c.question, c.answer, all)
		}
	}
}

// A later reply to the same question takes the place of the earlier one.
func TestQuestionAnsweredAgainChangesReply(t *testing.T) {
	var n State
	for line, answer := range []string{"hourly", "weekly"} {
		reply := UserAnswer{"How often do you want the digest?", answer, nil}
		n.Add(Position{Line: line + 1}, "tool", Find(Record{Role: "tool", Result: true, Tool: "q", Text: "x", Replies: []UserAnswer{reply}}))
	}
	if got := n.Decisions(); len(got) != 1 || got[0].ID != "d2" {
		t.Errorf("decisions: %+v", got)
	}
	if got := n.Changes(); len(got) != 1 || got[0].At.Line != 1 || got[0].By.Line != 2 {
		t.Errorf("changes: %+v", got)
	}
}
