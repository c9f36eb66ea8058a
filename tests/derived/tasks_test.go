package derivedtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// tasks are what an agent with numbered tasks calls and is answered: two calls at once, one done, one deleted.
var tasks = []struct{ calls, answers []string }{
	{[]string{`TaskCreate {"subject":"Add jitter","description":"to the waits"}`, `TaskCreate {"subject":"Write the docs","description":"-"}`, `TaskCreate {"subject":"Ask Ada","description":"-"}`},
		[]string{"Task #1 created successfully: Add jitter", "Task #2 created successfully: Write the docs", "Task #3 created successfully: Ask Ada"}},
	{[]string{`TaskUpdate {"taskId":"1","status":"in_progress"}`}, []string{"Updated task #1 status"}},
	{[]string{`TaskUpdate {"taskId":"1","status":"completed"}`, `TaskUpdate {"taskId":"3","status":"deleted"}`}, []string{"Updated task #1 status", "Updated task #3 status"}},
}

// taskContents are the contents of the records, as Anthropic has them.
func taskContents() (contents []string) {
	for i, turn := range tasks {
		var calls, answers []string
		for k, c := range turn.calls {
			name, input, _ := strings.Cut(c, " ")
			calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d%d","name":%q,"input":%s}`, i, k, name, input))
			answers = append(answers, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"toolu_%d%d","content":%q}`, i, k, turn.answers[k]))
		}
		contents = append(contents, "["+strings.Join(calls, ",")+"]", "["+strings.Join(answers, ",")+"]")
	}
	return contents
}

var taskRoles = []string{"assistant", "user"}

// What a tool that counts its tasks says was done does not come back as open: in records of an API, and of an imported transcript of Claude Code.
func TestTasksThatAreDoneAreNotOpen(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	want := "- [ ] Write the docs (messages:%d)\n- [x] Add jitter (messages:%d)\n"
	s := m.NewSession(t)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Make the retries kinder."))
	for i, c := range taskContents() {
		s.Append(ctxabi.MessagesFile, fmt.Sprintf(`{"role":%q,"content":%s}`+"\n", taskRoles[i%2], c))
	}
	if got := mustAgree(t, s, ctxabi.TodoFile); got != fmt.Sprintf(want, 2, 6) {
		t.Errorf("the list is %q", got)
	}
	m.Restart()
	if got := mustAgree(t, s, ctxabi.TodoFile); got != fmt.Sprintf(want, 2, 6) {
		t.Errorf("the list after a restart is %q", got)
	}

	var transcript strings.Builder
	parent := "null"
	add := func(kind, content string) {
		uuid := fmt.Sprintf("00000000-0000-4000-8000-%012d", transcript.Len())
		fmt.Fprintf(&transcript, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"s","isSidechain":false,"timestamp":"2026-03-09T14:00:00Z","message":{"role":%q,"content":%s}}`+"\n", kind, uuid, parent, kind, content)
		parent = `"` + uuid + `"`
	}
	add("user", `"Make the retries kinder."`)
	for i, c := range taskContents() {
		add(taskRoles[i%2], c)
	}
	file := filepath.Join(t.TempDir(), "transcript.jsonl")
	if err := os.WriteFile(file, []byte(transcript.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	imported := m.NewSession(t)
	m.CLI(t, "import", "--format", "claude-code", file, imported.Path("")).OK()
	if got := mustAgree(t, imported, ctxabi.TodoFile); got != fmt.Sprintf(want, 2, 6) {
		t.Errorf("the list of an imported session is %q", got)
	}
}
