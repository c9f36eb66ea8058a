package packtest

import (
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
