package packtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// chatter appends n turns of work that no rule is about.
func chatter(s *harness.Session, n int) {
	for i := range n {
		s.Append("messages.jsonl", harness.Message("user", fmt.Sprintf("Could you look at window %d on the big screen?", i))+
			harness.Message("assistant", fmt.Sprintf("Window %d is closed. %s", i, strings.Repeat("The light of the afternoon is in it. ", 20))))
		if i%10 == 9 {
			s.Read("context/pack.md")
		}
	}
}

// A rule of the first hour is in the prompt after many compactions, and the block counts what is
// missing.
func TestRulesOutliveCompactions(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "3000")
	s.Append("messages.jsonl", harness.Message("user", "Begin with the parser.")+harness.Message("assistant", "I begin.")+
		harness.Message("user", "Rule for the whole project: amounts are integers in cents, never floats.")+harness.Message("assistant", "Agreed."))
	chatter(s, 120)
	prompt := s.Read("context/pack.md")
	if !strings.Contains(prompt, "Rule for the whole project: amounts are integers in cents, never floats.") {
		t.Errorf("the rule is missing:\n%s", prompt)
	}
	if !strings.Contains(prompt, " more messages of the user with content: context/line/") {
		t.Errorf("nothing counts the missing messages:\n%s", prompt)
	}
}

// Rows that the agent wrote are whole in a small prompt, and the block counts those that are
// missing.
func TestAgentRowsStayWhole(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "2000")
	var rows strings.Builder
	for i := range 100 {
		fmt.Fprintf(&rows, `{"id":"a%d","text":"The door of hall %d is green.","source":"messages:1"}`+"\n", i, i)
	}
	s.Write("context/facts.jsonl", rows.String())
	chatter(s, 30)
	prompt := s.Read("context/pack.md")
	if n := strings.Count(prompt, `"}`+"\n"); n < 8 || n != strings.Count(prompt, `{"id":"a`) {
		t.Errorf("%d whole rows:\n%s", n, prompt)
	}
	if !strings.Contains(prompt, `"a99"`) || !strings.Contains(prompt, "older rows left out, all of them in context/facts.jsonl]") {
		t.Errorf("the newest row or the count is missing:\n%s", prompt)
	}
}

// The count of the user's other messages omitted repeated ones.
func TestRepeatedMessagesAreCounted(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "3000")
	for range 3 {
		s.Append("messages.jsonl", harness.Message("user", "Paint the next hall of the plan in green.")+
			harness.Message("assistant", "The hall is green."))
	}
	for i := range 12 {
		answer := fmt.Sprintf("Hall %d. ", i) + strings.Repeat("The light is in it. ", 80)
		s.Append("messages.jsonl", harness.Message("user", "thanks")+harness.Message("assistant", answer))
	}
	s.Append("messages.jsonl", harness.Message("user", "What is next?"))
	prompt := s.Read("context/pack.md")
	if !strings.Contains(prompt, "- 1 more message of the user with content: context/line/3\n") {
		t.Errorf("repeated messages are not counted:\n%s", prompt)
	}
}
