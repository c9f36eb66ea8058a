package packtest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// While a source that must yield something is missing, pack.report.md is the page that says so; the pack itself cannot be read.
func TestTheReportCouldNotBeReadWhenASourceIsMissing(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	s.Bash(`printf 'sources:\n  - {type: file, path: "${SESSION}/plan.md"}\n  - {type: journal}\n' > context/context.yaml`).OK()
	for range 2 { // a look-up that is made again, too
		for _, name := range []string{"pack.md", "pack.json", "pack.openai.json"} {
			if _, err := os.ReadFile(s.Path("context/" + name)); !errors.Is(err, unix.ENODATA) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, name := range []string{"context/pack.report.md", "context/at/1/pack.report.md"} {
			report := s.Read(name)
			for _, want := range []string{"# Pack of ", "There is no pack", "yields nothing: missing (plan.md)", "context.yaml:2", "on_missing: skip", "context/errors.jsonl"} {
				if !strings.Contains(report, want) {
					t.Errorf("no %q in %s:\n%s", want, name, report)
				}
			}
		}
	}
	s.Bash("echo PLAN > plan.md").OK()
	if report := s.Read("context/pack.report.md"); strings.Contains(report, "There is no pack") || !strings.Contains(report, "## Tokens by section") {
		t.Errorf("the source is there:\n%s", report)
	}
	read(t, s)
}
