package adapter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const besideMain = `{"parentUuid":null,"sessionId":"5f1c","uuid":"u1","type":"user","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Run the load test, and have it reviewed."}}
{"parentUuid":"u1","sessionId":"5f1c","uuid":"u2","type":"assistant","timestamp":"2026-01-02T03:04:06.000Z","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"./load"}},{"type":"tool_use","id":"toolu_2","name":"Task","input":{"description":"Review the retry","prompt":"Read retry.go."}}]}}
{"parentUuid":"u2","sessionId":"5f1c","uuid":"u3","type":"user","timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"<persisted-output>\nOutput too large (101KB). Full output saved to: /home/me/.claude/projects/-w/5f1c/tool-results/toolu_1.txt\n\nPreview (first 2KB):\nrequest 0 took 1 ms\n</persisted-output>"},{"type":"tool_result","tool_use_id":"toolu_2","content":"It has no limit."}]}}
{"parentUuid":"u3","sessionId":"5f1c","uuid":"u4","type":"assistant","timestamp":"2026-01-02T03:04:08.000Z","message":{"id":"msg_2","role":"assistant","content":[{"type":"text","text":"All requests were answered."}]}}
`

const besideAgent = `{"parentUuid":null,"isSidechain":true,"agentId":"a7c9","sessionId":"5f1c","uuid":"s1","type":"user","timestamp":"2026-01-02T03:04:06.500Z","message":{"role":"user","content":"Read retry.go."}}
{"parentUuid":"s1","isSidechain":true,"agentId":"a7c9","sessionId":"5f1c","uuid":"s2","type":"assistant","timestamp":"2026-01-02T03:04:06.700Z","message":{"id":"msg_9","role":"assistant","content":[{"type":"text","text":"It has no limit."}]}}
`

// besideFiles lays out a session as Claude Code keeps it.
func besideFiles(t *testing.T) (file string) {
	t.Helper()
	dir := t.TempDir()
	put := func(name, data string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var output strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&output, "request %d took %d ms\n", i, i*7%90)
	}
	put("5f1c.jsonl", besideMain)
	put("5f1c/tool-results/toolu_1.txt", output.String())
	put("5f1c/tool-results/stray.txt", "nobody names it\n")
	put("5f1c/subagents/agent-a7c9.jsonl", besideAgent)
	put("5f1c/subagents/agent-a7c9.meta.json", `{"agentType":"reviewer","description":"Review the retry","toolUseId":"toolu_2"}`)
	return filepath.Join(dir, "5f1c.jsonl")
}

// A result that Claude Code keeps in a file of its own is in the session whole, for search and not for packs, and a file that nobody
// names is listed; the export is the transcript.
func TestLargeResultsOfClaudeCodeAreTakenAlong(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	file, p := besideFiles(t), at(m, "beside", "large")
	r := m.CLI(t, "import", file, p.path)
	if r.OK(); !strings.Contains(r.Stderr, "tool-results/stray.txt: no record names it") || strings.Contains(r.Stderr, "toolu_1.txt") {
		t.Errorf("import says: %s", r.Stderr)
	}
	if found := p.read(t, "context/search/request 3999"); !strings.Contains(found, "request 3999 took 3 ms") {
		t.Errorf("the search finds\n%s", found)
	}
	if text := p.read(t, "context/pack.md"); strings.Contains(text, "request 3998") || strings.Count(text, "request 0 took") != 1 {
		t.Errorf("the pack:\n%.4000s", text)
	}
	if refs := p.read(t, "context/refs.jsonl"); !strings.Contains(refs, `"path":"context/line/e1.txt","kind":"tool_output"`) {
		t.Errorf("refs.jsonl does not cite it:\n%s", refs)
	}
	if whole := p.read(t, "context/line/e1.txt"); !strings.Contains(whole, "request 3999 took 3 ms") {
		t.Errorf("context/line/e1.txt:\n%.300s", whole)
	}
	if again := m.CLI(t, "import", file, p.path); !strings.Contains(again.Stderr, nothingNew) {
		t.Errorf("imported again it says: %s", again.Stderr)
	}
	if err := os.RemoveAll(strings.TrimSuffix(file, ".jsonl")); err != nil { // as Claude Code does it in time
		t.Fatal(err)
	}
	if again := m.CLI(t, "import", file, p.path); !strings.Contains(again.Stderr, nothingNew) {
		t.Errorf("imported again without the files it says: %s", again.Stderr)
	}
	out, said := p.export(t, "claude-code")
	if diff := adaptertest.CanonicalEqual([]byte(besideMain+besideAgent), []byte(out)); diff != "" || said != "" {
		t.Errorf("the export is another transcript: %s; it says %q", diff, said)
	}
	for _, to := range []string{"openai", "openhands", "atif", "codex"} {
		if out, _ := p.export(t, to); strings.Contains(out, "request 3999") || strings.Count(out, "request 0 took") != 1 {
			t.Errorf("%s has the result twice", to)
		}
	}
}

// What a sub-agent was started for is the child's name, and its meta.json names the call.
func TestSubagentsOfClaudeCodeAreCalledByTheirDescription(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	file, p := besideFiles(t), at(m, "beside", "named")
	m.CLI(t, "import", file, p.path).OK()
	if got := p.read(t, "context/child/review-the-retry/result.md"); got != "It has no limit.\n" {
		t.Errorf("the result is %q", got)
	}
	child := at(m, "beside", "named-review-the-retry")
	meta := child.read(t, "meta.json")
	for _, want := range []string{`"tool_call_id":"toolu_2"`, `"agent_type":"reviewer"`, `"chain":"agent-a7c9"`, `context/child/review-the-retry"`} {
		if !strings.Contains(meta, want) {
			t.Errorf("meta.json %s does not have %s", meta, want)
		}
	}
	agent := filepath.Join(strings.TrimSuffix(file, ".jsonl"), "subagents/agent-a7c9")
	if err := os.Remove(agent + ".meta.json"); err != nil {
		t.Fatal(err)
	}
	grown := besideAgent + strings.NewReplacer("s2", "s3", "s1", "s2", "msg_9", "msg_10", "no limit", "a limit now").Replace(strings.Split(besideAgent, "\n")[1]) + "\n"
	if err := os.WriteFile(agent+".jsonl", []byte(grown), 0o666); err != nil {
		t.Fatal(err)
	}
	if again := m.CLI(t, "import", file, p.path); again.Code != 0 || child.lines(t, "messages.jsonl") != 3 {
		t.Errorf("grown, the child has %d messages: %s", child.lines(t, "messages.jsonl"), again.Stderr)
	}
	children, err := os.ReadDir(filepath.Join(p.path, "context/child"))
	if err != nil || len(children) != 1 {
		t.Errorf("the children are %v: %v", children, err)
	}
}
