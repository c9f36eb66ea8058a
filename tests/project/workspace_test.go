// Package projecttest uses the memory of workspaces as programs do, through a mount.
package projecttest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// newSession makes a session that has a workspace and some records.
func newSession(t *testing.T, m *harness.Mount, agent, name, cwd string, records ...string) *harness.Session {
	t.Helper()
	s := m.Session(t, harness.Self(), agent, name)
	s.Bash(`printf '%s\n' '` + cwd + `' > cwd`).OK()
	tell(s, records...)
	return s
}

// tell appends records.
func tell(s *harness.Session, records ...string) {
	for _, r := range records {
		s.Bash("cat >> messages.jsonl <<'END'\n" + r + "END\n").OK()
	}
}

// projectDir is the directory of a workspace in the mount.
func projectDir(t *testing.T, s *harness.Session, dir string) string {
	t.Helper()
	slug, err := ctxabi.ProjectSlug(dir)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(s.AgentHome(), "../../project", slug)
}

// memory is memory.md of a workspace.
func memory(t *testing.T, s *harness.Session, dir string) string {
	t.Helper()
	return s.Bash("cat " + projectDir(t, s, dir) + "/memory.md").OK()
}

// wants checks that a text has some lines, and others not.
func wants(t *testing.T, text string, has []string, lacks ...string) {
	t.Helper()
	for _, line := range has {
		if !strings.Contains(text, line) {
			t.Errorf("%q is missing in\n%s", line, text)
		}
	}
	for _, line := range lacks {
		if strings.Contains(text, line) {
			t.Errorf("%q stands in\n%s", line, text)
		}
	}
}
