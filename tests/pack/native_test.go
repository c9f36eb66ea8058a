package packtest

import (
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/nativetest"
	"github.com/ctxfs/ctxfs/tests/harness"
)

var nativeFormats = []string{"openai", "anthropic", "responses", "gemini", "genai"}

// The native renderings through the mount: listed, valid, with the agent's tools, and of the present history.
func TestNativeRenderingsThroughTheMount(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Bash(`echo 'You are a careful coding agent.' > ../../system_prompt.md`).OK()
	s.Bash(`echo '[{"name":"ls","description":"List files.","input_schema":{"type":"object"}}]' > ../../tools.json`).OK()
	s.Append("messages.jsonl", rec1)
	s.Append("messages.jsonl", `{"role":"assistant","content":"Looking.","tool_calls":[{"id":"c1","name":"ls","arguments":"{\"dir\": \"/\"}"}]}`+"\n")
	entries, err := os.ReadDir(s.Path("context"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, e := range entries {
		listed[e.Name()] = true
	}
	before := map[string]string{}
	for _, f := range nativeFormats {
		name := "pack." + f + ".json"
		if !listed[name] {
			t.Errorf("%s is not listed", name)
		}
		before[f] = valid(t, s, f)
		if !strings.Contains(before[f], "List files.") || !strings.Contains(before[f], "careful coding agent") || !strings.Contains(before[f], "(no result)") {
			t.Errorf("%s:\n%s", name, before[f])
		}
	}
	if report := s.Read("context/pack.report.md"); !strings.Contains(report, "added a placeholder for a missing result: messages:2") {
		t.Errorf("the report does not tell of the repair:\n%s", report)
	}
	s.Append("messages.jsonl", `{"role":"tool","tool_call_id":"c1","content":"etc home"}`+"\n")
	for _, f := range nativeFormats {
		if after := valid(t, s, f); after == before[f] || !strings.Contains(after, "etc home") || strings.Contains(after, "(no result)") {
			t.Errorf("%s after the result:\n%s", f, after)
		}
	}
}

// valid reads a rendering that its provider takes.
func valid(t *testing.T, s *harness.Session, format string) string {
	t.Helper()
	data := s.Read("context/pack." + format + ".json")
	if _, violations := nativetest.Check(format, []byte(data), func(string) int { return 0 }); len(violations) > 0 {
		t.Errorf("%s: %s\n%s", format, strings.Join(violations, "\n"), data)
	}
	return data
}
