package examples

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// deltaSession returns a session of an agent with the recipe and the program that Delta Engine's protocol prints, word for word,
// whose workspace is work.
func deltaSession(t *testing.T, m *harness.Mount, agent, name, work string) *harness.Session {
	t.Helper()
	s := m.Session(t, harness.Self(), agent, name)
	for from, to := range map[string]string{"delta_context.yaml": "context.yaml", "delta_summarize.py": "tools/summarize.py"} {
		data, err := os.ReadFile("testdata/" + from)
		if err != nil {
			t.Fatal(err)
		}
		to = filepath.Join(s.AgentHome(), to)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.Write("../../system_prompt.md", "You fold your memory.\n")
	s.Write("cwd", work+"\n")
	return s
}

// folds fails the test unless the pack of s has the memory that the program makes of facts.
func folds(t *testing.T, s *harness.Session, facts ...string) {
	t.Helper()
	want := "# Context Block: compressed_memory\n# Compressed Memory\n\n"
	for i, fact := range facts {
		want += fmt.Sprintf("%d. %s\n", i+1, fact)
	}
	if pack := s.Read("context/pack.md"); !strings.Contains(pack, want+"# Context Block: conversation\n") {
		t.Errorf("the pack does not have\n%s\nbut\n%s\n%s", want, pack, s.Read("context/errors.jsonl"))
	}
}

const deltaHistory = `{"role":"user","content":"Fix the retry."}
{"role":"assistant","content":"The retry has no limit.","tool_calls":[{"id":"c1","name":"ls","arguments":"{}"}]}
{"role":"tool","tool_call_id":"c1","content":"retry.go"}
{"role":"assistant","content":[{"type":"text","text":"Three attempts are enough."}]}
`

// A program that was written for Delta Engine, and its recipe, unchanged, find the journal where they look for it.
func TestAProgramThatReadsDeltasJournalRuns(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	work := t.TempDir()
	s := deltaSession(t, m, "folding", "m1", work)
	s.Append("messages.jsonl", deltaHistory)
	folds(t, s, "The retry has no limit.", "Three attempts are enough.")
	s.Append("messages.jsonl", harness.Message("assistant", "Done."))
	folds(t, s, "The retry has no limit.", "Three attempts are enough.", "Done.")
	got := s.Bash("cd " + work + " && find . | sort && cat .delta/LATEST && jq -r .type .delta/$(cat .delta/LATEST)/journal.jsonl").OK()
	if want := ".\n./.delta\n./.delta/LATEST\n./.delta/context_artifacts\n./.delta/context_artifacts/summary.md\n./.delta/m1\n./.delta/m1/journal.jsonl\nm1\n" +
		"USER_MESSAGE\nTHOUGHT\nACTION_REQUEST\nACTION_RESULT\nTHOUGHT\nTHOUGHT\n"; got != want {
		t.Errorf("the workspace has\n%s, want\n%s", got, want)
	}

	// Without DELTA_RUN_ID the program takes the latest run: what it made is the same.
	made := filepath.Join(work, ".delta/context_artifacts/summary.md")
	before, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(made); err != nil {
		t.Fatal(err)
	}
	s.Bash("cd " + work + " && python3 " + s.AgentHome() + "/tools/summarize.py").OK()
	if after, err := os.ReadFile(made); err != nil || string(after) != string(before) {
		t.Errorf("by hand it made %q, %v; want %q", after, err, before)
	}
}

// The agent's home is a workspace like others, though it lies in the mount.
func TestADeltaProgramRunsInTheAgentsHome(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "folding", "m1")
	s = deltaSession(t, m, "folding", "m1", s.AgentHome())
	s.Append("messages.jsonl", deltaHistory)
	folds(t, s, "The retry has no limit.", "Three attempts are enough.")
	if got := s.Bash("cd ../.. && cat .delta/LATEST && wc -l < .delta/m1/journal.jsonl").OK(); got != "m1\n5\n" {
		t.Errorf("the home has %q", got)
	}
}

// Sessions that share a workspace, some of them with the same name, each have their own journal when their program runs.
func TestSessionsOfOneWorkspaceHaveTheirOwnJournals(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	work := t.TempDir()
	for _, of := range [][3]string{{"one", "m1", "I am one."}, {"two", "m1", "I am two."}, {"one", "m2", "I am one again."}, {"one", "m1", "Still one."}} {
		s := deltaSession(t, m, of[0], of[1], work)
		said := []string{}
		for line := range strings.Lines(s.Read("messages.jsonl")) {
			var r struct{ Content string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			said = append(said, r.Content)
		}
		s.Append("messages.jsonl", harness.Message("assistant", of[2]))
		folds(t, s, append(said, of[2])...)
		if got := strings.TrimSpace(s.Bash("cat " + work + "/.delta/LATEST").OK()); got != of[1] {
			t.Errorf("%v: the latest run is %q", of, got)
		}
	}
}

// What Delta Engine itself left in a workspace stays as it is, and a recipe that has nothing to do with it leaves nothing there.
func TestAWorkspaceKeepsWhatIsNotOfCtxfs(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	clean := t.TempDir()
	s := deltaSession(t, m, "folding", "m1", clean)
	s.Write("../../context.yaml", "sources:\n  - {type: computed_file, id: a, generator: {command: [ls, -A]}}\n  - {type: journal}\nwait_ms: 30000\n")
	s.Append("messages.jsonl", deltaHistory)
	s.Read("context/errors.jsonl")
	s.Bash("cat context/pack.md")
	if got := s.Bash("ls -A " + clean).OK(); got != "" {
		t.Errorf("the workspace has %q", got)
	}

	work := t.TempDir()
	s = deltaSession(t, m, "folding", "m2", work)
	s.Bash("cd " + work + ` && mkdir -p .delta/20251001_100000 .delta/m2 && echo 20251001_100000 > .delta/LATEST &&
		echo '{"type":"THOUGHT","payload":{"content":"of an engine"}}' | tee .delta/20251001_100000/journal.jsonl > .delta/m2/journal.jsonl`).OK()
	s.Append("messages.jsonl", deltaHistory)
	folds(t, s, "of an engine")
	if note := "ctxfs: .delta/m2 could not be put in place: a journal.jsonl exists that does not belong to a session; it stays"; !strings.Contains(s.Read("context/pack.report.md"), note) {
		t.Errorf("the report does not say %q:\n%s", note, s.Read("context/pack.report.md"))
	}
	if got := s.Bash("cd " + work + "/.delta && cat LATEST */journal.jsonl && find . -type l").OK(); got != "20251001_100000\n"+
		strings.Repeat(`{"type":"THOUGHT","payload":{"content":"of an engine"}}`+"\n", 2) {
		t.Errorf("the workspace has %q", got)
	}

	// No link is followed, wherever it leads.
	work, elsewhere := t.TempDir(), t.TempDir()
	s = deltaSession(t, m, "folding", "m3", work)
	s.Bash("ln -s " + elsewhere + " " + work + "/.delta").OK()
	s.Append("messages.jsonl", deltaHistory)
	s.Bash("cat context/pack.md")
	if got := s.Bash("ls -A " + elsewhere).OK(); strings.Contains(got, "m3") || strings.Contains(got, "LATEST") {
		t.Errorf("what the link leads to has %q", got)
	}
}
