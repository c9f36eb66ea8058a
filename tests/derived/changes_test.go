package derivedtest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// lifted appends messages to s: the user bans pushes at message 3, lifts the ban at message 105,
// and then makes the given number of requests.
func lifted(s *harness.Session, requests int) {
	var b strings.Builder
	add := func(role, text string) { b.WriteString(harness.Message(role, text)) }
	add("user", "Build the importer.")
	add("assistant", "I begin.")
	add("user", "Never push to main.")
	add("assistant", "Understood.")
	for i := range 50 {
		add("user", fmt.Sprintf("Step %d: edit src/part_%d.ts and run the unit tests; all %d pass.", i, i, i+3))
		add("assistant", fmt.Sprintf("Step %d is done, src/part_%d.ts has the width %d.", i, i, 7*i))
	}
	add("user", "You may push to main now.")
	add("assistant", "I push it.")
	for i := range requests {
		add("user", fmt.Sprintf("Look at src/view_%d.ts and move the label by %d.", i, 3*i))
		add("assistant", fmt.Sprintf("The label in src/view_%d.ts is moved.", i))
	}
	s.Append(ctxabi.MessagesFile, b.String())
}

// After a compaction, prompts of every budget mark a lifted ban as changed and quote the sentence
// that lifted it.
func TestLiftedBanIsMarked(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for _, budget := range []int{2000, 3000, 4000, 5000, 8000, 16000, 32000} {
		s := m.NewSession(t)
		s.Write("context/budget", strconv.Itoa(budget))
		lifted(s, max(30, budget/32))
		pack := s.Read("context/pack.md")

		for _, want := range []string{"Never push to main. [changed at 105]", "You may push to main now."} {
			if !strings.Contains(pack, want) {
				t.Errorf("budget %d: no %q\n%s", budget, want, pack)
			}
		}
		if facts := s.Read(ctxabi.FactsFile); strings.Contains(facts, "Never push") {
			t.Errorf("%s has the ban: %s", ctxabi.FactsFile, facts)
		}
	}
}

// The answer to a request does not recall what the user changed since.
func TestChangedStatementIsNotRecalled(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "2000")
	lifted(s, 30)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "What did I say about whether you may push to main?"))
	_, recalled, found := strings.Cut(s.Read("context/pack.md"), "# Context Block: recall\n")
	if !found {
		t.Fatal("nothing is recalled")
	}
	if recalled, _, _ = strings.Cut(recalled, "# Context Block:"); strings.Contains(recalled, "Never push to main.") {
		t.Errorf("recalled:\n%s", recalled)
	}
}

// No part of a prompt shows what a later call replaced: the text of a file, or a field.
func TestReplacedContentIsNotRecalled(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "2000")
	calls := 0
	call := func(tool, arguments string) {
		calls++
		function := fmt.Sprintf(`{"name":%q,"arguments":%q}`, tool, arguments)
		s.Append(ctxabi.MessagesFile, fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"c%d",`+
			`"type":"function","function":%s}]}`+"\n", calls, function))
		s.Append(ctxabi.MessagesFile, fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"done"}`+"\n", calls))
	}
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Set up the gateway."))
	for _, limit := range []int{7301, 9402} {
		text := fmt.Sprintf(`# limits of the gateway\nquota of the gateway = %d\n`, limit)
		call("write_file", `{"path":"gateway.toml","content":"`+text+`"}`)
		call("update_tenant", fmt.Sprintf(`{"tenant_id":"T-77","tenant_seats":%d}`, limit+1))
		for i := range 30 {
			s.Append(ctxabi.MessagesFile, harness.Message("user", fmt.Sprintf("Move label %d of view %d.", i, limit%7)))
			answer := fmt.Sprintf("Label %d of the view is moved to the place in the drawing.", i)
			s.Append(ctxabi.MessagesFile, harness.Message("assistant", answer))
		}
	}
	for question, want := range map[string]string{
		"What is the quota of the gateway in gateway.toml?": "9402",
		"How many tenant_seats does tenant T-77 have?":      "9403",
	} {
		s.Append(ctxabi.MessagesFile, harness.Message("user", question))
		pack := s.Read("context/pack.md")
		if strings.Contains(pack, "7301") || strings.Contains(pack, "7302") || !strings.Contains(pack, want) {
			t.Errorf("%s\n%s", question, pack)
		}
	}
}
