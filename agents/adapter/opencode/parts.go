package opencode

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// partOf returns what a part of a message says; nothing for one that only tells of the work, such as step-start and snapshot.
func partOf(p adapter.Object) []json.RawMessage {
	switch p.Text("type") {
	case "text":
		if adapter.TextAt(p, "text") && p.Text("text") != "" && string(p.Get("ignored")) != "true" {
			return []json.RawMessage{adapter.TextPart(p.Get("text"))}
		}
	case "reasoning":
		if p.Text("text") != "" {
			return []json.RawMessage{adapter.ThinkingPart(p.Get("text"))}
		}
	case "subtask":
		if adapter.TextAt(p, "prompt") {
			return []json.RawMessage{adapter.TextPart(p.Get("prompt"))}
		}
	case "file":
		if media := mediaPart(p); media != nil {
			return []json.RawMessage{media}
		}
	case "tool":
		state := p.Object("state")
		if state.Text("status") == "pending" || !adapter.TextAt(p, "tool") || !adapter.TextAt(p, "callID") {
			return nil
		}
		input := state.Get("input")
		if !adapter.IsDict(input) {
			input = json.RawMessage("{}")
		}
		return []json.RawMessage{adapter.Raw(adapter.Object{{"type", adapter.Raw("tool_use")}, {"id", p.Get("callID")}, {"name", p.Get("tool")}, {"input", input}})}
	}
	return nil
}

// mediaPart is a file that a message holds: an image, any other file, or where it lies; nil for one without an address.
func mediaPart(p adapter.Object) json.RawMessage {
	url, kind := p.Text("url"), p.Text("mime")
	switch {
	case url == "":
		return nil
	case strings.HasPrefix(kind, "image/"):
		return adapter.ImageURLPart(p.Get("url"))
	case strings.HasPrefix(url, "data:"):
		f := adapter.Object{{"file_data", p.Get("url")}}
		if adapter.TextAt(p, "filename") {
			f = append(f, adapter.Field{"filename", p.Get("filename")})
		}
		return adapter.Raw(adapter.Object{{"type", adapter.Raw("file")}, {"file", adapter.Raw(f)}})
	}
	return adapter.TextPart(adapter.Raw("[file: " + url + "]"))
}

// attachments are the files of a result.
func attachments(state adapter.Object) (media []json.RawMessage) {
	for _, raw := range state.Array("attachments") {
		o, _ := adapter.ParseObject(raw)
		if part := mediaPart(o); part != nil {
			media = append(media, part)
		}
	}
	return media
}
