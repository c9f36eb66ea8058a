package uimessages

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/bodies"
)

// Format is the UIMessages of the AI SDK, which useChat stores: a JSON array, JSON Lines, or the
// "messages" of a chat. It also reads messages of version 4, which have "content" and
// "toolInvocations" in addition to their parts.
//
//	{"id":"m2","role":"assistant","parts":[{"type":"step-start"},{"type":"tool-ls","toolCallId":"c1","state":"output-available",
//	 "input":{},"output":"etc home"},{"type":"text","text":"etc and home."}]}
var Format = &adapter.Format{
	Name:   adapter.UIMessagesName,
	Title:  "AI SDK UIMessages (useChat; JSON, JSONL)",
	Sniff:  sniff,
	Import: func(in *adapter.Input, out adapter.Output) error { return messages.Read(in, out) },
	Export: func(src *adapter.Source, w io.Writer) error { return messages.Write(src, w) },
}

var messages = &bodies.Bodies{
	Name:    adapter.UIMessagesName,
	Lists:   []bodies.List{{Path: "messages"}},
	Message: message,
	Behind:  behind,
	Foreign: foreign,
}

func sniff(_ string, head []byte) int {
	s := adapter.ShapeOf(head)
	for _, p := range []string{"$", "$[]", "$.messages[]", "$[].messages[]"} {
		if s.Says(p+".role", "user", "assistant", "system") && (s.Has(p+".parts[].type") && !s.Has(p+".info") ||
			s.Has(p+".toolInvocations[")) &&
			messages.Reads(head) {
			return 94
		}
	}
	return 0
}

// message returns the first record of a message.
func message(m adapter.Object) (record adapter.Object, ok bool) {
	records := recordsOf(m)
	if len(records) == 0 {
		return nil, false
	}
	return records[0], true
}

// behind returns all records of a message except the first one.
func behind(m adapter.Object) []adapter.Object {
	return recordsOf(m)[1:]
}

// step is the part of an answer that one model call produced.
type step struct {
	parts   []json.RawMessage
	results []adapter.Object
	called  bool
}

// recordsOf converts a message to records: each step of an answer becomes a message, followed by
// the results of its calls. It returns nil if m is not a message.
func recordsOf(m adapter.Object) (records []adapter.Object) {
	role := m.Text("role")
	parts := partsOf(m)
	if role != "user" && role != "assistant" && role != "system" || parts == nil {
		return nil
	}
	steps := []step{{}}
	for _, raw := range parts {
		part, _ := adapter.ParseObject(raw)
		now := &steps[len(steps)-1]
		call, result := callOf(part)
		if part.Text("type") == "step-start" || call == nil && now.called {
			if len(now.parts) > 0 {
				steps = append(steps, step{})
				now = &steps[len(steps)-1]
			}
			if part.Text("type") == "step-start" {
				continue
			}
		}
		if call == nil {
			now.parts = append(now.parts, partOf(raw, part)...)
			continue
		}
		now.parts, now.called = append(now.parts, call), true
		if result != nil {
			now.results = append(now.results, result)
		}
	}
	for i, s := range steps {
		if i > 0 && len(s.parts) == 0 {
			continue
		}
		record := adapter.Object{{"role", m.Get("role")}, {"content", adapter.PartsContent(s.parts)}}
		if id := m.Get("id"); i == 0 && adapter.IsString(id) {
			record = append(record, adapter.Field{"id", id})
		}
		record = adapter.AppendTime(record, m, "createdAt")
		records = append(records, record)
		for _, result := range s.results {
			records = append(records, adapter.AppendTime(result, m, "createdAt"))
		}
	}
	return records
}

// partsOf returns the parts of a message. If the message has no parts, partsOf builds them from its
// other fields.
func partsOf(m adapter.Object) (parts []json.RawMessage) {
	if adapter.IsArray(m.Get("parts")) {
		return m.Array("parts")
	}
	if v := m.Get("reasoning"); adapter.IsString(v) {
		parts = append(parts, adapter.Raw(adapter.Object{{"type", adapter.Raw("reasoning")}, {"reasoning", v}}))
	}
	for _, raw := range m.Array("toolInvocations") {
		parts = append(parts, adapter.Raw(adapter.Object{{"type", adapter.Raw("tool-invocation")},
			{"toolInvocation", raw}}))
	}
	if v := m.Get("content"); adapter.IsString(v) {
		parts = append(parts, adapter.TextPart(v))
	}
	return parts
}

// partOf converts a part that is not a call to session parts. It returns an unknown part unchanged.
func partOf(raw json.RawMessage, part adapter.Object) []json.RawMessage {
	switch part.Text("type") {
	case "text":
		if adapter.TextAt(part, "text") {
			return []json.RawMessage{adapter.TextPart(part.Get("text"))}
		}
	case "reasoning":
		return []json.RawMessage{thinkingPart(raw, part)}
	case "file":
		if media := mediaPart(part); media != nil {
			return []json.RawMessage{media}
		}
	}
	return []json.RawMessage{raw}
}

// thinkingPart converts a reasoning part, with its signature if an Anthropic model produced one.
func thinkingPart(raw json.RawMessage, part adapter.Object) json.RawMessage {
	text := part.Get("text")
	if !adapter.IsString(text) {
		text = part.Get("reasoning")
	}
	if !adapter.IsString(text) {
		return raw
	}
	o, _ := adapter.ParseObject(adapter.ThinkingPart(text))
	signature := part.Object("providerMetadata").Object("anthropic").Get("signature")
	if details := part.Array("details"); signature == nil && len(details) > 0 {
		first, _ := adapter.ParseObject(details[0])
		signature = first.Get("signature")
	}
	if adapter.IsString(signature) {
		o = append(o, adapter.Field{"signature", signature})
	}
	return adapter.Raw(o)
}

// mediaPart converts a file part. It returns nil if the file has no URL.
func mediaPart(part adapter.Object) json.RawMessage {
	kind := part.Text("mediaType")
	if kind == "" {
		kind = part.Text("mimeType")
	}
	url := part.Text("url")
	if url == "" && adapter.TextAt(part, "data") {
		url = "data:" + kind + ";base64," + part.Text("data")
	}
	switch {
	case url == "":
		return nil
	case strings.HasPrefix(kind, "image/"):
		return adapter.ImageURLPart(adapter.Raw(url))
	case strings.HasPrefix(url, "data:"):
		f := adapter.Object{{"file_data", adapter.Raw(url)}}
		if adapter.TextAt(part, "filename") {
			f = append(f, adapter.Field{"filename", part.Get("filename")})
		}
		return adapter.Raw(adapter.Object{{"type", adapter.Raw("file")}, {"file", adapter.Raw(f)}})
	}
	return adapter.TextPart(adapter.Raw("[file: " + url + "]"))
}

// callOf returns the call of a part and the record of its result; result is nil if the call has no
// result yet.
func callOf(part adapter.Object) (call json.RawMessage, result adapter.Object) {
	kind := part.Text("type")
	name, named := strings.CutPrefix(kind, "tool-")
	tool := adapter.Raw(name)
	switch {
	case kind == "tool-invocation" && part.Object("toolInvocation") != nil:
		part = part.Object("toolInvocation")
		tool = part.Get("toolName")
	case kind == "dynamic-tool":
		tool = part.Get("toolName")
	case !named || name == "":
		return nil, nil
	}
	id := part.Get("toolCallId")
	if !adapter.IsString(id) || !adapter.IsString(tool) {
		return nil, nil
	}
	input := json.RawMessage("{}")
	for _, key := range []string{"rawInput", "args", "input"} { // the last one that is there counts
		if v := part.Get(key); v != nil {
			input = v
		}
	}
	call = adapter.Raw(adapter.Object{{"type", adapter.Raw("tool_use")}, {"id", id}, {"name", tool}, {"input", input}})
	said, failed := outputOf(part)
	if said == nil {
		return call, nil
	}
	return call, adapter.ToolResult(adapter.Object{}, id, tool, said, failed)
}

// outputOf returns the output of a call; nil if the call has no output yet. failed reports whether
// the call failed.
func outputOf(part adapter.Object) (said json.RawMessage, failed bool) {
	switch part.Text("state") {
	case "output-error":
		said, failed = part.Get("errorText"), true
	case "output-denied":
		text := "The call was denied: " + part.Object("approval").Text("reason")
		return adapter.Raw(strings.TrimSuffix(text, ": ")), true
	case "output-available":
		said = part.Get("output")
	case "result": // of version 4
		said = part.Get("result")
	default:
		return nil, false
	}
	switch {
	case said == nil:
		return adapter.Raw(""), failed
	case !adapter.IsString(said):
		return adapter.Raw(string(said)), failed
	}
	return said, failed
}
