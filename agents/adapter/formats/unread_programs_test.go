package formats_test

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
)

const (
	claudeBegins = `{"uuid":"u1","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"Go on."}}` + "\n"
	codexBegins  = `{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}` + "\n" +
		codexItem + `{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on."}]}}` + "\n"
	codexItem  = `{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":`
	codexEvent = `{"timestamp":"2026-01-02T03:04:06.000Z","type":"event_msg","payload":`
)

// A record with a text that no message has is a loss; one that repeats a message, or is no part of the conversation, is none.
func TestUnreadRecordsOfPrograms(t *testing.T) {
	const after = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}` + "\n"
	for _, c := range []struct {
		format, lines string
		losses        int
		said          string // by a message
	}{
		{"claude-code", `{"uuid":"u2","parentUuid":"u1","sessionId":"s","type":"user","message":{"role":"system","content":"never push to main"}}`, 1, ""},
		{"claude-code", `{"uuid":"u2","parentUuid":"u1","sessionId":"s","type":"hologram","message":{"content":"never push to main"}}`, 1, ""},
		{"claude-code", `{"uuid":"u2","parentUuid":"u1","sessionId":"s","type":"other","message":{"content":"never push to main"}}`, 1, ""},
		{"claude-code", `{"uuid":"u2","parentUuid":"u1","sessionId":"s","type":"line","text":"never push to main"}`, 1, ""},
		{"claude-code", `{"uuid":"u2","parentUuid":"u1","sessionId":"s","type":"attachment","attachment":{"type":"hologram","content":"never push to main"}}`, 1, ""},
		{"claude-code", `{"uuid":"u2","parentUuid":"u1","sessionId":"s","type":"system","subtype":"informational","content":"Claude Code was updated."}`, 0, ""},
		{"claude-code", `{"uuid":"u2","parentUuid":"u1","sessionId":"s","type":"system","subtype":"compact_boundary","content":"Conversation compacted"}`, 0, ""},
		{"claude-code", `{"uuid":"u2","parentUuid":"u1","sessionId":"s","type":"assistant","isApiErrorMessage":true,"message":{"role":"assistant","content":[{"type":"text","text":"API Error"}]}}`, 0, ""},
		{"claude-code", `{"type":"result","subtype":"success","result":"Go on.","session_id":"s","uuid":"r"}`, 0, ""},
		{"codex", codexItem + `{"type":"function_call","name":"shell","call_id":"c1","arguments":{"command":"never push to main"}}}`, 1, ""},
		{"codex", codexItem + `{"type":"hologram","text":"never push to main"}}`, 1, ""},
		{"codex", `{"timestamp":"2026-01-02T03:04:06.000Z","type":"other","payload":{"text":"never push to main"}}`, 1, ""},
		{"codex", `{"timestamp":"2026-01-02T03:04:06.000Z","type":"line","payload":{"text":"never push to main"}}`, 1, ""},
		{"codex", codexEvent + `{"type":"hologram","message":"never push to main"}}`, 1, ""},
		{"codex", codexEvent + `{"type":"user_message","message":"Go on."}}`, 0, ""},
		{"codex", codexEvent + `{"type":"user_message","message":"never push to main"}}`, 1, ""},
		{"codex", codexEvent + `{"type":"error","message":"stream disconnected"}}`, 0, ""},
		{"codex", codexEvent + `{"type":"agent_reasoning","text":"never push to main"}}` + "\n" + codexItem + after, 0, "never push to main"},
		{"codex", codexEvent + `{"type":"agent_reasoning","text":"never push to main"}}`, 1, ""},
		{"codex", codexEvent + `{"type":"agent_reasoning","text":"**Look**\n\nI look."}}` + "\n" + codexItem + `{"type":"reasoning","summary":[{"type":"summary_text","text":"**Look**\n\nI look."}]}}` + "\n" + codexItem + after, 0, "I look."},
	} {
		f, _ := formats.Lookup(c.format)
		begins := claudeBegins
		if c.format == "codex" {
			begins = codexBegins
		}
		data := []byte(begins + c.lines + "\n")
		var s adaptertest.Session
		_, lost := s.Import(t, f, "x.jsonl", data)
		said := saidIn(&s, f, false)
		if len(lost) != c.losses || strings.Count(said, c.said) < 1 || c.losses > 0 && strings.Contains(said, "never push") {
			t.Errorf("%s: losses: %v", c.lines, lost)
		}
		if n := strings.Count(said, c.said); c.said != "" && n > 1 {
			t.Errorf("%s: messages say it %d times", c.lines, n)
		}
		out, _ := s.Export(t, f)
		if diff := adaptertest.CanonicalEqual(data, out); diff != "" {
			t.Errorf("%s: %s", c.lines, diff)
		}
	}
}

// What repeats a message that came with an earlier import is no loss.
func TestRepetitionOfImportedMessage(t *testing.T) {
	for format, data := range map[string][2]string{
		"codex":       {codexBegins, codexEvent + `{"type":"user_message","message":"Go on."}}` + "\n"},
		"claude-code": {claudeBegins, `{"type":"result","subtype":"success","result":"Go on.","session_id":"s","uuid":"r"}` + "\n"},
	} {
		f, _ := formats.Lookup(format)
		var s adaptertest.Session
		s.Import(t, f, "x.jsonl", []byte(data[0]))
		if records, lost := s.Import(t, f, "x.jsonl", []byte(data[0]+data[1])); len(records) != 1 || len(lost) > 0 {
			t.Errorf("%s: %d records, %v", format, len(records), lost)
		}
	}
}

// A rollout without items has calls of tools in events alone; those that make no message are losses.
func TestCallsInEventsAreReported(t *testing.T) {
	f, _ := formats.Lookup("codex")
	data := strings.SplitAfter(codexBegins, "\n")[0] + codexEvent + `{"type":"user_message","message":"Go on."}}` + "\n" +
		codexEvent + `{"type":"mcp_tool_call_end","call_id":"c1","result":{"Ok":{"content":[{"type":"text","text":"42 rows"}]}}}}` + "\n"
	var s adaptertest.Session
	if _, lost := s.Import(t, f, "x.jsonl", []byte(data)); len(lost) != 1 {
		t.Error(lost)
	}
}

// losses counts the losses of an import.
type losses struct{ all []adapter.Loss }

func (l *losses) Loss(loss adapter.Loss)      { l.all = append(l.all, loss) }
func (*losses) Record(r adapter.Record) error { return nil }

// The rollout of a sub-agent begins with a copy of its parent's; an event behind the copy may repeat a message of the copy.
func TestRepetitionOfCopiedMessage(t *testing.T) {
	f, _ := formats.Lookup("codex")
	const repeated = codexEvent + `{"type":"user_message","message":"Go on."}}` + "\n"
	const own = codexItem + `{"type":"message","role":"user","content":[{"type":"input_text","text":"Look."}]}}` + "\n"
	var lost losses
	child := strings.Replace(codexBegins, "03:04:05", "03:04:07", 1) + repeated + own
	in := &adapter.Input{R: strings.NewReader(child), Chain: "kepler",
		Seen: func(string, string) bool { return false }, From: &adapter.From{R: strings.NewReader(codexBegins)}}
	if err := f.Import(in, &lost); err != nil || len(lost.all) > 0 || in.From.Lines != 2 {
		t.Errorf("%v, %v, %d lines copied", err, lost.all, in.From.Lines)
	}
}
