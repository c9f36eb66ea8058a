// Package derivedtest reads and writes the notes of a session through the mount: what ctxfs derives, what the agent adds, what
// it takes over.
package derivedtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

var sessions atomic.Int64

func session(t *testing.T, m *harness.Mount) *harness.Session {
	t.Helper()
	return m.Session(t, harness.Self(), "coder", fmt.Sprintf("s%d", sessions.Add(1)))
}

// origin reads user.ctx.origin.
func origin(t *testing.T, s *harness.Session, file string) string {
	t.Helper()
	b := make([]byte, 64)
	n, err := unix.Getxattr(s.Path(file), "user.ctx.origin", b)
	if err != nil {
		t.Fatalf("user.ctx.origin of %s: %v", file, err)
	}
	return string(b[:n])
}

func wantOrigin(t *testing.T, s *harness.Session, file, want string) {
	t.Helper()
	if got := origin(t, s, file); got != want {
		t.Errorf("%s is %s, want %s", file, got, want)
	}
}

// rows reads a file of JSON lines.
func rows[R any](t *testing.T, s *harness.Session, file string) (list []R) {
	t.Helper()
	for line := range strings.Lines(s.Read(file)) {
		var r R
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil || !strings.HasSuffix(line, "}\n") {
			t.Fatalf("%s: %v: %q", file, err, line)
		}
		list = append(list, r)
	}
	return list
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
		line(map[string]any{"role": "assistant", "content": "I will read auth/refresh.go first.", "tool_calls": []any{
			map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "read_file", "arguments": `{"path":"auth/refresh.go"}`}}}}),
		line(map[string]any{"role": "tool", "tool_call_id": "c1", "content": strings.Repeat("func refresh(ctx context.Context) error { return nil }\n", 200)}),
		line(map[string]any{"role": "assistant", "content": "Let's use exponential backoff with three attempts instead of a fixed delay.", "tool_calls": []any{
			map[string]any{"id": "c2", "type": "function", "function": map[string]any{"name": "todo_write",
				"arguments": `{"todos":[{"content":"Add a test for the expired token","status":"pending"},{"content":"Read the code","status":"completed"}]}`}}}}),
		line(map[string]any{"role": "tool", "tool_call_id": "c2", "content": "Todos were written."}),
		harness.Message("user", "Yes, go ahead."),
	}, ""))
}

func line(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.String()
}

func fact(id, text string) string { return line(ctxabi.FactRow{ID: id, Text: text}) }

func wantErrno(t *testing.T, what string, err error, want unix.Errno) {
	t.Helper()
	var got unix.Errno
	if !errors.As(err, &got) || got != want {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func write(path, data string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(data)
	return errors.Join(err, f.Close())
}
