package adapter

import (
	"encoding/json"
	"io"
)

// anthropic is Anthropic's Messages: the body of a request, its messages
// alone, responses, and the lines of files for batches.
var anthropic = &Format{
	Name:   anthropicName,
	Title:  "Anthropic Messages (JSON, JSONL)",
	Sniff:  sniffAnthropic,
	Import: func(in *Input, out Output) error { return anthropicBodies.read(in, out) },
	Export: func(src *Source, w io.Writer) error { return anthropicBodies.write(src, w) },
}

var anthropicBodies = &bodies{
	name: anthropicName,
	lists: []bodyList{
		{path: "system", system: true},
		{path: "messages"},
		{path: "params.system", system: true}, // of a line of a batch
		{path: "params.messages"},
	},
	message: anthropicMessage,
	usage:   anthropicUsage,
	foreign: anthropicForeign,
}

// anthropicMessage returns the record of a message of a request or of a
// response. Its blocks are a content as ctxabi takes it.
func anthropicMessage(m Object) (record Object, ok bool) {
	role := m.Text("role")
	if role != "user" && role != "assistant" && role != "system" {
		return nil, false
	}
	record = Object{{"role", m.Get("role")}, {"content", contentFrom(m.Get("content"))}}
	for _, key := range []string{"id", "ts"} {
		if v := m.Get(key); v != nil {
			record = append(record, Field{key, v})
		}
	}
	if !record.Has("ts") {
		record = appendTime(record, m, "timestamp", "created_at")
	}
	return record, true
}

// anthropicUsage is the usage of a response.
func anthropicUsage(m Object) json.RawMessage {
	if m.Text("type") != "message" || m.Object("usage") == nil {
		return nil
	}
	return m.Get("usage")
}

func sniffAnthropic(_ string, head []byte) int {
	_, sure := sniffBodies(head)
	return sure
}
