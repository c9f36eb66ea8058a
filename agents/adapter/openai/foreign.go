package openai

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/picture"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// openAIForeign returns records from elsewhere as messages that the API takes:
// behind each assistant message with calls stand the results of all of them.
func openAIForeign(records []adapter.Record, lost *adapter.Tally) (messages []json.RawMessage, fields adapter.Object) {
	add := func(m adapter.Object) { messages = append(messages, adapter.Raw(m)) }
	said := adapter.Dialogue(records, lost)
	adapter.AcceptedBy(picture.OpenAI, said, lost)
	for _, s := range said {
		role := adapter.Raw(s.Role.String())
		switch s.Role {
		case ctxabi.Assistant:
			if m := openAIAssistant(s, lost); m != nil {
				add(m)
			}
			for _, m := range openAIResults(s, lost) {
				add(m)
			}
		case ctxabi.User:
			content := openAIContent(s.Where, s.Parts, lost)
			if content == nil {
				break
			}
			m := adapter.Object{{"role", role}, {"content", content}}
			if s.Name != "" {
				name := adapter.AuthorName(s.Name)
				if m = append(m, adapter.Field{"name", adapter.Raw(name)}); name != s.Name {
					lost.Add(s.Where, "the name of an author is not one that the API accepts; it is changed")
				}
			}
			add(m)
		default:
			for _, p := range s.Parts {
				if p.Kind != ctxabi.PartText {
					lost.Add(s.Where, "data in a system message has no place in the format")
				}
			}
			if text := adapter.TextOf(s.Parts); text != "" {
				add(adapter.Object{{"role", role}, {"content", adapter.Raw(text)}})
			}
		}
	}
	var tools []adapter.Object
	for _, t := range adapter.Definitions(records, lost) {
		tools = append(tools, t.OpenAI())
	}
	if tools != nil {
		fields = adapter.Object{{"tools", adapter.Raw(tools)}}
	}
	return messages, fields
}

func openAIAssistant(s adapter.Speech, lost *adapter.Tally) (m adapter.Object) {
	var texts []string
	var calls []adapter.Object
	for _, p := range s.Parts {
		switch p.Kind {
		case ctxabi.PartText:
			texts = append(texts, p.Text)
		case ctxabi.PartCall:
			arguments, ok := adapter.JsonObject(p.Call.Arguments)
			if !ok {
				lost.Add(s.Where, adapter.ArgumentsInObject)
			}
			call := adapter.Object{{"id", adapter.Raw(p.Call.ID)}, {"type", adapter.Raw("function")},
				{"function", adapter.Raw(adapter.Object{{"name", adapter.Raw(p.Call.Name)}, {"arguments", adapter.Raw(string(arguments))}})}}
			if c, ok := ctxabi.ContinuationOf(p.Raw); ok && c.Extra != nil {
				call = append(call, adapter.Field{"extra_content", c.Extra})
			}
			calls = append(calls, call)
		case ctxabi.PartThinking:
			lost.Add(s.Where, "the format has no place for thinking")
		case ctxabi.PartData:
			lost.Add(s.Where, "the format has no place for data in a message of the assistant; its type replaces it")
			texts = append(texts, adapter.Marker(p.Raw))
		}
	}
	if texts == nil && calls == nil {
		return nil
	}
	m = adapter.Object{{"role", adapter.Raw("assistant")}}
	if texts != nil {
		m = append(m, adapter.Field{"content", adapter.Raw(strings.Join(texts, "\n"))})
	}
	if calls != nil {
		m = append(m, adapter.Field{"tool_calls", adapter.Raw(calls)})
	}
	for _, f := range []adapter.Field{{"reasoning_content", s.Reasoning.ReasoningContent}, {"reasoning", s.Reasoning.Reasoning}, {"reasoning_details", s.Reasoning.ReasoningDetails}} {
		if f.Value != nil {
			m = append(m, f)
		}
	}
	return m
}

// openAIResults returns the messages of results, and one of the user with their images.
func openAIResults(s adapter.Speech, lost *adapter.Tally) (messages []adapter.Object) {
	var images []ctxabi.Part
	for _, a := range s.Answers {
		text := adapter.TextOf(a.Inner)
		for _, p := range a.Inner {
			if p.Kind == ctxabi.PartData {
				text = strings.TrimLeft(text+"\n"+adapter.Marker(p.Raw), "\n")
				images = append(images, p)
			}
		}
		if text == "" {
			text = adapter.NoText
		}
		if a.IsError {
			lost.Add(s.Where, "the format has no mark for a result that is an error; "+strings.TrimSpace(adapter.ToolFailed)+" precedes it")
			text = adapter.ToolFailed + text
		}
		messages = append(messages, adapter.Object{{"role", adapter.Raw("tool")}, {"tool_call_id", adapter.Raw(a.CallID)}, {"content", adapter.Raw(text)}})
	}
	if images != nil {
		parts := append([]ctxabi.Part{{Kind: ctxabi.PartText, Text: "[Images of the results above]"}}, images...)
		messages = append(messages, adapter.Object{{"role", adapter.Raw("user")}, {"content", openAIContent(s.Where, parts, lost)}})
	}
	return messages
}

// openAIContent returns what a user says: a text, or parts where there is more
// than that; nil for nothing.
func openAIContent(where string, parts []ctxabi.Part, lost *adapter.Tally) json.RawMessage {
	var list []adapter.Object
	text := true
	for _, p := range parts {
		switch p.Kind {
		case ctxabi.PartText:
			list = append(list, adapter.Object{{"type", adapter.Raw("text")}, {"text", adapter.Raw(p.Text)}})
		case ctxabi.PartData:
			part := openAIData(p.Raw)
			if text = text && part == nil; part == nil {
				lost.Add(where, "the format has no place for data of this kind; its type replaces it")
				part = adapter.Object{{"type", adapter.Raw("text")}, {"text", adapter.Raw(adapter.Marker(p.Raw))}}
			}
			list = append(list, part)
		case ctxabi.PartThinking:
			lost.Add(where, "the format has no place for thinking")
		}
	}
	switch {
	case list == nil:
		return nil
	case text:
		var texts []string
		for _, part := range list {
			texts = append(texts, part.Text("text"))
		}
		return adapter.Raw(strings.Join(texts, "\n"))
	}
	return adapter.Raw(list)
}

func openAIData(raw []byte) adapter.Object {
	o, _ := adapter.ParseObject(raw)
	if kind := o.Text("type"); kind == "input_audio" && o.Object("input_audio").Has("data") || kind == "file" && o.Object("file").Has("file_id") {
		return o
	}
	switch d, ok := adapter.ReadDatum(raw); {
	case !ok:
		return nil
	case d.IsImage():
		return adapter.Object{{"type", adapter.Raw("image_url")}, {"image_url", adapter.Raw(adapter.Object{{"url", adapter.Raw(d.DataURL())}})}}
	case d.Base64 != "":
		name := d.Name
		if name == "" {
			name = "file"
		}
		return adapter.Object{{"type", adapter.Raw("file")}, {"file", adapter.Raw(adapter.Object{{"filename", adapter.Raw(name)}, {"file_data", adapter.Raw(d.DataURL())}})}}
	}
	return nil
}
