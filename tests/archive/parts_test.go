// Package archive reads and writes sessions through the mount while their
// logs are packed into sealed parts in the store.
package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const alice, bob = harness.Alice, harness.Bob

// talk returns n records of a conversation with tools, from the i-th on.
func talk(i, n int) string {
	var b strings.Builder
	for ; n > 0; i, n = i+1, n-1 {
		switch i % 4 {
		case 0:
			b.WriteString(harness.Message("user", fmt.Sprintf("question %d: %s", i, strings.Repeat("what about the token refresh? ", i%30))))
		case 1:
			fmt.Fprintf(&b, `{"role":"assistant","content":"I look, %d.","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"auth/refresh%d.go\"}"}}]}`+"\n", i, i, i%5)
		case 2:
			fmt.Fprintf(&b, `{"role":"tool","tool_call_id":"c%d","name":"read","content":"%s"}`+"\n", i-1, strings.Repeat(fmt.Sprintf(`%d\tif err != nil { return err }\n`, i%5), 60))
		case 3:
			b.WriteString(harness.Message("assistant", fmt.Sprintf("answer %d", i)))
		}
	}
	return b.String()
}

// archive has the daemon seal what the session has.
func archive(s *harness.Session) { s.Bash("setfattr -n user.ctx.archive -v 1 .").OK() }

// onDisk is a log as a person reads it from the store.
func onDisk(t *testing.T, m *harness.Mount, s *harness.Session) string {
	t.Helper()
	harness.Need(t, "zstdcat")
	return m.Run(t, harness.Client{UID: harness.Self(), Dir: s.InStore(),
		Argv: []string{"bash", "-c", "ls -v messages.jsonl.*.zst 2>/dev/null | xargs -r zstdcat && cat messages.jsonl"}}).OK()
}

func size(t *testing.T, name string) int64 {
	t.Helper()
	fi, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return fi.Size()
}

func parts(t *testing.T, s *harness.Session) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.InStore(), "messages.jsonl.*.zst"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
