package converse

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/bodies"
)

// Format is Amazon Bedrock's Converse: a request body, or only its messages. A content block has no
// type; its single key names the kind.
//
//	{"modelId":"m","messages":[{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}}]}]}
var Format = &adapter.Format{
	Name:   adapter.ConverseName,
	Title:  "Bedrock Converse (the body of a request, its messages)",
	Sniff:  sniff,
	Import: func(in *adapter.Input, out adapter.Output) error { return messages.Read(in, out) },
	Export: func(src *adapter.Source, w io.Writer) error { return messages.Write(src, w) },
}

var messages = &bodies.Bodies{
	Name:    adapter.ConverseName,
	Lists:   []bodies.List{{Path: "system", System: true}, {Path: "messages"}},
	Message: message,
	System:  func(v json.RawMessage) json.RawMessage { return contentOf(v) },
	Foreign: foreign,
}

// blocks are the keys of all content blocks except text.
var blocks = []string{"toolUse", "toolResult", "reasoningContent", "image", "document", "video", "audio",
	"citationsContent", "guardContent",
	"cachePoint", "searchResult"}

func sniff(_ string, head []byte) int {
	s := adapter.ShapeOf(head)
	for _, p := range []string{"$", "$[]", "$.messages[]", "$[].messages[]"} {
		if !s.Says(p+".role", "user", "assistant") || s.Has(p+".content[].type") {
			continue
		}
		named := slices.ContainsFunc(blocks, func(key string) bool { return s.Has(p + ".content[]." + key) })
		if (named || s.Has(p+".content[].text")) && messages.Reads(head) {
			return 93
		}
	}
	return 0
}

// message returns the record of a message.
func message(m adapter.Object) (record adapter.Object, ok bool) {
	role := m.Text("role")
	if role != "user" && role != "assistant" || !adapter.IsArray(m.Get("content")) {
		return nil, false
	}
	return adapter.Object{{"role", m.Get("role")}, {"content", contentOf(m.Get("content"))}}, true
}

// contentOf converts a list of blocks to the content of a session message.
func contentOf(v json.RawMessage) json.RawMessage {
	list, ok := adapter.ParseArray(v)
	if !ok {
		return bodies.ContentFrom(v)
	}
	parts := []json.RawMessage{}
	for _, raw := range list {
		o, err := adapter.ParseObject(raw)
		if err != nil || len(o) == 1 && o.Has("cachePoint") {
			if err != nil {
				parts = append(parts, raw)
			}
			continue
		}
		parts = append(parts, partsOf(raw, o)...)
	}
	return adapter.PartsContent(parts)
}

// partsOf converts a block to message parts. It returns an unknown block unchanged.
func partsOf(raw json.RawMessage, o adapter.Object) []json.RawMessage {
	use, result, thought := o.Object("toolUse"), o.Object("toolResult"), o.Object("reasoningContent")
	switch {
	case adapter.TextAt(o, "text"):
		return []json.RawMessage{adapter.TextPart(o.Get("text"))}
	case adapter.TextAt(use, "toolUseId") && adapter.TextAt(use, "name"):
		input := use.Get("input")
		if input == nil {
			input = json.RawMessage("{}")
		}
		call := adapter.Object{{"type", adapter.Raw("tool_use")}, {"id", use.Get("toolUseId")},
			{"name", use.Get("name")}, {"input", input}}
		return []json.RawMessage{adapter.Raw(call)}
	case adapter.TextAt(result, "toolUseId"):
		return []json.RawMessage{resultPart(result)}
	case thought != nil:
		return []json.RawMessage{thinkingPart(raw, thought)}
	case adapter.TextAt(o.Object("guardContent").Object("text"), "text"):
		return []json.RawMessage{adapter.TextPart(o.Object("guardContent").Object("text").Get("text"))}
	case adapter.IsArray(o.Object("citationsContent").Get("content")):
		content, ok := adapter.ParseArray(contentOf(o.Object("citationsContent").Get("content")))
		if ok {
			return content
		}
	case o.Object("image") != nil:
		if part := imagePart(o.Object("image")); part != nil {
			return []json.RawMessage{part}
		}
	case o.Object("document") != nil:
		if part := documentPart(o.Object("document")); part != nil {
			return []json.RawMessage{part}
		}
	}
	return []json.RawMessage{raw}
}

// resultPart converts a tool result to a message part.
func resultPart(result adapter.Object) json.RawMessage {
	var said []json.RawMessage
	for _, raw := range result.Array("content") {
		o, _ := adapter.ParseObject(raw)
		if v := o.Get("json"); v != nil {
			said = append(said, adapter.TextPart(adapter.Raw(string(v))))
		} else {
			said = append(said, partsOf(raw, o)...)
		}
	}
	part := adapter.Object{{"type", adapter.Raw("tool_result")}, {"tool_use_id", result.Get("toolUseId")},
		{"content", adapter.PartsContent(said)}}
	if result.Text("status") == "error" {
		part = append(part, adapter.Field{"is_error", adapter.Raw(true)})
	}
	return adapter.Raw(part)
}

func thinkingPart(raw json.RawMessage, thought adapter.Object) json.RawMessage {
	text := thought.Object("reasoningText")
	switch {
	case adapter.TextAt(text, "text"):
		part, _ := adapter.ParseObject(adapter.ThinkingPart(text.Get("text")))
		if adapter.TextAt(text, "signature") {
			part = append(part, adapter.Field{"signature", text.Get("signature")})
		}
		return adapter.Raw(part)
	case adapter.TextAt(thought, "redactedContent"):
		return adapter.Raw(adapter.Object{{"type", adapter.Raw("redacted_thinking")},
			{"data", thought.Get("redactedContent")}})
	}
	return raw
}

// imagePart converts an image block. It returns nil if the block has no bytes.
func imagePart(image adapter.Object) json.RawMessage {
	data := image.Object("source").Get("bytes")
	if !adapter.IsString(data) || image.Text("format") == "" {
		return nil
	}
	source := adapter.Object{{"type", adapter.Raw("base64")},
		{"media_type", adapter.Raw("image/" + image.Text("format"))}, {"data", data}}
	return adapter.Raw(adapter.Object{{"type", adapter.Raw("image")}, {"source", adapter.Raw(source)}})
}

// mimes maps document formats to media types.
var mimes = map[string]string{
	"pdf": "application/pdf", "csv": "text/csv", "doc": "application/msword", "xls": "application/vnd.ms-excel",
	"html": "text/html",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "txt": "text/plain",
	"md": "text/markdown",
}

// documentPart converts a document block. It returns nil if the block has neither bytes nor texts.
func documentPart(document adapter.Object) json.RawMessage {
	from := document.Object("source")
	var texts []string
	for _, raw := range from.Array("content") {
		o, _ := adapter.ParseObject(raw)
		texts = append(texts, o.Text("text"))
	}
	if texts == nil && adapter.TextAt(from, "text") {
		texts = []string{from.Text("text")}
	}
	source := adapter.Object{{"type", adapter.Raw("text")}, {"media_type", adapter.Raw("text/plain")},
		{"data", adapter.Raw(strings.Join(texts, "\n"))}}
	if texts == nil {
		kind := mimes[document.Text("format")]
		if !adapter.TextAt(from, "bytes") || kind == "" {
			return nil
		}
		source = adapter.Object{{"type", adapter.Raw("base64")}, {"media_type", adapter.Raw(kind)},
			{"data", from.Get("bytes")}}
	}
	part := adapter.Object{{"type", adapter.Raw("document")}, {"source", adapter.Raw(source)}}
	if adapter.TextAt(document, "name") {
		part = append(part, adapter.Field{"title", document.Get("name")})
	}
	return adapter.Raw(part)
}
