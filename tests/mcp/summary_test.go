package mcp

import (
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
