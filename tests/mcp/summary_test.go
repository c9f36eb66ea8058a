package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestSaveSummaryDeliversVersion(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "coder", "s1")
	for range 2 {
		s.Append(ctxabi.MessagesFile, harness.Message("user", "Hello.")+harness.Message("assistant", "Hello."))
	}
	h := &host{t: t, m: m, project: t.TempDir()}
	c := h.serve("test", s.Dir)
	saved := c.call("save_summary", `{"text":"They met.","upto":3}`)
	wants(t, "save_summary", saved, "saved as version 1, which covers the messages up to 3")
	wants(t, "save_summary", c.call("save_summary", `{"text":"Early.","upto":1}`), "saved, but version 1")
	harness.WantFile(t, s, ctxabi.SummaryFile, "They met.")
	if writer, _ := s.Xattr(ctxabi.SummaryPath(1), "writer"); writer != "mcp" {
		t.Errorf("the writer is %q", writer)
	}

	var r struct {
		IsError bool
		Content []struct{ Text string }
	}
	c.ask("tools/call", `{"name":"save_summary","arguments":{"text":"x","upto":9}}`, &r)
	if !r.IsError || !strings.Contains(r.Content[0].Text, "upto is 9") {
		t.Errorf("an upto beyond the head: %+v", r)
	}
}

// A call of the tool pack enables requests for summaries, and save_summary answers a request.
func TestToolsAnswerRequest(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "coder", "s1")
	s.Write(ctxabi.BudgetFile, "4000\n")
	h := &host{t: t, m: m, project: t.TempDir()}
	c := h.serve("test", s.Dir)
	var tools struct {
		Tools []struct{ Name, Description string }
	}
	c.ask("tools/list", `{}`, &tools)
	for _, tool := range tools.Tools {
		if tool.Name == "save_summary" && !strings.Contains(tool.Description, "summary request") {
			t.Errorf("save_summary says %q", tool.Description)
		}
	}

	asked := false
	for i := 0; i < 60 && !asked; i++ {
		s.Append(ctxabi.MessagesFile, harness.Message("user", fmt.Sprintf("Pier %d?", i))+
			harness.Message("assistant", strings.Repeat(fmt.Sprintf("Pier %d stands. ", i), 30)))
		asked = strings.Contains(c.call("pack", `{}`), "# Context Block: summary request")
	}
	if !asked {
		t.Fatal("the prompt does not ask")
	}
	var q ctxabi.SummaryRequest
	if err := json.Unmarshal([]byte(s.Read(ctxabi.AskFile)), &q); err != nil {
		t.Fatal(err)
	}
	var r struct{ Contents []struct{ Text string } }
	c.ask("resources/read", `{"uri":"ctxfs:///`+ctxabi.AskFile+`"}`, &r)
	if len(r.Contents) != 1 || r.Contents[0].Text != s.Read(ctxabi.AskFile) {
		t.Errorf("the resource is %+v", r)
	}
	text, _ := json.Marshal(strings.Repeat("- Pier 1 stands.\n", 30))
	saved := c.call("save_summary", `{"text":`+string(text)+`}`)
	wants(t, "save_summary", saved, fmt.Sprintf("covers the messages up to %d", q.Upto))
	if strings.Contains(c.call("pack", `{}`), "# Context Block: summary request") {
		t.Error("the prompt asks again")
	}
}
