package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A program that was written for Delta Engine, unchanged, finds its journal where it looks for it, and its recipe builds a pack.
func TestAProgramThatReadsDeltasJournalRuns(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "folding", "m1")
	copyFile := func(from, to string) {
		t.Helper()
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	copyFile("testdata/delta_summarize.py", filepath.Join(s.AgentHome(), "tools/summarize.py"))
	copyFile(filepath.Join(harness.Root(), "examples/memory-folding/tools/journal.sh"), filepath.Join(s.AgentHome(), "tools/journal.sh"))
	s.Write("../../system_prompt.md", "You fold your memory.\n")
	s.Write("../../context.yaml", `sources:
  - type: file
    path: "${AGENT_HOME}/system_prompt.md"

  - type: computed_file
    id: compressed_memory
    generator:
      command: ["sh", "${AGENT_HOME}/tools/journal.sh", "python3", "${AGENT_HOME}/tools/summarize.py"]
    output_path: "${CWD}/.delta/context_artifacts/summary.md"

  - type: journal
    max_iterations: 5
wait_ms: 30000
`)
	s.Write("cwd", t.TempDir()+"\n")
	s.Append("messages.jsonl", harness.Message("user", "Fix the retry.")+
		`{"role":"assistant","content":"The retry has no limit.","tool_calls":[{"id":"c1","name":"ls","arguments":"{}"}]}`+"\n"+
		`{"role":"tool","tool_call_id":"c1","content":"retry.go"}`+"\n"+
		`{"role":"assistant","content":[{"type":"text","text":"Three attempts are enough."}]}`+"\n")
	pack := s.Read("context/pack.md")
	if want := "# Compressed Memory\n\n1. The retry has no limit.\n2. Three attempts are enough.\n"; !strings.Contains(pack, want) {
		t.Errorf("the pack does not have\n%s\nbut\n%s\n%s", want, pack, s.Read("context/errors.jsonl"))
	}
}
