package gemini

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// partsOf returns what a list of parts of the API says, as parts of a session. A text is one part.
func partsOf(content json.RawMessage) (parts []json.RawMessage) {
	switch {
	case adapter.IsString(content):
		if string(content) != `""` {
			parts = append(parts, adapter.TextPart(content))
		}
	case adapter.IsDict(content):
		parts = append(parts, partOf(content))
	default:
		list, _ := adapter.ParseArray(content)
		for _, raw := range list {
			if adapter.IsString(raw) {
				parts = append(parts, adapter.TextPart(raw))
			} else {
				parts = append(parts, partOf(raw))
			}
		}
	}
	return parts
}

// partOf returns one part with its signature. It converts data without an equivalent message part
// to a text with their JSON.
func partOf(raw json.RawMessage) json.RawMessage {
	part := unsigned(raw)
	signed, ok := ctxabi.ContinuationOf(raw)
	if o, err := adapter.ParseObject(part); ok && signed.Signature != "" && err == nil && (o.Text("type") == "text" || o.Text("type") == "tool_use") {
		return adapter.Raw(append(o, adapter.Field{"thoughtSignature", adapter.Raw(signed.Signature)}))
	}
	return part
}

// unsigned returns one part without its signature.
func unsigned(raw json.RawMessage) json.RawMessage {
	o, _ := adapter.ParseObject(raw)
	switch call, response := o.Object("functionCall"), o.Object("functionResponse"); {
	case adapter.TextAt(o, "text") && string(o.Get("thought")) == "true":
		return adapter.ThinkingPart(o.Get("text"))
	case adapter.TextAt(o, "text"):
		return adapter.TextPart(o.Get("text"))
	case adapter.TextAt(call, "name"):
		return callPart(call)
	case adapter.TextAt(response, "name"), adapter.TextAt(response, "id"):
		said, failed := responseOf(response)
		part := adapter.Object{{"type", adapter.Raw("tool_result")}}
		if adapter.TextAt(response, "id") {
			part = append(part, adapter.Field{"tool_use_id", response.Get("id")})
		}
		if part = append(part, adapter.Field{"content", said}); failed {
			part = append(part, adapter.Field{"is_error", adapter.Raw(true)})
		}
		return adapter.Raw(part)
	}
	if media := mediaPart(o); media != nil {
		return media
	}
	return adapter.TextPart(adapter.Raw(string(adapter.CompactJSON(raw))))
}

// callPart is a call: an object with name, args, and often an id.
func callPart(call adapter.Object) json.RawMessage {
	part := adapter.Object{{"type", adapter.Raw("tool_use")}}
	if adapter.TextAt(call, "id") {
		part = append(part, adapter.Field{"id", call.Get("id")})
	}
	input := call.Get("args")
	if !adapter.IsDict(input) {
		input = json.RawMessage("{}")
	}
	return adapter.Raw(append(part, adapter.Field{"name", call.Get("name")}, adapter.Field{"input", input}))
}

// mediaPart is an image or a file, nil for any other part.
func mediaPart(o adapter.Object) json.RawMessage {
	data, file := o.Object("inlineData"), o.Object("fileData")
	kind := data.Text("mimeType")
	switch {
	case strings.HasPrefix(kind, "image/") && adapter.TextAt(data, "data"):
		source := adapter.Object{{"type", adapter.Raw("base64")}, {"media_type", data.Get("mimeType")}, {"data", data.Get("data")}}
		return adapter.Raw(adapter.Object{{"type", adapter.Raw("image")}, {"source", adapter.Raw(source)}})
	case kind != "" && adapter.TextAt(data, "data"):
		f := adapter.Object{{"file_data", adapter.Raw("data:" + kind + ";base64," + data.Text("data"))}}
		if adapter.TextAt(data, "displayName") {
			f = append(f, adapter.Field{"filename", data.Get("displayName")})
		}
		return adapter.Raw(adapter.Object{{"type", adapter.Raw("file")}, {"file", adapter.Raw(f)}})
	case strings.HasPrefix(file.Text("mimeType"), "image/") && adapter.TextAt(file, "fileUri"):
		return adapter.ImageURLPart(file.Get("fileUri"))
	}
	return nil
}

// responseOf is what a function answered: a text, or a list of parts with its images.
func responseOf(response adapter.Object) (said json.RawMessage, failed bool) {
	o := response.Object("response")
	said = response.Get("response")
	for _, key := range []string{"output", "result", "content"} {
		if len(o) == 1 && adapter.TextAt(o, key) {
			said = o.Get(key)
		}
	}
	if failed = len(o) == 1 && o.Has("error"); failed && adapter.TextAt(o, "error") {
		said = o.Get("error")
	}
	switch {
	case len(said) == 0:
		said = adapter.Raw("")
	case said[0] != '"':
		said = adapter.Raw(string(adapter.CompactJSON(said)))
	}
	if media := partsOf(response.Get("parts")); len(media) > 0 {
		if said = adapter.Raw(append([]json.RawMessage{adapter.TextPart(said)}, media...)); len(o) == 0 {
			said = adapter.Raw(media)
		}
	}
	return said, failed
}
