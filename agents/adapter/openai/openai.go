package openai

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/bodies"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Format is OpenAI's Chat Completions: messages, the body of a request, and
// the lines of files for fine-tuning and for batches.
var Format = &adapter.Format{
	Name:   adapter.OpenAIName,
	Title:  "OpenAI Chat messages (JSON, JSONL, fine-tuning), AI SDK",
	Sniff:  sniffOpenAI,
	Import: func(in *adapter.Input, out adapter.Output) error { return openAIBodies.Read(in, out) },
	Export: func(src *adapter.Source, w io.Writer) error { return openAIBodies.Write(src, w) },
}

var openAIBodies = &bodies.Bodies{
	Name: adapter.OpenAIName,
	Lists: []bodies.List{
		{Path: "messages"},
		{Path: "input.messages"}, // of a preference, with the next two
		{Path: "preferred_output"},
		{Path: "non_preferred_output", Branch: true},
		{Path: "body.messages"}, // of a line of a batch
	},
	Message: openAIMessage,
	Foreign: openAIForeign,
}

// openAIMessage returns the record of a message. What a record has no field for is not in it.
func openAIMessage(m adapter.Object) (record adapter.Object, ok bool) {
	role := m.Get("role")
	switch name := m.Text("role"); {
	case name == "function": // the one of tool before there were tools
		role = adapter.Raw("tool")
	case ctxabi.ParseRole(name) == ctxabi.RoleUnknown:
		return nil, false
	}
	if !slices.ContainsFunc([]string{"content", "tool_calls", "function_call", "refusal", "audio"}, m.Has) {
		return nil, false
	}
	record = adapter.Object{{"role", role}}
	calls := m.Get("tool_calls")
	if calls != nil && calls[0] != '[' {
		calls = nil
	}
	content := aiSDKContent(m.Get("content"))
	if said := openAISaid(m); said != nil && (content == nil || content[0] == 'n') {
		content = said
	}
	if content != nil || calls == nil {
		record = append(record, adapter.Field{"content", bodies.ContentFrom(content)})
	}
	if calls != nil {
		record = append(record, adapter.Field{"tool_calls", calls})
	}
	for _, key := range []string{"function_call", "tool_call_id", "name", "id", "ts"} {
		if v := m.Get(key); v != nil {
			record = append(record, adapter.Field{key, v})
		}
	}
	if !record.Has("ts") {
		record = adapter.AppendTime(record, m, "timestamp", "created_at")
	}
	return record, true
}

// openAISaid is what a message without content says beside it: that it
// refuses, or aloud.
func openAISaid(m adapter.Object) json.RawMessage {
	if v := m.Get("refusal"); len(v) > 2 && v[0] == '"' {
		return adapter.Raw([]adapter.Object{{{"type", adapter.Raw("refusal")}, {"refusal", v}}})
	}
	if v := m.Object("audio").Get("transcript"); len(v) > 2 && v[0] == '"' {
		return adapter.Raw([]adapter.Object{{{"type", adapter.Raw("text")}, {"text", v}}})
	}
	return nil
}

func sniffOpenAI(_ string, head []byte) int {
	sure, _ := adapter.SniffBodies(head)
	if sure > 0 && !openAIBodies.Reads(head) {
		return 0
	}
	return sure
}
