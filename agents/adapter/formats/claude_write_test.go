package formats_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// claudeElsewhere is a session that no transcript of Claude Code was read into.
var claudeElsewhere = []adapter.Record{
	{Line: []byte(`{"role":"system","content":"You are careful."}`)},
	{Line: []byte(`{"role":"user","content":"Why is it <slow>? \ud83d","name":"mia","ts":"2026-11-20T08:00:00Z"}`)},
	{Line: []byte(`{"role":"assistant","content":"I look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{\"dir\": \"/srv\"}"}},{"id":"functions.grep:1","type":"function","function":{"name":"grep","arguments":"not json"}}]}`)},
	{Event: true, Line: []byte(`{"type":"usage","prompt_tokens":10}`)},
	{Line: []byte(`{"role":"tool","tool_call_id":"functions.grep:1","content":"slow.go:1"}`)},
	{Line: []byte(`{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"slow.go"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="}}]}`)},
	{Chain: "rev-1", Line: []byte(`{"role":"user","content":"Review slow.go."}`)},
	{Chain: "rev-1", Line: []byte(`{"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"thinking","thinking":"so","signature":"c2ln"},{"type":"text","text":"It sorts twice."}]}`)},
	{Line: []byte(`{"role":"assistant","content":null,"tool_calls":[{"name":"run","arguments":{"n":1.50}}]}`)},
	{Line: []byte(`{"role":"tool","content":"done"}`)},
	{Line: []byte(`{"role":"tool","tool_call_id":"nobody","content":"lost"}`)},
	{Event: true, Line: []byte(`{"type":"deploy","id":1}`)},
	{Line: []byte(`{"role":"user","content":[{"type":"text","text":"And this?"},{"type":"image_url","image_url":{"url":"https://example.org/a.png"}},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}`)},
	{Line: []byte(`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_9","name":"cat","input":{}}]}`)},
	{Line: []byte(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","is_error":true,"content":"no such file"},{"type":"text","text":"Try again."}]}`)},
	{Line: []byte(`{"role":"assistant","content":""}`)},
	{Line: []byte(`{"role":"user","content":""}`)},
}

func claudeExported(t *testing.T, f *adapter.Format, name string, records []adapter.Record) (out []byte, losses []string) {
	t.Helper()
	var b bytes.Buffer
	src := &adapter.Source{Name: name, Records: records, Loss: func(l adapter.Loss) { losses = append(losses, l.Where+": "+l.What) }}
	if err := f.Export(src, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), losses
}

func TestClaudeIsWrittenFromElsewhere(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	out, losses := claudeExported(t, f, "s1", claudeElsewhere)
	checkClaude(t, out)
	for _, what := range []string{"no system prompt", "name of an author", "not a JSON object", "without a signature", "no call asked for", "a sound", "events of other programs", "is empty", "half of a surrogate pair"} {
		if n := len(slices.DeleteFunc(slices.Clone(losses), func(l string) bool { return !strings.Contains(l, what) })); n != 1 {
			t.Errorf("%d losses say %q: %q", n, what, losses)
		}
	}
	if again, _ := claudeExported(t, f, "s1", claudeElsewhere); !bytes.Equal(out, again) {
		t.Error("a second export is another")
	}
	if other, _ := claudeExported(t, f, "s2", claudeElsewhere); bytes.Equal(out, other) {
		t.Error("another session has the same ids")
	}
	claudeGolden(t, "testdata/golden/claude-code-elsewhere.jsonl", out)

	var s adaptertest.Session
	records, lost := s.Import(t, f, "", out)
	if len(lost) > 0 {
		t.Error(lost)
	}
	var got []string
	for _, r := range records {
		if m := ctxabi.DecodeMessage(r.Line); !r.Event {
			got = append(got, fmt.Sprintf("%s %s %q %d calls %d results", r.Chain, m.Role, m.Text, len(m.Calls), len(m.Results)))
		}
	}
	want := []string{
		` user "Why is it <slow>? �" 0 calls 0 results`,
		` assistant "I look." 2 calls 0 results`,
		` user "" 0 calls 1 results`,
		` user "" 0 calls 1 results`,
		`agent-rev-1 user "Review slow.go." 0 calls 0 results`,
		`agent-rev-1 assistant "It sorts twice." 0 calls 0 results`,
		` assistant "" 1 calls 0 results`,
		` user "" 0 calls 1 results`,
		` user "lost" 0 calls 0 results`,
		` user "And this?" 0 calls 0 results`,
		` assistant "" 1 calls 0 results`,
		` user "Try again." 0 calls 1 results`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	back, _ := s.Export(t, f)
	if diff := adaptertest.CanonicalEqual(out, back); diff != "" {
		t.Error(diff)
	}
}

// Programs there are that begin to count their calls anew with each answer.
func TestClaudeCallsOfOneIDAreTold(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	var records []adapter.Record
	for range 3 {
		records = append(records,
			adapter.Record{Line: []byte(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","name":"ls","arguments":"{}"},{"id":"call_1","name":"ls","arguments":""}]}`)},
			adapter.Record{Line: []byte(`{"role":"tool","tool_call_id":"call_1","content":"one"}`)},
			adapter.Record{Line: []byte(`{"role":"tool","tool_call_id":"call_0","content":"zero"}`)})
	}
	out, losses := claudeExported(t, f, "s1", records)
	checkClaude(t, out)
	if len(losses) > 0 || bytes.Count(out, []byte("tool_result")) != 6 {
		t.Errorf("%v\n%s", losses, out)
	}
	var s adaptertest.Session
	imported, _ := s.Import(t, f, "", out)
	answers := map[string]string{}
	for _, r := range imported {
		m := ctxabi.DecodeMessage(r.Line)
		for _, result := range m.Results {
			answers[result.CallID] = result.Text
		}
	}
	for _, r := range imported {
		for i, call := range ctxabi.DecodeMessage(r.Line).Calls {
			if want := []string{"zero", "one"}[i]; answers[call.ID] != want {
				t.Errorf("%s is answered %q", call.ID, answers[call.ID])
			}
		}
	}
}

// A conversation that went on here continues the chain that was imported.
func TestClaudeGoesOnElsewhere(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	data, err := os.ReadFile("testdata/claude-code/parallel-calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	cut := bytes.Index(data, []byte(`"toolu_04Ed","type":"tool_result"`))
	cut = bytes.LastIndexByte(data[:cut], '\n') + 1
	var s adaptertest.Session
	s.Import(t, f, "", data[:cut])
	s.Records = append(s.Records,
		adapter.Record{Line: []byte(`{"role":"tool","tool_call_id":"toolu_04Ed","content":"edited here"}`)},
		adapter.Record{Line: []byte(`{"role":"assistant","content":"It is done."}`)})
	out, losses := s.Export(t, f)
	if len(losses) > 0 {
		t.Error(losses)
	}
	if !bytes.HasPrefix(out[:cut/2], data[:20]) || adaptertest.CanonicalEqual(data[:cut], out[:claudeLastLines(out, 2)]) != "" {
		t.Error("what was imported is not as it was")
	}
	var own []map[string]any
	for line := range bytes.Lines(out[claudeLastLines(out, 3):]) {
		var r map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		own = append(own, r)
	}
	for _, key := range []string{"sessionId", "cwd", "version", "gitBranch"} {
		if own[0][key] != own[1][key] || own[1][key] != own[2][key] {
			t.Errorf("%s: %v %v %v", key, own[0][key], own[1][key], own[2][key])
		}
	}
	if own[1]["parentUuid"] != own[0]["uuid"] || own[2]["parentUuid"] != own[1]["uuid"] || own[1]["sourceToolAssistantUUID"] != own[0]["uuid"] || !(own[2]["timestamp"].(string) > own[0]["timestamp"].(string)) {
		t.Errorf("%v\n%v\n%v", own[0], own[1], own[2])
	}
}

// claudeLastLines is where the last n lines begin.
func claudeLastLines(b []byte, n int) int {
	at := len(b) - 1
	for ; n > 0; n-- {
		at = bytes.LastIndexByte(b[:at], '\n')
	}
	return at + 1
}

var claudeUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// checkClaude holds a transcript that was made here to what readers of the format rely on.
func checkClaude(t *testing.T, data []byte) {
	t.Helper()
	last, times, seen, open := map[string]any{}, map[string]time.Time{}, map[string]bool{}, map[string]bool{}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		var r struct {
			ParentUuid                                        any
			UUID, SessionID, Cwd, Version, UserType, Type, TS string
			Timestamp, AgentID                                string
			IsSidechain                                       *bool
			Message                                           checkedMessage
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		bad := func(format string, args ...any) {
			t.Helper()
			t.Errorf("line %d: %s: %s", n, fmt.Sprintf(format, args...), line)
		}
		if !claudeUUID.MatchString(r.UUID) || !claudeUUID.MatchString(r.SessionID) || seen[r.UUID] || r.Cwd == "" || r.Version == "" || r.UserType != "external" || r.IsSidechain == nil {
			bad("envelope")
		}
		seen[r.UUID] = true
		if *r.IsSidechain != (r.AgentID != "") || r.ParentUuid != last[r.AgentID] {
			bad("chain")
		}
		last[r.AgentID] = r.UUID
		at, err := time.Parse("2006-01-02T15:04:05.000Z", r.Timestamp)
		if err != nil || !at.After(times[r.AgentID]) {
			bad("time: %v", err)
		}
		times[r.AgentID] = at
		if r.Type == "system" {
			continue
		}
		parts := r.Message.check(bad, r.Type)
		for _, p := range parts {
			checkClaudePart(bad, p.(map[string]any), open)
		}
	}
}

var claudeCall = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// checkedMessage is the message of a line.
type checkedMessage struct {
	ID, Role, Model string
	Content         any
	Usage           map[string]any
}

// check holds the message of a line of type typ to the same, and returns its parts.
func (m *checkedMessage) check(bad func(string, ...any), typ string) (parts []any) {
	parts, list := m.Content.([]any)
	switch typ {
	case "assistant":
		if !list || len(parts) != 1 || m.Role != "assistant" || m.ID == "" || m.Model == "" || m.Usage == nil {
			bad("answer")
		}
	case "user":
		if text, ok := m.Content.(string); m.Role != "user" || !list && (!ok || text == "") || list && len(parts) == 0 {
			bad("message")
		}
	default:
		bad("type")
	}
	return parts
}

// checkClaudePart holds one part of a message to the same; open are the ids of the calls before it, and it adds its own.
func checkClaudePart(bad func(string, ...any), p map[string]any, open map[string]bool) {
	switch p["type"] {
	case "text":
		if p["text"] == "" {
			bad("an empty text")
		}
	case "tool_use":
		id := p["id"].(string)
		if _, ok := p["input"].(map[string]any); !ok || open[id] || !claudeCall.MatchString(id) {
			bad("call")
		}
		open[id] = true
	case "tool_result":
		if !open[p["tool_use_id"].(string)] {
			bad("a result without a call")
		}
	case "image":
		if p["source"] == nil {
			bad("image")
		}
	case "thinking":
		if p["signature"] == "" {
			bad("thinking")
		}
	default:
		bad("part")
	}
}

// claudeGolden compares with a file, which CLAUDE_GOLDEN=write writes.
func claudeGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if os.Getenv("CLAUDE_GOLDEN") == "write" {
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has something else; CLAUDE_GOLDEN=write writes it anew. Now:\n%s", file, got)
	}
}

func TestClaudeRecords(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	for _, name := range []string{"parallel-calls", "rewind"} {
		data, err := os.ReadFile("testdata/claude-code/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		var s adaptertest.Session
		records, _ := s.Import(t, f, name, data)
		var b bytes.Buffer
		for _, r := range records {
			log := "messages"
			if r.Event {
				log = "events"
			}
			fmt.Fprintf(&b, "%s %s\n", log, r.Line)
		}
		claudeGolden(t, "testdata/golden/claude-code-"+name+".txt", b.Bytes())
	}
}
