package ctxabi

import (
	"strings"
	"testing"
)

func TestDecodeToolEvent(t *testing.T) {
	for _, c := range []struct {
		line string
		want ToolEvent
	}{
		{`{"type":"tool_call","id":"c1","name":"bash","arguments":"{\"cmd\": 1}"}`, ToolEvent{CallID: "c1", Name: "bash", Arguments: `{"cmd": 1}`}},
		{`{"type":"tool_call","id":"ev-1","call_id":"c1","tool":"bash","args":{"cmd": 1}}`, ToolEvent{CallID: "c1", Name: "bash", Arguments: `{"cmd": 1}`}},
		{`{"type":"tool_call","tool_call_id":"c1","name":"bash","input":["a"]}`, ToolEvent{CallID: "c1", Name: "bash", Arguments: `["a"]`}},
		{`{"type":"tool_call","id":7,"name":"noop"}`, ToolEvent{CallID: "7", Name: "noop"}},
		{`{"type":"tool_call"}`, ToolEvent{Text: `{"type":"tool_call"}`}},
		{`{"type":"tool_result","id":"ev-2","tool_call_id":"c1","content":"ok"}`, ToolEvent{IsResult: true, CallID: "c1", Text: "ok"}},
		{`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}`,
			ToolEvent{IsResult: true, CallID: "t", Text: "a\nb", Images: 1}},
		{`{"type":"tool_result","id":"c","output":"out","exit_code":1}`, ToolEvent{IsResult: true, CallID: "c", Text: "out", ExitCode: "1"}},
		{`{"type":"tool_result","id":"c","result":{"n": 1},"is_error":true}`, ToolEvent{IsResult: true, CallID: "c", Text: `{"n": 1}`, Failed: true}},
		{`{"type":"tool_result","id":"c","text":"t","error":null}`, ToolEvent{IsResult: true, CallID: "c", Text: "t"}},
		{`{"type":"tool_result","id":"c","content":"","output":"t","error":false}`, ToolEvent{IsResult: true, CallID: "c", Text: "t"}},
		{`{"type":"tool_result","id":"c","content":"half","error":"disk full"}`, ToolEvent{IsResult: true, CallID: "c", Text: "half\ndisk full", Failed: true}},
		{`{"type":"tool_result","id":"c","error":true,"content":"x"}`, ToolEvent{IsResult: true, CallID: "c", Text: "x", Failed: true}},
		{`{"type":"tool_result","id":"c","content":""}`, ToolEvent{IsResult: true, CallID: "c"}},
		{`{"type":"tool_result","id":"c","ms":12}`, ToolEvent{IsResult: true, CallID: "c", Text: `{"type":"tool_result","id":"c","ms":12}`}},
		{`{"type":"tool\u005fcall","name":"a","name":"b"}`, ToolEvent{Name: "b"}},
	} {
		got, ok := DecodeToolEvent([]byte(c.line))
		if !ok || got != c.want {
			t.Errorf("%s\n got %+v, %v\nwant %+v", c.line, got, ok, c.want)
		}
	}
	for _, line := range []string{"", "{}", `{"type":"usage"}`, `{"type":7}`, `{"type":"tool_call"`, "{\"type\":\"tool_call\",\"name\":\"\xff\"}", `[]`} {
		if e, ok := DecodeToolEvent([]byte(line)); ok {
			t.Errorf("%q: %+v", line, e)
		}
	}
}

// A tool event that is read is always one that may be written, and the other way round.
func FuzzDecodeToolEvent(f *testing.F) {
	for _, seed := range []string{`{"type":"tool_call","name":"a","arguments":{}}`, `{"type":"tool_result","content":[{}]}`, "x", `{"type":""}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, ok := DecodeToolEvent(line)
		if ok && CheckEvent(line) != nil {
			t.Fatalf("%q is read as %+v and refused", line, e)
		}
		for _, s := range []string{e.CallID, e.Name, e.Arguments, e.Text, e.ExitCode} {
			if s != strings.ToValidUTF8(s, "") {
				t.Fatalf("%q is not text", s)
			}
		}
		if ok && e.Weight() < 1 {
			t.Fatal("no weight")
		}
	})
}
