package anthropic

import (
	"encoding/json"
	"io"

	"github.com/ctxfs/ctxfs/internal/adapter"
	"github.com/ctxfs/ctxfs/internal/adapter/bodies"
)

// Format is Anthropic's Messages: the body of a request, its messages
// alone, responses, and the lines of files for batches.
var Format = &adapter.Format{
	Name:   adapter.AnthropicName,
	Title:  "Anthropic Messages (JSON, JSONL)",
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
	if role != "user" && role != "assistant" && role != "system" {
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

func sniffAnthropic(_ string, head []byte) int {
	_, sure := adapter.SniffBodies(head)
	return sure
}
