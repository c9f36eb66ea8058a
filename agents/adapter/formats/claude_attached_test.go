package formats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// What Claude Code attaches for the model to read is a message that names it; what it reminds the model of is an event.
func TestAttachedFilesAreMessages(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	for _, c := range []struct{ attachment, want string }{
		{`{"type":"file","filename":"/w/a  b.md","content":{"type":"text","file":{"filePath":"/w/a  b.md","content":"half \ud800 of 7\n","numLines":1}}}`, "file /w/a  b.md: half \ufffd of 7\n"},
		{`{"type":"new_file","filename":"/w/a.md","content":{"type":"text","file":{"content":"7"}}}`, "file /w/a.md: 7"},
		{`{"type":"file","filename":"/w/a.md","content":"the limit is 7"}`, "file /w/a.md: the limit is 7"},
		{`{"type":"file","filename":"/w/empty","content":{"type":"text","file":{"content":""}}}`, "file /w/empty: "},
		{`{"type":"file","filename":"/w/a.png","content":{"type":"image","file":{"base64":"iVBORw0KGgo=","type":"image/png"}}}`, "file /w/a.png: image/png iVBORw0KGgo="},
		{`{"type":"file","filename":"/w/a.pdf","content":{"type":"pdf","file":{"base64":"JVBERi0="}}}`, "file /w/a.pdf: application/pdf JVBERi0="},
		{`{"type":"file","filename":"/w/a.ipynb","content":{"type":"notebook","file":{"cells":[{"source":"x = 7"},{"source":["y","= 8"]}]}}}`, "file /w/a.ipynb: x = 7\n\ny= 8"},
		{`{"type":"directory","path":"/w","content":"a.md\nb.md","displayPath":"w"}`, "directory /w: a.md\nb.md"},
		{`{"type":"edited_text_file","filename":"/w/a.md","snippet":"1\tseven"}`, "change /w/a.md: 1\tseven"},
		{`{"type":"mcp_resource","server":"wiki","uri":"wiki://limits","content":{"contents":[{"uri":"wiki://limits","text":"7"}]}}`, "resource wiki wiki://limits: 7"},
		{`{"type":"mcp_resource","server":"wiki","uri":"wiki://all","content":{"contents":[{"text":"7"},{"text":"8"},{"blob":"x"}]}}`, "resource wiki wiki://all: 7\n\n8"},
		{`{"type":"selected_lines_in_ide","filename":"/w/a.md","lineStart":1,"lineEnd":2,"content":"seven"}`, "selection /w/a.md: seven"},
		{`{"type":"plan_file_reference","planFilePath":"/p.md","planContent":"# Plan"}`, "plan /p.md: # Plan"},
		{`{"type":"nested_memory","path":"/w/x/CLAUDE.md","content":{"path":"/w/x/CLAUDE.md","type":"Project","content":"Use tabs."}}`, "file /w/x/CLAUDE.md: Use tabs."},
		{`{"type":"relevant_memories","memories":[{"path":"/m/a.md","content":"7"},{"path":"/m/b.md","content":"8"}]}`, "memories : 7\n\n8"},
		{`{"type":"teammate_mailbox","messages":[{"from":"ada","text":"It is 7."}]}`, "messages : It is 7."},
		{`{"type":"file","filename":"/w/a.md"}`, ""},
		{`{"type":"file","filename":"/w/a.md","content":{"type":"file_unchanged","file":{"filePath":"/w/a.md"}}}`, ""},
		{`{"type":"already_read_file","filename":"/w/a.md","content":{"type":"text","file":{"content":"7"}}}`, ""},
		{`{"type":"compact_file_reference","filename":"/w/a.md"}`, ""},
		{`{"type":"todo_reminder","content":[]}`, ""},
		{`{"type":"hook_additional_context","content":["seven"]}`, ""},
		{`{"content":"the limit is 7"}`, ""},
	} {
		data := fmt.Appendf(nil, `{"parentUuid":null,"sessionId":"s","uuid":"u1","type":"user","message":{"role":"user","content":"Implement it."}}
{"parentUuid":"u1","sessionId":"s","uuid":"f1","timestamp":"2026-01-02T03:04:05.000Z","type":"attachment","attachment":%s}
{"parentUuid":"f1","sessionId":"s","uuid":"a1","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Yes."}]}}
`, c.attachment)
		var s adaptertest.Session
		records, losses := s.Import(t, f, "", data)
		got := ""
		if r := records[1]; !r.Event {
			m, parts := ctxabi.DecodeParts(r.Line)
			kind, name, ok := ctxabi.ParseAttached(m.Text)
			if !ok || m.Role != ctxabi.User || m.TS == "" || len(parts) != 2 {
				t.Errorf("%s: the message is %s", c.attachment, r.Line)
			}
			said := strings.TrimPrefix(parts[1].Text, "\n")
			if data, is := ctxabi.PayloadOf(parts[1].Raw); is {
				said = data.Mime + " " + attachedData(c.attachment)
			}
			got = kind + " " + name + ": " + said
		}
		unknown := 0
		if !strings.HasPrefix(c.attachment, `{"type"`) {
			unknown = 1
		}
		if got != c.want || len(losses) != unknown {
			t.Errorf("%s\ngot  %q, %v\nwant %q", c.attachment, got, losses, c.want)
		}
		out, lost := s.Export(t, f)
		if diff := adaptertest.CanonicalEqual(data, out); diff != "" || len(lost) > 0 {
			t.Errorf("%s: %s %v", c.attachment, diff, lost)
		}
	}
}

// attachedData is the base64 of an attachment.
func attachedData(attachment string) string {
	_, rest, _ := strings.Cut(attachment, `"base64":"`)
	data, _, _ := strings.Cut(rest, `"`)
	return data
}
