package packtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// goalOf is the last block of the session's pack at a budget.
func goalOf(s *harness.Session, budget int) string {
	s.Write(ctxabi.BudgetFile, fmt.Sprintf("%d\n", budget))
	_, goal, _ := strings.Cut(s.Read(ctxabi.PackFile), "\n# Context Block: goal\n")
	return goal
}

// The last lines of a prompt name no failure that something made up for: of the session that ctxfs brings along none.
func TestTheGoalNamesNoMendedFailure(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "mended")
	for _, log := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
		raw, err := os.ReadFile(filepath.Join(harness.Root(), "examples", "session", log))
		if err != nil {
			t.Fatal(err)
		}
		s.Append(log, string(raw))
	}
	if goal := goalOf(s, 32000); strings.Contains(goal, "Failed:") {
		t.Errorf("the goal is %s", goal)
	}
	// A failure that nothing made up for is named.
	s.Append(ctxabi.MessagesFile, `{"role":"assistant","tool_calls":[{"id":"x1","type":"function","function":{"name":"shell","arguments":"{\"command\":\"make release\"}"}}]}
{"role":"tool","tool_call_id":"x1","content":"make: *** [release] Error 2"}
`+strings.Repeat(harness.Message("assistant", "Thinking."), 10))
	if goal := goalOf(s, 32000); strings.Count(goal, "Failed:") != 1 || !strings.Contains(goal, "Failed: make release: ") {
		t.Errorf("the goal is %s", goal)
	}
}

// What an agent's own tool says is to do stands in the goal where nobody wrote a list.
func TestTheGoalSaysWhatIsToDoWithoutAWrittenList(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "todo")
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Make the retries kinder.")+`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"TaskCreate","input":{"subject":"Add jitter"}},{"type":"tool_use","id":"t2","name":"TaskCreate","input":{"subject":"Write the docs"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Task #1 created successfully: Add jitter"},{"type":"tool_result","tool_use_id":"t2","content":"Task #2 created successfully: Write the docs"}]}
{"role":"assistant","content":[{"type":"tool_use","id":"t3","name":"TaskUpdate","input":{"taskId":"1","status":"completed"}}]}
`)
	if goal := goalOf(s, 8000); !strings.HasPrefix(goal, "Progress 1/2. Next: Write the docs\n") {
		t.Errorf("the goal is %q", goal)
	}
	s.Write(ctxabi.TodoFile, "- [x] a\n- [ ] b\n- [ ] c\n")
	if goal := goalOf(s, 8000); !strings.HasPrefix(goal, "Progress 1/3. Next: b\n") {
		t.Errorf("beside a written list the goal is %q", goal)
	}
}

// The block of errors says what failed, and how, where the event names no more than the call.
func TestErrorsSayWhatFailed(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "errors")
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Mend it.")+`{"role":"assistant","tool_calls":[{"id":"call_7","type":"function","function":{"name":"edit_file","arguments":"{\"path\":\"auth/refresh.go\"}"}}]}
`)
	s.Append(ctxabi.EventsFile, `{"type":"error","tool":"edit_file","call":"call_7"}
{"type":"error","tool":"shell","call":"call_8","exit_code":3}
`)
	errorsOf := func() string {
		_, block, _ := strings.Cut(s.Read(ctxabi.PackFile), "\n# Context Block: errors\n")
		block, _, _ = strings.Cut(block, "\n# ")
		return block
	}
	if got := errorsOf(); !strings.Contains(got, "events:1: edit_file\n") || !strings.Contains(got, "events:2: shell: exit code 3") {
		t.Errorf("before the result came: %q", got)
	}
	s.Append(ctxabi.MessagesFile, `{"role":"tool","tool_call_id":"call_7","content":"error: old text was not found in auth/refresh.go"}
`)
	want := "events:1: edit_file auth/refresh.go: error: old text was not found in auth/refresh.go\n"
	if got := errorsOf(); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	m.Restart()
	if got := errorsOf(); !strings.HasPrefix(got, want) {
		t.Errorf("after a restart: %q, want %q", got, want)
	}
}

// In a large window the blocks that are chosen take no more than the table says.
func TestCapsDoNotGrowWithALargeBudget(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "caps")
	home := s.AgentHome()
	for _, kind := range []string{"memory", "playbooks"} {
		if err := os.MkdirAll(filepath.Join(home, kind), 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			var text strings.Builder
			for k := range 120 {
				fmt.Fprintf(&text, "The deployment of service %d needs key number %d of the vault, which is kept by team %d. ", i, k, k*7)
			}
			if err := os.WriteFile(filepath.Join(home, kind, fmt.Sprintf("%s%d.md", kind, i)), []byte("# Deployment\n\n"+text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Do the deployment of service 1 with the vault's key."))
	s.Write(ctxabi.BudgetFile, "200000\n")
	var p struct {
		Items []struct {
			Kind   string
			Tokens int
		}
	}
	if err := json.Unmarshal([]byte(s.Read("context/pack.json")), &p); err != nil {
		t.Fatal(err)
	}
	for kind, most := range map[string]int{"memory": 500, "playbook": 300} {
		all := 0
		for _, it := range p.Items {
			if it.Kind == kind {
				all += it.Tokens
			}
		}
		if all == 0 || all > most {
			t.Errorf("%s takes %d tokens, at most %d", kind, all, most)
		}
	}
}

// At a budget with much room a large result stands whole while its turn goes on, and in 3,000 tokens at most when that is over.
func TestLargeResultsAreShortenedWhenTheirTurnIsOver(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "turns")
	s.Write(ctxabi.BudgetFile, "64000\n")
	var log strings.Builder
	log.WriteString(harness.Message("user", "Have a look at all parts."))
	for i := range 4 {
		var output strings.Builder
		for k := range 350 {
			fmt.Fprintf(&output, `part%d_%d is in module %d/%d.go and weighs %d grams\n`, i, k, i, k*7, k*k)
		}
		fmt.Fprintf(&log, `{"role":"assistant","tool_calls":[{"id":"p%d","type":"function","function":{"name":"probe","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"p%d","content":"%s"}
`, i, i, output.String())
	}
	s.Append(ctxabi.MessagesFile, log.String())
	before := read(t, s)
	if n := strings.Count(before.md, "part0_"); n != 350 {
		t.Fatalf("while the turn goes on %d lines of a result are shown", n)
	}
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Thank you. Now something else."))
	after := read(t, s)
	after.account(t, 10)
	if n := strings.Count(after.md, "part0_"); n == 0 || n > 200 || !strings.Contains(after.md, "left out, all of it in context/line/3.txt]") {
		t.Errorf("when the turn is over %d lines of a result are shown", n)
	}
	if whole := s.Read("context/line/3.txt"); strings.Count(whole, "part0_") != 350 {
		t.Error("the whole of it is not where the pack says")
	}
	if reason := s.Read("context/pack.json"); !strings.Contains(reason, `"turn_end when messages:10 arrived"`) {
		t.Errorf("the reason is not said: %s", reason[:min(len(reason), 400)])
	}
	s.Append(ctxabi.MessagesFile, harness.Message("assistant", "Gladly."))
	after.continues(t, read(t, s))
}
