package langchain

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// foreign returns records from elsewhere as stored messages: behind each answer with calls stand the results of these.
func foreign(records []adapter.Record, lost *adapter.Tally) (messages []json.RawMessage, fields adapter.Object) {
	add := func(kind string, data adapter.Object) {
		messages = append(messages, adapter.Raw(adapter.Object{{"type", adapter.Raw(kind)}, {"data", adapter.Raw(data)}}))
	}
	if len(adapter.Definitions(records, lost)) > 0 {
		lost.Add("events.jsonl", "the format has no place for definitions of tools")
	}
	said := adapter.Dialogue(records, lost)
	adapter.AcceptedBy(picture.OpenAI, said, lost)
	for _, s := range said {
		var parts, calls []json.RawMessage
		for _, p := range s.Parts {
			switch p.Kind {
			case ctxabi.PartCall:
				args, ok := adapter.JsonObject(p.Call.Arguments)
				if !ok {
					lost.Add(s.Where, adapter.ArgumentsInObject)
				}
				calls = append(calls, adapter.Raw(adapter.Object{{"name", adapter.Raw(p.Call.Name)}, {"args", args}, {"id", adapter.Raw(p.Call.ID)}, {"type", adapter.Raw("tool_call")}}))
			case ctxabi.PartThinking:
				lost.Add(s.Where, "the format has no place for thinking")
			default:
				parts = append(parts, part(s.Where, p, lost))
			}
		}
		kind := "system"
		switch s.Role {
		case ctxabi.Assistant:
			kind = "ai"
		case ctxabi.User:
			kind = "human"
		}
		data := adapter.Object{{"content", contentOf(parts)}}
		if s.Name != "" && s.Role != ctxabi.Tool {
			data = append(data, adapter.Field{"name", adapter.Raw(s.Name)})
		}
		if calls != nil {
			data = append(data, adapter.Field{"tool_calls", adapter.Raw(calls)})
		}
		add(kind, data)
		for _, a := range s.Answers {
			var parts []json.RawMessage
			for _, p := range a.Inner {
				parts = append(parts, part(s.Where, p, lost))
			}
			status := "success"
			if a.IsError {
				status = "error"
			}
			add("tool", adapter.Object{{"content", contentOf(parts)}, {"tool_call_id", adapter.Raw(a.CallID)}, {"status", adapter.Raw(status)}})
		}
	}
	return messages, nil
}

// part is a text or an image.
func part(where string, p ctxabi.Part, lost *adapter.Tally) json.RawMessage {
	if p.Kind != ctxabi.PartData {
		return adapter.TextPart(adapter.Raw(p.Text))
	}
	if d, ok := adapter.ReadDatum(p.Raw); ok && d.IsImage() {
		return adapter.ImageURLPart(adapter.Raw(d.DataURL()))
	}
	lost.Add(where, "the format has no place for data of this kind; its type replaces it")
	return adapter.TextPart(adapter.Raw(adapter.Marker(p.Raw)))
}

// contentOf is a text where nothing else is said.
func contentOf(parts []json.RawMessage) json.RawMessage {
	var texts []string
	for _, raw := range parts {
		o, _ := adapter.ParseObject(raw)
		if o.Text("type") != "text" {
			return adapter.Raw(parts)
		}
		var text string
		json.Unmarshal(o.Get("text"), &text)
		texts = append(texts, text)
	}
	return adapter.Raw(strings.Join(texts, "\n"))
}
