package adapter

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// openAIForeign returns records from elsewhere as messages that the API takes:
// behind each assistant message with calls stand the results of all of them.
func openAIForeign(records []Record, lost *tally) (messages []json.RawMessage, fields Object) {
	add := func(m Object) { messages = append(messages, Raw(m)) }
	for _, s := range dialogue(records, lost) {
		role := Raw(s.role.String())
		switch s.role {
		case ctxabi.Assistant:
			if m := openAIAssistant(s, lost); m != nil {
				add(m)
			}
			for _, m := range openAIResults(s, lost) {
				add(m)
			}
		case ctxabi.User:
			content := openAIContent(s.where, s.parts, lost)
			if content == nil {
				break
			}
			m := Object{{"role", role}, {"content", content}}
			if s.name != "" {
				m = append(m, Field{"name", Raw(s.name)})
			}
			add(m)
		default:
			for _, p := range s.parts {
				if p.Kind != ctxabi.PartText {
					lost.add(s.where, "data in a system message has no place in the format")
				}
			}
			if text := textOf(s.parts); text != "" {
				add(Object{{"role", role}, {"content", Raw(text)}})
			}
		}
	}
	var tools []Object
	for _, t := range definitions(records, lost) {
		tools = append(tools, t.openAI())
	}
	if tools != nil {
		fields = Object{{"tools", Raw(tools)}}
	}
	return messages, fields
}

func openAIAssistant(s speech, lost *tally) (m Object) {
	var texts []string
	var calls []Object
	for _, p := range s.parts {
		switch p.Kind {
		case ctxabi.PartText:
			texts = append(texts, p.Text)
		case ctxabi.PartCall:
			arguments, ok := jsonObject(p.Call.Arguments)
			if !ok {
				lost.add(s.where, argumentsInObject)
			}
			calls = append(calls, Object{{"id", Raw(p.Call.ID)}, {"type", Raw("function")},
				{"function", Raw(Object{{"name", Raw(p.Call.Name)}, {"arguments", Raw(string(arguments))}})}})
		case ctxabi.PartThinking:
			lost.add(s.where, "the format has no place for thinking")
		case ctxabi.PartData:
			lost.add(s.where, "the format has no place for data in what an assistant says; its type stands there")
			texts = append(texts, marker(p.Raw))
		}
	}
	if texts == nil && calls == nil {
		return nil
	}
	m = Object{{"role", Raw("assistant")}}
	if texts != nil {
		m = append(m, Field{"content", Raw(strings.Join(texts, "\n"))})
	}
	if calls != nil {
		m = append(m, Field{"tool_calls", Raw(calls)})
	}
	return m
}

// openAIResults returns the messages of results, and one of the user with their images.
func openAIResults(s speech, lost *tally) (messages []Object) {
	var images []ctxabi.Part
	for _, a := range s.answers {
		text := textOf(a.inner)
		for _, p := range a.inner {
			if p.Kind == ctxabi.PartData {
				text = strings.TrimLeft(text+"\n"+marker(p.Raw), "\n")
				images = append(images, p)
			}
		}
		if text == "" {
			text = "(empty)"
		}
		if a.IsError {
			lost.add(s.where, "the format has no mark for a result that is an error; "+strings.TrimSpace(toolFailed)+" stands in front of it")
			text = toolFailed + text
		}
		messages = append(messages, Object{{"role", Raw("tool")}, {"tool_call_id", Raw(a.CallID)}, {"content", Raw(text)}})
	}
	if images != nil {
		parts := append([]ctxabi.Part{{Kind: ctxabi.PartText, Text: "[Images of the results above]"}}, images...)
		messages = append(messages, Object{{"role", Raw("user")}, {"content", openAIContent(s.where, parts, lost)}})
	}
	return messages
}

// openAIContent returns what a user says: a text, or parts where there is more
// than that; nil for nothing.
func openAIContent(where string, parts []ctxabi.Part, lost *tally) json.RawMessage {
	var list []Object
	text := true
	for _, p := range parts {
		switch p.Kind {
		case ctxabi.PartText:
			list = append(list, Object{{"type", Raw("text")}, {"text", Raw(p.Text)}})
		case ctxabi.PartData:
			part := openAIData(p.Raw)
			if text = text && part == nil; part == nil {
				lost.add(where, "the format has no place for data of this kind; its type stands there")
				part = Object{{"type", Raw("text")}, {"text", Raw(marker(p.Raw))}}
			}
			list = append(list, part)
		case ctxabi.PartThinking:
			lost.add(where, "the format has no place for thinking")
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
		return Raw(strings.Join(texts, "\n"))
	}
	return Raw(list)
}

func openAIData(raw []byte) Object {
	o, _ := ParseObject(raw)
	if kind := o.Text("type"); kind == "input_audio" && o.Object("input_audio").Has("data") || kind == "file" && o.Object("file").Has("file_id") {
		return o
	}
	switch d, ok := readDatum(raw); {
	case !ok:
		return nil
	case d.isImage():
		return Object{{"type", Raw("image_url")}, {"image_url", Raw(Object{{"url", Raw(d.dataURL())}})}}
	case d.base64 != "":
		name := d.name
		if name == "" {
			name = "file"
		}
		return Object{{"type", Raw("file")}, {"file", Raw(Object{{"filename", Raw(name)}, {"file_data", Raw(d.dataURL())}})}}
	}
	return nil
}
