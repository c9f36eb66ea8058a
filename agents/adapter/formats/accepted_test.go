package formats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// exported is a session of records in a format, and what that lost.
func exported(t *testing.T, to string, records ...string) (text, losses string) {
	t.Helper()
	var s adaptertest.Session
	for _, r := range records {
		s.Records = append(s.Records, adapter.Record{Line: []byte(r)})
	}
	data, lost := s.Export(t, format(t, to))
	return string(data), fmt.Sprint(lost)
}

// A picture that the provider refuses went along with a hand-over.
func TestExportRepairsImages(t *testing.T) {
	html := `{"role":"user","content":[` + packtest.ImagePart("image/png", "PCFET0NUWVBFIGh0bWw+") + `,` + packtest.ImagePart("image/png", packtest.SmallJPEG) + `]}`
	for _, to := range bodyFormats {
		text, losses := exported(t, to, html)
		if strings.Contains(text, "PCFET0NUWVBFIGh0bWw+") || !strings.Contains(text, "image/jpeg") || strings.Contains(text, "image/png") {
			t.Errorf("%s: %s", to, text)
		}
		if !strings.Contains(losses, "its bytes are no PNG") || !strings.Contains(losses, "the media type of an image is corrected") {
			t.Errorf("%s: %s", to, losses)
		}
	}
}

// A tool's name of 260 letters went along with a hand-over to Claude Code.
func TestExportShortensToolNames(t *testing.T) {
	long := strings.Repeat("mcp__server__", 20)
	for _, to := range []string{"claude-code", "codex"} {
		text, losses := exported(t, to, `{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"`+long+`","arguments":"{}"}}]}`)
		if strings.Contains(text, long) || !strings.Contains(text, long[:64]) || !strings.Contains(losses, "the name of a tool") {
			t.Errorf("%s: %s\n%s", to, text, losses)
		}
	}
}

// A session's reasoning fields and signatures were not exported.
func TestExportReturnsContinuations(t *testing.T) {
	chat := `{"role":"assistant","content":"","reasoning_content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}`
	if text, _ := exported(t, "openai", chat); !strings.Contains(text, `"reasoning_content":"I look."`) || !strings.Contains(text, `"extra_content":{"google":{"thought_signature":"c2ln"}}`) {
		t.Errorf("openai: %s", text)
	}
	if text, _ := exported(t, adapter.ContentsName, chat, `{"role":"assistant","tool_calls":[{"id":"c2","name":"ls","arguments":{}},{"id":"c3","name":"ls","arguments":{}}]}`); !strings.Contains(text, `"thoughtSignature":"c2ln"`) || strings.Count(text, "skip_thought_signature_validator") != 1 {
		t.Errorf("contents: %s", text)
	}
}

// Signatures were kept only for an export in the same format.
func TestGeminiImportKeepsSignatures(t *testing.T) {
	const contents = `{"contents":[{"role":"user","parts":[{"text":"List."}]},{"role":"model","parts":[{"text":"I look.","thoughtSignature":"dGV4dA=="},{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"c2ln"}]}]}`
	var s adaptertest.Session
	added, _ := s.Import(t, format(t, adapter.ContentsName), "", []byte(contents))
	line := string(added[len(added)-1].Line)
	for _, want := range []string{`{"type":"text","text":"I look.","thoughtSignature":"dGV4dA=="}`, `"input":{},"thoughtSignature":"c2ln"}`} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	data, _ := s.Export(t, format(t, adapter.ContentsName))
	if diff := adaptertest.CanonicalEqual([]byte(contents), data); diff != "" {
		t.Error(diff)
	}
}

// Formats of programs that work with several providers carried images that every provider refuses.
func TestEveryExportRepairsImages(t *testing.T) {
	html := packtest.ImagePart("image/png", "PCFET0NUWVBFIGh0bWw+")
	html = `{"role":"user","content":[{"type":"text","text":"Look."},` + html + `]}`
	for _, to := range strings.Fields("ui-messages converse atif pi openhands gemini opencode langchain sweagent") {
		text, losses := exported(t, to, html)
		if strings.Contains(text, "PCFET0NUWVBFIGh0bWw+") {
			t.Errorf("%s: %s", to, text)
		}
		if !strings.Contains(losses, "its bytes are no PNG") {
			t.Errorf("%s: %s", to, losses)
		}
	}
}

// A rendering paired a result without an id with its call; an export made a text of the user of it.
func TestExportPairsAsRenderings(t *testing.T) {
	text, losses := exported(t, "openai",
		`{"role":"user","content":"List both."}`,
		`{"role":"assistant","tool_calls":[{"id":"c1","name":"mcp.list/dir","arguments":{}},`+
			`{"id":"c2","name":"9 lives","arguments":{}}]}`,
		`{"role":"tool","name":"9_lives","content":"nine"}`,
		`{"role":"tool","content":"bin"}`)
	for _, want := range []string{
		`"name":"mcp_list_dir"`, `"name":"_9_lives"`,
		`"tool_call_id":"c1","content":"bin"`, `"tool_call_id":"c2","content":"nine"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s\n%s", want, text, losses)
		}
	}
}
