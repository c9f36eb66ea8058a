package packtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Without the journal, pack.md shows the last request as the request bodies do.
func TestNoJournalKeepsLastRequest(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/context.yaml", "strategy: bare\nstrategies:\n  bare: {leaves_out: [journal]}\n"+
		"sources:\n  - {type: system_role}\n  - {type: journal}\n")
	s.Append("messages.jsonl", harness.Message("user", "Paint the shed green.")+harness.Message("assistant", "I do."))
	if strings.Contains(s.Read("context/pack.md"), "Block: conversation") {
		t.Error("the strategy was not used")
	}
	for _, file := range []string{"pack.md", "pack.openai.json", "pack.anthropic.json"} {
		if text := s.Read("context/" + file); !strings.Contains(text, "Paint the shed green.") {
			t.Errorf("%s lacks the request:\n%s", file, text)
		}
	}
}

// pack.md has less room for tools than the request bodies, and says where all of them are.
func TestCutToolsNameTheirFile(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	var tools []string
	const tool = `{"name":"tool_%d","description":"%s","parameters":{"type":"object","properties":{}}}`
	for i := range 120 {
		tools = append(tools, fmt.Sprintf(tool, i, strings.Repeat("It moves a crate. ", 6)))
	}
	s.Write("../../tools.json", "["+strings.Join(tools, ",")+"]")
	s.Append("messages.jsonl", harness.Message("user", "hi"))
	if text := s.Read("context/pack.openai.json"); !strings.Contains(text, `"tool_119"`) {
		t.Error("the request body lacks tools")
	}
	text := s.Read("context/pack.md")
	if strings.Contains(text, `"tool_119"`) || !strings.Contains(text, "tools.json]") {
		t.Errorf("pack.md does not name tools.json:\n%s", text)
	}
	report := s.Read("context/pack.report.md")
	if !strings.Contains(report, "request bodies of providers define all tools") {
		t.Errorf("the report is\n%s", report)
	}
}

// Memory and knowledge that share no word with the task take nothing of the prompt.
func TestUnrelatedMemoryIsNotShown(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Bash("mkdir -p ../../memory ../../knowledge").OK()
	s.Write("../../memory/topic.md", "Zebras live in the savanna.\n")
	s.Write("../../knowledge/topic.md", "# Zebras\n\nThey eat grass.\n")
	s.Append("messages.jsonl", harness.Message("user", "hello there, tidy up"))
	for _, shown := range []string{"Zebras", "Block: memory", "Block: knowledge"} {
		if text := s.Read("context/pack.md"); strings.Contains(text, shown) {
			t.Errorf("the prompt is\n%s", text)
		}
	}
	s.Append("messages.jsonl", harness.Message("user", "Where do zebras live?"))
	if text := s.Read("context/pack.md"); !strings.Contains(text, "savanna") {
		t.Errorf("the prompt is\n%s", text)
	}
}
