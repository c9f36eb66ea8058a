package openai

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// aiSDKContent returns a content in which calls and results stand as the AI SDK of Vercel keeps them, with these in a form that a session
// has: parts tool_use and tool_result. Any other content is given back as it is.
//
//	{"type":"tool-call","toolCallId":"c1","toolName":"ls","input":{"dir":"/"}}
//	{"type":"tool-result","toolCallId":"c1","toolName":"ls","output":{"type":"text","value":"etc home"}}
//
// What it was stands in the rest of the message's stamp.
func aiSDKContent(content json.RawMessage) json.RawMessage {
	if len(content) == 0 || content[0] != '[' || !strings.Contains(string(content), `"toolCallId"`) {
		return content
	}
	parts, ok := adapter.ParseArray(content)
	if !ok {
		return content
	}
	changed := false
	for i, raw := range parts {
		part, err := adapter.ParseObject(raw)
		if err != nil || !adapter.TextAt(part, "toolCallId") {
			continue
		}
		switch part.Text("type") {
		case "tool-call":
			if !adapter.TextAt(part, "toolName") {
				continue
			}
			input := part.Get("input")
			if input == nil {
				input = part.Get("args") // of the versions before 5
			}
			if input == nil {
				input = adapter.Raw(adapter.Object{})
			}
			parts[i] = adapter.Raw(adapter.Object{{"type", adapter.Raw("tool_use")}, {"id", part.Get("toolCallId")}, {"name", part.Get("toolName")}, {"input", input}})
		case "tool-result":
			result := adapter.Object{{"type", adapter.Raw("tool_result")}, {"tool_use_id", part.Get("toolCallId")}}
			said, failed := aiSDKOutput(part)
			if result = append(result, adapter.Field{"content", said}); failed {
				result = append(result, adapter.Field{"is_error", adapter.Raw(true)})
			}
			parts[i] = adapter.Raw(result)
		default:
			continue
		}
		changed = true
	}
	if !changed {
		return content
	}
	return adapter.Raw(parts)
}

// aiSDKOutput is what a result says: a text, or a list of parts.
func aiSDKOutput(part adapter.Object) (said json.RawMessage, failed bool) {
	output := part.Object("output")
	value := output.Get("value")
	switch output.Text("type") {
	case "text", "error-text":
	case "content":
		if len(value) > 0 && value[0] == '[' {
			return aiSDKMedia(value), false
		}
	case "execution-denied":
		value = adapter.Raw(strings.TrimSuffix("The call was denied: "+output.Text("reason"), ": "))
	case "json", "error-json":
	default: // of the versions before 5 the result itself
		if value = part.Get("result"); value == nil {
			value = part.Get("output")
		}
	}
	failed = strings.HasPrefix(output.Text("type"), "error-") || output.Text("type") == "execution-denied" || string(part.Get("isError")) == "true"
	if len(value) == 0 {
		return adapter.Raw(""), failed
	}
	if value[0] != '"' {
		value = adapter.Raw(string(value))
	}
	return value, failed
}

// aiSDKMedia returns the parts of a result with its images as a session has them.
func aiSDKMedia(list json.RawMessage) json.RawMessage {
	parts, _ := adapter.ParseArray(list)
	for i, raw := range parts {
		part, _ := adapter.ParseObject(raw)
		media := part.Text("mediaType")
		if (part.Text("type") == "media" || part.Text("type") == "image-data") && strings.HasPrefix(media, "image/") && adapter.TextAt(part, "data") {
			parts[i] = adapter.Raw(adapter.Object{{"type", adapter.Raw("image")}, {"source", adapter.Raw(adapter.Object{{"type", adapter.Raw("base64")}, {"media_type", adapter.Raw(media)}, {"data", part.Get("data")}})}})
		}
	}
	return adapter.Raw(parts)
}
