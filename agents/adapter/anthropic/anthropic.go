package anthropic

import (
	"bytes"
	"encoding/json"
	"io"
	"path"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/bodies"
)

// Format is Anthropic's Messages: the body of a request, its messages
// alone, responses, and the lines of files for batches.
var Format = &adapter.Format{
	Name:   adapter.AnthropicName,
	Title:  "Anthropic Messages (JSON, JSONL), Cline",
	Sniff:  sniffAnthropic,
	Import: func(in *adapter.Input, out adapter.Output) error { return anthropicBodies.Read(in, out) },
	Export: func(src *adapter.Source, w io.Writer) error { return anthropicBodies.Write(src, w) },
}

var anthropicBodies = &bodies.Bodies{
	Name: adapter.AnthropicName,
	Lists: []bodies.List{
		{Path: "system", System: true},
		{Path: "messages"},
		{Path: "params.system", System: true}, // of a line of a batch
		{Path: "params.messages"},
	},
	Message: anthropicMessage,
	Usage:   anthropicUsage,
	Foreign: anthropicForeign,
}

// anthropicMessage returns the record of a message of a request or of a
// response. Its blocks are a content as ctxabi takes it.
func anthropicMessage(m adapter.Object) (record adapter.Object, ok bool) {
	role := m.Text("role")
	if role != "user" && role != "assistant" && role != "system" || !m.Has("content") {
		return nil, false
	}
	record = adapter.Object{{"role", m.Get("role")}, {"content", bodies.ContentFrom(m.Get("content"))}}
	for _, key := range []string{"id", "ts"} {
		if v := m.Get(key); v != nil {
			record = append(record, adapter.Field{key, v})
		}
	}
	if !record.Has("ts") {
		record = adapter.AppendTime(record, m, "timestamp", "created_at")
	}
	return record, true
}

// anthropicUsage is the usage of a response.
func anthropicUsage(m adapter.Object) json.RawMessage {
	if m.Text("type") != "message" || m.Object("usage") == nil {
		return nil
	}
	return m.Get("usage")
}

func sniffAnthropic(name string, head []byte) int {
	openAI, sure := adapter.SniffBodies(head)
	if sure > 0 && !anthropicBodies.Reads(head) {
		return 0
	}
	if sure > 0 && openAI <= 65 && isCline(name, head) {
		return 92
	}
	return sure
}

// isCline reports whether messages are those that Cline keeps of a task: api_conversation_history.json, or what it writes into them.
func isCline(name string, head []byte) bool {
	return path.Base(name) == "api_conversation_history.json" ||
		bytes.Contains(head, []byte("<environment_details>")) && bytes.Contains(head, []byte("<task>")) && adapter.ShapeOf(head).Has("$[].content[")
}
