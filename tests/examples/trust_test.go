package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Programs of an imported recipe ran only when something else had changed after
// `ctxfs trust`, and went on after the trust was taken back.
func TestTrustAndItsEndAreSeenByTheNextRead(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "coder", "s1")
	base := filepath.Join(s.AgentHome(), "packages/base")
	if err := os.MkdirAll(base, 0o700); err != nil {
		t.Fatal(err)
	}
	recipe := filepath.Join(base, "context.yaml")
	write := func(name, data string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(recipe, "sources:\n  - {type: computed_file, id: said, on_missing: skip, generator: [echo, a program ran]}\n  - {type: journal}\n")
	write(filepath.Join(s.AgentHome(), "context.yaml"), "import: base\nwait_ms: 60000\n")
	s.Write("cwd", t.TempDir()+"\n")
	s.Append("messages.jsonl", harness.Message("user", "Hello."))

	ran := func() bool { return strings.Contains(s.Read("context/pack.md"), "a program ran") }
	if ran() {
		t.Error("a program of a package ran before anybody trusted it")
	}
	m.CLI(t, "trust", recipe).OK()
	if !ran() {
		t.Errorf("the program did not run after ctxfs trust:\n%s", s.Read("context/pack.report.md"))
	}
	m.CLI(t, "trust", "--revoke", recipe).OK()
	if ran() {
		t.Error("its output is still shown after the trust was taken back")
	}
	m.CLI(t, "trust", recipe).OK()
	if !ran() {
		t.Error("it does not come back with the trust")
	}
	b, _ := os.ReadFile(recipe)
	write(recipe, string(b)+"# another version\n")
	if ran() {
		t.Error("an edit of the file did not end the trust")
	}
}
