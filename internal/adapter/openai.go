package adapter

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

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

const openAIName = "openai"

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

// appendTime appends the field ts when one of the keys holds a time as RFC 3339 writes it.
func appendTime(record, source Object, keys ...string) Object {
	for _, key := range keys {
		if _, err := time.Parse(time.RFC3339, source.Text(key)); err == nil {
			return append(record, Field{"ts", source.Get(key)})
		}
	}
	return record
}

func sniffOpenAI(_ string, head []byte) int {
	sure, _ := sniffBodies(head)
	return sure
}

func sniffAnthropic(_ string, head []byte) int {
	_, sure := sniffBodies(head)
	return sure
}

// sniffBodies returns how sure it is, from 0 to 100, that head begins a transcript of the messages of OpenAI's API, and of Anthropic's.
func sniffBodies(head []byte) (openAI, anthropic int) {
	if h := bytes.TrimSpace(head); len(h) == 0 || h[0] != '{' && h[0] != '[' {
		return 0, 0
	}
	s := shapeOf(head)
	if s.has("$.payload", "$.uuid", "$.message", "$.trajectory", "$.trajectory_format", "$.steps", "$.schema_version", "$.source") {
		return 0, 0
	}
	loose, roles := false, false
	ours, theirs := s.has("$.input.messages", "$.preferred_output", "$.body.messages", "$.functions", "$.tools[].function"),
		s.has("$.system", "$.anthropic_version", "$.stop_reason", "$.tools[].input_schema", "$.params.messages")
	ours = ours || s.says("$.model", "gpt*", "o1*", "o3*", "o4*", "ft:*")
	theirs = theirs || s.says("$.model", "claude*")
	for _, p := range []string{"$", "$[]", "$.messages[]", "$[].messages[]", "$[][]", "$.input.messages[]", "$.body.messages[]", "$.params.messages[]"} {
		if !s.says(p+".role", "system", "developer", "user", "assistant", "tool", "function") {
			continue
		}
		roles = true
		loose = loose || p == "$" || p == "$[]"
		if s.has(p + "." + StampKey) {
			return 5, 0
		}
		ours = ours || s.has(p+".content[].toolCallId", p+".tool_calls", p+".tool_call_id", p+".function_call", p+".refusal", p+".content[].image_url",
			p+".content[].input_audio", p+".content[].file") || s.says(p+".role", "function", "tool", "developer")
		theirs = theirs || s.has(p+".content[].source", p+".content[].cache_control", p+".content[].tool_use_id", p+".stop_reason") ||
			s.says(p+".content[].type", "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "document")
	}
	switch dated := s.has("$.ts", "$[].ts"); {
	case !roles:
		return 0, 0
	case ours && theirs && !loose:
		return 70, 70
	case ours && (theirs || dated):
		return 60, 55
	case ours:
		return 90, 5
	case theirs && dated:
		return 20, 60
	case theirs:
		return 5, 90
	case loose:
		return 50, 40
	}
	return 65, 45
}
