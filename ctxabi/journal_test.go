package ctxabi

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// journal is what a line of messages.jsonl has in the journal.
func journal(line string) string {
	m := DecodeMessage([]byte(line))
	return string(AppendJournal(nil, &m))
}

func TestTheJournalOfAMessage(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{`{"role":"user","content":"Fix <it> & \"that\"."}`, `{"type":"USER_MESSAGE","payload":{"content":"Fix <it> & \"that\"."}}`},
		{`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:,"}},{"type":"text","text":"b"}]}`,
			`{"type":"USER_MESSAGE","payload":{"content":"a\nb"}}`},
		{`{"role":"assistant","content":null}`, `{"type":"THOUGHT","payload":{"content":""}}`},
		{`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"ls","input":{"dir":"d"}}]}`,
			`{"type":"THOUGHT","payload":{"content":"I look.","tool_calls":[{"id":"t1","type":"function","function":{"name":"ls","arguments":"{\"dir\":\"d\"}"}}]}}
{"type":"ACTION_REQUEST","payload":{"action_id":"t1","tool_name":"ls"}}`},
		{`{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{ }"}},{"id":"b","name":"cat","arguments":"{}"}]}`,
			`{"type":"THOUGHT","payload":{"content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{ }"}},{"id":"b","type":"function","function":{"name":"cat","arguments":"{}"}}]}}
{"type":"ACTION_REQUEST","payload":{"action_id":"a","tool_name":"ls"}}
{"type":"ACTION_REQUEST","payload":{"action_id":"b","tool_name":"cat"}}`},
		{`{"role":"tool","tool_call_id":"a","content":"file.txt\n"}`, `{"type":"ACTION_RESULT","payload":{"action_id":"a","observation_content":"file.txt\n"}}`},
		{`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"two"}],"is_error":true}]}`,
			`{"type":"ACTION_RESULT","payload":{"action_id":"t1","observation_content":"one"}}
{"type":"ACTION_RESULT","payload":{"action_id":"t2","observation_content":"two"}}`},
		{`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"},{"type":"text","text":"Go on."}]}`,
			`{"type":"ACTION_RESULT","payload":{"action_id":"t1","observation_content":"one"}}
{"type":"USER_MESSAGE","payload":{"content":"Go on."}}`},
		{`{"role":"system","content":"rules"}`, ""},
		{`{"role":"developer","content":"rules"}`, ""},
		{`{"note":"no message"}`, ""},
		{`not JSON`, ""},
	} {
		if got := strings.TrimSuffix(journal(c.message), "\n"); got != c.want {
			t.Errorf("%s has\n%s\nwant\n%s", c.message, got, c.want)
		}
	}
}

// Whatever a message has, its journal is whole lines of known types, whose strings are those of the message.
func TestAJournalIsLinesOfJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab\"\\<&\n\r\u2028\u0000\u001f\U0001F600\u00e9")))
		m := Message{Role: Role(rapid.IntRange(0, int(Event)).Draw(t, "role")), Text: text.Draw(t, "text"), CallID: text.Draw(t, "call")}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.Calls = append(m.Calls, Call{text.Draw(t, "id"), text.Draw(t, "name"), text.Draw(t, "arguments")})
		}
		for range rapid.IntRange(0, 3).Draw(t, "results") {
			m.Results = append(m.Results, Result{CallID: text.Draw(t, "id"), Text: text.Draw(t, "text")})
		}
		data := AppendJournal([]byte("before"), &m)
		data, ok := bytes.CutPrefix(data, []byte("before"))
		if !ok || len(data) > 0 && data[len(data)-1] != '\n' {
			t.Fatalf("%q", data)
		}
		var calls []Call
		var results []Result
		for line := range bytes.Lines(data) {
			var r struct {
				Type    string
				Payload struct {
					JournalAnswer
					JournalAction
					Observation string `json:"observation_content"`
				}
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%v: %q", err, line)
			}
			switch r.Type {
			case JournalThought:
				for _, c := range r.Payload.Calls {
					calls = append(calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
				}
				fallthrough
			case JournalUser:
				if r.Payload.Content != m.Text {
					t.Fatalf("%q says %q, want %q", line, r.Payload.Content, m.Text)
				}
			case JournalResult:
				results = append(results, Result{CallID: r.Payload.ID, Text: r.Payload.Observation})
			case JournalRequest:
			default:
				t.Fatalf("type %q", r.Type)
			}
		}
		if m.Role == Assistant && len(calls) != len(m.Calls) {
			t.Fatalf("%d calls of %d", len(calls), len(m.Calls))
		}
		for i, c := range calls {
			if c != m.Calls[i] {
				t.Fatalf("call %q, want %q", c, m.Calls[i])
			}
		}
		if m.Role == Assistant || m.Role == User {
			if len(results) != len(m.Results) {
				t.Fatalf("%d results of %d", len(results), len(m.Results))
			}
			for i, r := range results {
				if r != m.Results[i] {
					t.Fatalf("result %+v, want %+v", r, m.Results[i])
				}
			}
		}
	})
}
