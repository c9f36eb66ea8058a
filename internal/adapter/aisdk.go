package adapter

import (
	"encoding/json"
	"strings"
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
	parts, ok := parseArray(content)
	if !ok {
		return content
	}
	changed := false
	for i, raw := range parts {
		part, err := ParseObject(raw)
		if err != nil || !textAt(part, "toolCallId") {
			continue
		}
		switch part.Text("type") {
		case "tool-call":
			if !textAt(part, "toolName") {
				continue
			}
			input := part.Get("input")
			if input == nil {
				input = part.Get("args") // of the versions before 5
			}
			if input == nil {
				input = Raw(Object{})
			}
			parts[i] = Raw(Object{{"type", Raw("tool_use")}, {"id", part.Get("toolCallId")}, {"name", part.Get("toolName")}, {"input", input}})
		case "tool-result":
			result := Object{{"type", Raw("tool_result")}, {"tool_use_id", part.Get("toolCallId")}}
			said, failed := aiSDKOutput(part)
			if result = append(result, Field{"content", said}); failed {
				result = append(result, Field{"is_error", Raw(true)})
			}
			parts[i] = Raw(result)
		default:
			continue
		}
		changed = true
	}
	if !changed {
		return content
	}
	return Raw(parts)
}

// aiSDKOutput is what a result says: a text, or a list of parts.
func aiSDKOutput(part Object) (said json.RawMessage, failed bool) {
	output := part.Object("output")
	value := output.Get("value")
	switch output.Text("type") {
	case "text", "error-text":
	case "content":
		if len(value) > 0 && value[0] == '[' {
			return aiSDKMedia(value), false
		}
	case "execution-denied":
		value = Raw(strings.TrimSuffix("The call was denied: "+output.Text("reason"), ": "))
	case "json", "error-json":
	default: // of the versions before 5 the result itself
		if value = part.Get("result"); value == nil {
			value = part.Get("output")
		}
	}
	failed = strings.HasPrefix(output.Text("type"), "error-") || output.Text("type") == "execution-denied" || string(part.Get("isError")) == "true"
	if len(value) == 0 {
		return Raw(""), failed
	}
	if value[0] != '"' {
		value = Raw(string(value))
	}
	return value, failed
}

// aiSDKMedia returns the parts of a result with its images as a session has them.
func aiSDKMedia(list json.RawMessage) json.RawMessage {
	parts, _ := parseArray(list)
	for i, raw := range parts {
		part, _ := ParseObject(raw)
		media := part.Text("mediaType")
		if (part.Text("type") == "media" || part.Text("type") == "image-data") && strings.HasPrefix(media, "image/") && textAt(part, "data") {
			parts[i] = Raw(Object{{"type", Raw("image")}, {"source", Raw(Object{{"type", Raw("base64")}, {"media_type", Raw(media)}, {"data", part.Get("data")}})}})
		}
	}
	return Raw(parts)
}
