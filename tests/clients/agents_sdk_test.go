package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/nativetest"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// agentsSDKs is a directory with the SDKs of agents from npm, the examples that keep their state in ctxfs, and the programs that use them.
func agentsSDKs(t *testing.T) string {
	t.Helper()
	harness.Need(t, "node")
	harness.Need(t, "npm")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("agents-sdk")); err != nil {
		t.Fatal(err)
	}
	for _, example := range []string{"openai-agents/session.mjs", "langgraph/checkpointer.mjs"} {
		data, err := os.ReadFile(filepath.Join(harness.Root(), "examples", example))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, filepath.Base(example)), string(data))
	}
	inDir(t, dir, "npm", "ci", "--prefer-offline", "--loglevel=error")
	return dir
}

// A session of the OpenAI Agents SDK whose items are records goes on from run to run, and all that ctxfs has for a conversation works on it.
func TestASessionOfTheAgentsSDK(t *testing.T) {
	dir := agentsSDKs(t)
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.NewSession(t)
	if out := inDir(t, dir, "node", "agents.mjs", s.Dir); out != "the session holds\n" {
		t.Errorf("it prints %q", out)
	}
	for _, want := range []string{`[call 3.1] port {"host":"staging"}`, "## 6 tool port [call 3.1]\n8443\n", "## 7 tool port [call 5.1]\n443\n", "Dev has 8080."} {
		wantInPack(t, s, want, true)
	}
	for _, format := range []string{"openai", "responses", "anthropic", "gemini", "genai"} {
		data := s.Read("context/pack." + format + ".json")
		if _, violations := nativetest.Check(format, []byte(data), func(string) int { return 0 }); len(violations) > 0 {
			t.Errorf("%s: %s", format, strings.Join(violations, "\n"))
		}
		if !strings.Contains(data, "8443") || strings.Contains(data, "(no result)") {
			t.Errorf("%s has not what the tool said:\n%s", format, data)
		}
	}
	if found := s.Read("context/search/8443"); !strings.Contains(found, "## messages:6 tool port") {
		t.Errorf("the search for a result finds\n%s", found)
	}
	if text := s.Read("context/line/3.txt"); !strings.Contains(text, `port {"host":"staging"}`) {
		t.Errorf("the text of a call is %q", text)
	}
	if said := s.Read("latest.md"); strings.TrimSpace(said) != "Dev has 8080." {
		t.Errorf("the last answer is %q", said)
	}

	// The file of a session comes back byte for byte; other formats have its calls with their results.
	out := filepath.Join(t.TempDir(), "native.jsonl")
	again := m.NewSession(t)
	m.CLI(t, "export", "--format", "native", "-o", out, s.Dir).OK()
	m.CLI(t, "import", out, again.Dir).OK()
	harness.WantFile(t, again, "messages.jsonl", s.Read("messages.jsonl"))
	for _, format := range []string{"openai", "anthropic", "responses", "codex", "claude-code"} {
		out := filepath.Join(t.TempDir(), format)
		m.CLI(t, "export", "--format", format, "-o", out, s.Dir).OK()
		if data, err := os.ReadFile(out); err != nil || strings.Count(string(data), "8443") < 2 || !strings.Contains(string(data), "call_1") {
			t.Errorf("%s: %v\n%s", format, err, data)
		}
	}
}

// The same in Python, against the four methods that the SDK asks for: it needs the standard library alone, and so does the test.
func TestASessionOfTheAgentsSDKInPython(t *testing.T) {
	harness.Need(t, "python3")
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.NewSession(t)
	r := m.Run(t, harness.Client{UID: harness.Self(), Dir: s.Dir, Env: []string{"PYTHONDONTWRITEBYTECODE=1"},
		Argv: []string{"python3", filepath.Join(harness.Root(), "tests/clients/agents-sdk/protocol.py"), filepath.Join(harness.Root(), "examples/openai-agents"), s.Dir}})
	if out := r.OK(); out != "the session holds\n" {
		t.Errorf("it prints %q", out)
	}
	wantInPack(t, s, "## 4 tool port [call 3.1]\n8443\n", true)
}

// Checkpoints of LangGraph.js are files, and the conversation is a session: by its own suite, and by a graph that is interrupted.
func TestCheckpointsOfLangGraph(t *testing.T) {
	dir := agentsSDKs(t)
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.NewSession(t)
	if out := inDir(t, dir, "node", "langgraph.mjs", s.AgentHome()); out != "the checkpoints hold\n" {
		t.Errorf("it prints %q", out)
	}
	found, err := filepath.Glob(filepath.Join(s.AgentHome(), "session", "thread-*", "context", "pack.md"))
	if err != nil || len(found) != 1 {
		t.Fatalf("sessions of threads: %q, %v", found, err)
	}
	pack, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Which port has staging?", `[call 2.1] port {"host":"staging"}`, "## 3 tool port [call 2.1]\n8443\n", "It is refused."} {
		if !strings.Contains(string(pack), want) {
			t.Errorf("the pack of the thread lacks %q:\n%s", want, pack)
		}
	}
	t.Setenv("CTXFS_HOME", filepath.Dir(filepath.Dir(s.AgentHome())))
	out := inDir(t, dir, "node_modules/.bin/vitest", "run", "--globals", "--reporter=json", "validate.test.mjs")
	if !strings.Contains(out, `"numFailedTests":0`) || strings.Contains(out, `"numPassedTests":0`) {
		t.Errorf("the suite of LangGraph says %.2000s", out)
	}
}
