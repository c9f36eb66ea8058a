package langchain

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/bodies"
)

// Format is the messages of LangChain as its chat histories and checkpoints store them, in Python and in JavaScript:
//
//	{"type":"human","data":{"content":"Hello."}}
//	{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"Hello."}}
var Format = &adapter.Format{
	Name:   formatName,
	Title:  "LangChain messages (stored, or with constructors; JSON, JSONL)",
	Sniff:  sniff,
	Import: func(in *adapter.Input, out adapter.Output) error { return messages.Read(in, out) },
	Export: func(src *adapter.Source, w io.Writer) error { return messages.Write(src, w) },
}

const formatName = "langchain"

var messages = &bodies.Bodies{
	Name: formatName,
	Lists: []bodies.List{
		{Path: "messages"},
		{Path: "channel_values.messages"}, // of a checkpoint of LangGraph
		{Path: "values.messages"},         // of its state
	},
	Message: message,
	Usage:   usage,
	Foreign: foreign,
}

// roles are the types of messages, as they are stored and as the classes are called.
var roles = map[string]string{
	"human": "user", "ai": "assistant", "system": "system", "developer": "developer", "tool": "tool", "function": "tool", "chat": "user",
	"HumanMessage": "user", "AIMessage": "assistant", "SystemMessage": "system", "ToolMessage": "tool", "FunctionMessage": "tool", "ChatMessage": "user",
	"HumanMessageChunk": "user", "AIMessageChunk": "assistant", "SystemMessageChunk": "system", "ToolMessageChunk": "tool",
}

func sniff(_ string, head []byte) int {
	if h := bytes.TrimSpace(head); len(h) == 0 || h[0] != '{' && h[0] != '[' {
		return 0
	}
	s := adapter.ShapeOf(head)
	for _, p := range []string{"$", "$[]", "$.messages[]", "$.channel_values.messages[]", "$.values.messages[]"} {
		sure := 0
		switch {
		case s.Says(p+".type", "constructor") && s.Has(p+".lc") && s.Has(p+".kwargs"):
			sure = 97
		case s.Says(p+".type", "human", "ai", "system", "tool", "function", "chat") && s.Has(p+".data.content"):
			sure = 95
		}
		if sure > 0 && messages.Reads(head) {
			return sure
		}
	}
	return 0
}

// inner returns the fields of a message and its role; ok is false for what is no message.
func inner(m adapter.Object) (fields adapter.Object, role string, ok bool) {
	if m.Text("type") == "constructor" {
		fields, role = m.Object("kwargs"), roles[class(m)]
	} else {
		fields, role = m.Object("data"), roles[m.Text("type")]
	}
	if said := fields.Text("role"); role == "user" && (m.Text("type") == "chat" || strings.HasSuffix(class(m), "ChatMessage")) {
		switch said {
		case "assistant", "ai", "model":
			role = "assistant"
		case "system":
			role = "system"
		}
	}
	return fields, role, role != "" && fields != nil
}

// class is the name of a message's class, "" where it is stored by its type.
func class(m adapter.Object) string {
	if ids := m.Array("id"); len(ids) > 0 {
		return adapter.Object{{"class", ids[len(ids)-1]}}.Text("class")
	}
	return ""
}

// message returns the record of a message. What a record has no field for is not in it.
func message(m adapter.Object) (record adapter.Object, ok bool) {
	fields, role, ok := inner(m)
	if !ok {
		return nil, false
	}
	content := bodies.ContentFrom(fields.Get("content"))
	if role == "tool" {
		id := fields.Get("tool_call_id")
		if !adapter.IsString(id) {
			id = nil
		}
		if id != nil && fields.Text("status") == "error" {
			return adapter.ToolResult(adapter.Object{}, id, nil, content, true), true
		}
		record = adapter.Object{{"role", adapter.Raw("tool")}, {"content", content}}
		if id != nil {
			record = append(record, adapter.Field{"tool_call_id", id})
		}
	} else {
		record = adapter.Object{{"role", adapter.Raw(role)}, {"content", content}}
	}
	if calls := callsOf(fields); calls != nil {
		record = append(record, adapter.Field{"tool_calls", adapter.Raw(calls)})
	}
	for _, key := range []string{"name", "id"} {
		if v := fields.Get(key); adapter.IsString(v) && len(v) > len(`""`) {
			record = append(record, adapter.Field{key, v})
		}
	}
	return record, true
}

// callsOf are the calls of an answer that do not stand in its content.
func callsOf(fields adapter.Object) (calls []json.RawMessage) {
	inContent := map[string]bool{}
	for _, raw := range fields.Array("content") {
		if p, _ := adapter.ParseObject(raw); p.Text("type") == "tool_use" {
			inContent[p.Text("id")] = true
		}
	}
	for _, raw := range fields.Array("tool_calls") {
		c, _ := adapter.ParseObject(raw)
		if !adapter.TextAt(c, "name") || inContent[c.Text("id")] {
			continue
		}
		call := adapter.Object{}
		if adapter.TextAt(c, "id") {
			call = append(call, adapter.Field{"id", c.Get("id")})
		}
		args := c.Get("args")
		if args == nil {
			args = json.RawMessage("{}")
		}
		f := adapter.Object{{"name", c.Get("name")}, {"arguments", adapter.Raw(string(args))}}
		calls = append(calls, adapter.Raw(append(call, adapter.Field{"type", adapter.Raw("function")}, adapter.Field{"function", adapter.Raw(f)})))
	}
	if list := fields.Object("additional_kwargs").Array("tool_calls"); calls == nil && len(list) > 0 && len(inContent) == 0 {
		return list // of versions before there were tool_calls
	}
	return calls
}

// usage is what the provider says that an answer took.
func usage(m adapter.Object) json.RawMessage {
	fields, _, _ := inner(m)
	if u := fields.Object("usage_metadata"); u.Has("input_tokens") {
		return fields.Get("usage_metadata")
	}
	return nil
}
