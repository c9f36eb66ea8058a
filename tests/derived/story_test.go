// Package derivedtest reads and writes the notes of a session through the mount: what ctxfs derives, what the agent adds, what
// it takes over.
package derivedtest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

func wantOrigin(t *testing.T, s *harness.Session, file, want string) {
	t.Helper()
	if got := harness.Origin(t, s, file); got != want {
		t.Errorf("%s is %s, want %s", file, got, want)
	}
}

// mustAgree checks that everybody who looks at a file sees the same: its size, its bytes, whoever reads them how.
func mustAgree(t *testing.T, s *harness.Session, file string) string {
	t.Helper()
	text := s.Read(file)
	script := fmt.Sprintf(`cd context; f=%q
stat -c %%s $f; wc -c < $f; cat $f | wc -c; t=$(mktemp); cp $f $t; wc -c < $t; cmp $f $t; rm $t
[ "$(git hash-object $f)" = "$(git hash-object --stdin < $f)" ] || echo git disagrees
dd if=$f bs=7 2>/dev/null | wc -c`, strings.TrimPrefix(file, "context/"))
	for _, n := range strings.Fields(s.Bash(script).OK()) {
		if n != fmt.Sprint(len(text)) {
			t.Errorf("%s has %d bytes, and %s for somebody", file, len(text), n)
		}
	}
	return text
}

// story is a session in which things are decided, remembered and left to do.
func story(s *harness.Session) {
	s.Append(ctxabi.MessagesFile, strings.Join([]string{
		harness.Message("user", "Make the token refresh retry.\nNever restart the staging server stage-7.example.com during the day."),
		harness.Record(map[string]any{"role": "assistant",
			"content": "I will read auth/refresh.go first.", "tool_calls": []any{
				map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "read_file", "arguments": `{"path":"auth/refresh.go"}`}}}}),
		harness.Record(map[string]any{"role": "tool", "tool_call_id": "c1",
			"content": strings.Repeat("func refresh(ctx context.Context) error { return nil }\n", 200)}),
		harness.Record(map[string]any{"role": "assistant",
			"content": "Let's use exponential backoff with three attempts instead of a fixed delay.",
			"tool_calls": []any{
				map[string]any{"id": "c2", "type": "function", "function": map[string]any{"name": "todo_write",
					"arguments": `{"todos":[{"content":"Add a test for the expired token","status":"pending"},{"content":"Read the code","status":"completed"}]}`}}}}),
		harness.Record(map[string]any{"role": "tool", "tool_call_id": "c2", "content": "Todos were written."}),
		harness.Message("user", "Yes, go ahead."),
	}, ""))
}

func fact(id, text string) string { return harness.Record(ctxabi.FactRow{ID: id, Text: text}) }

func write(path, data string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
