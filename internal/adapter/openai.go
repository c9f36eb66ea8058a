package adapter

import (
	"encoding/json"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// openAI is OpenAI's Chat Completions: messages, the body of a request, and
// the lines of files for fine-tuning and for batches.
var openAI = &Format{
	Name:   openAIName,
	Title:  "OpenAI Chat messages (JSON, JSONL, fine-tuning), AI SDK",
	Sniff:  sniffOpenAI,
	Import: func(in *Input, out Output) error { return openAIBodies.read(in, out) },
	Export: func(src *Source, w io.Writer) error { return openAIBodies.write(src, w) },
}

var openAIBodies = &bodies{
	name: openAIName,
	lists: []bodyList{
		{path: "messages"},
		{path: "input.messages"}, // of a preference, with the next two
		{path: "preferred_output"},
		{path: "non_preferred_output", branch: true},
		{path: "body.messages"}, // of a line of a batch
	},
	message: openAIMessage,
	foreign: openAIForeign,
}

// openAIMessage returns the record of a message. What a record has no field for is not in it.
func openAIMessage(m Object) (record Object, ok bool) {
	role := m.Get("role")
	switch name := m.Text("role"); {
	case name == "function": // the one of tool before there were tools
		role = Raw("tool")
	case ctxabi.ParseRole(name) == ctxabi.RoleUnknown:
		return nil, false
	}
	record = Object{{"role", role}}
	calls := m.Get("tool_calls")
	if calls != nil && calls[0] != '[' {
		calls = nil
	}
	content := aiSDKContent(m.Get("content"))
	if said := openAISaid(m); said != nil && (content == nil || content[0] == 'n') {
		content = said
	}
	if content != nil || calls == nil {
		record = append(record, Field{"content", contentFrom(content)})
	}
	if calls != nil {
		record = append(record, Field{"tool_calls", calls})
	}
	for _, key := range []string{"function_call", "tool_call_id", "name", "id", "ts"} {
		if v := m.Get(key); v != nil {
			record = append(record, Field{key, v})
		}
	}
	if !record.Has("ts") {
		record = appendTime(record, m, "timestamp", "created_at")
	}
	return record, true
}

// openAISaid is what a message without content says beside it: that it
// refuses, or aloud.
func openAISaid(m Object) json.RawMessage {
	if v := m.Get("refusal"); len(v) > 2 && v[0] == '"' {
		return Raw([]Object{{{"type", Raw("refusal")}, {"refusal", v}}})
	}
	if v := m.Object("audio").Get("transcript"); len(v) > 2 && v[0] == '"' {
		return Raw([]Object{{{"type", Raw("text")}, {"text", v}}})
	}
	return nil
}

func sniffOpenAI(_ string, head []byte) int {
	sure, _ := sniffBodies(head)
	return sure
}
