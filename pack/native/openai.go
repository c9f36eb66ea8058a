package native

import (
	"bytes"
	"maps"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// openAIRoles are the roles of all who speak but for the assistant and tools.
var openAIRoles = map[Speaker]string{bySystem: "system", byDeveloper: "developer", byNote: "user", ByUser: "user"}

// openAI writes the body of a request to OpenAI's Chat Completions. Blocks that have authority are
// system messages; quotations are the user's.
func (d *Dialogue) openAI(tools Tools) (data []byte, stable Stable) {
	d.arrange(form{roles: 4, thinks: func(raw []byte) bool { return len(thought(raw, OpenAI)) > 0 }})
	w := unitWriter{}
	var messages []object
	for _, h := range d.head {
		messages = append(messages, object{"role": openAIRoles[h.by], "content": h.Text})
		w.add(len(h.Text), false)
	}

	for i := range d.turns {
		u := &d.turns[i]
		switch u.by {
		case byTools:
			for _, p := range u.parts {
				text := p.content()
				messages = append(messages, object{"role": "tool", "tool_call_id": p.id, "content": p.withFooter(text)})
				w.add(len(text), p.tail)
			}
		case byAssistant:
			if m := w.chatAssistant(u); m != nil { // else it only thought
				messages = append(messages, m)
			}
		default:
			content := w.content(u, "text", func(im record.Image) object {
				return object{"type": "image_url", "image_url": object{"url": im.DataURL()}}
			})
			if content != nil {
				messages = append(messages, object{"role": openAIRoles[u.by], "content": content})
			}
		}
	}

	body := object{"messages": messages}
	d.setTools(body, tools.openAI(), "tool_choice", "none")
	return writeBody(body), w.stable
}

// chatAssistant returns the message for the texts and calls of an assistant, or nil if there are none.
func (w *unitWriter) chatAssistant(u *utterance) object {
	if u.onlyThinks() {
		return nil
	}
	m := object{"role": "assistant"}
	for _, p := range u.parts {
		if p.kind == record.ThoughtPortion {
			maps.Copy(m, thought(p.raw, OpenAI))
		}
	}
	if len(m) > 1 {
		w.add(0, u.tail)
	}
	if text := w.content(u, "", nil); text != nil {
		m["content"] = text
	}

	var calls []object
	for _, p := range u.parts {
		if p.kind != record.CallPortion {
			continue
		}
		function := object{"name": p.name, "arguments": rawArguments(p.text)}
		call := object{"id": p.id, "type": "function", "function": function}
		if p.beside != nil && p.beside.Extra != nil {
			call["extra_content"], _ = record.ReadJSON(string(p.beside.Extra))
		}
		calls = append(calls, call)
		w.add(0, p.tail)
	}
	if len(calls) > 0 {
		m["tool_calls"] = calls
	}
	return m
}

// text joins the texts of an utterance; ok is false when there is none.
func (u *utterance) text() (text string, ok bool) {
	for _, p := range u.parts {
		if p.kind == record.TextPortion {
			text, ok = joined(text, p.text, ok), true
		}
	}
	return text, ok
}

// joined returns a text and the next one; follows reports whether there is a text yet.
func joined(text, next string, follows bool) string {
	if follows {
		return text + "\n" + next
	}
	return next
}

// content returns the texts and images of a turn and counts their units: texts that follow each
// other as one, and a string if there are no images. Some services with OpenAI's API accept no
// list. Nil means that there is nothing.
func (w *unitWriter) content(u *utterance, textType string, ofImage func(record.Image) object) any {
	var list []any
	text, follows := "", false // the last of list
	images := false

	for _, p := range u.parts {
		switch p.kind {
		case record.TextPortion:
			if text = joined(text, p.text, follows); follows {
				w.grow(len(text), p.tail)
				list[len(list)-1] = object{"type": textType, "text": text}
				continue
			}
			w.add(len(text), p.tail)
			list, follows = append(list, object{"type": textType, "text": text}), true
		case record.DataPortion:
			list, text, follows, images = append(list, ofImage(p.images[0])), "", false, true
			w.add(0, p.tail)
		}
	}

	switch {
	case list == nil:
		return nil
	case !images:
		return text
	}
	return list
}

// content is a result as a text.
func (p *filled) content() string {
	if p.failed {
		return toolFailed + p.text
	}
	return p.text
}

// rawArguments are arguments as the model wrote them. What is no object of JSON, as the input of a freeform tool, stands in one:
// whoever takes the request parses them.
func rawArguments(text string) string {
	if text == "" {
		return "{}"
	}
	if v, ok := record.ReadJSON(text); ok {
		if _, is := v.(object); is {
			return ctxabi.WithoutHalves(text)
		}
	}
	var b bytes.Buffer
	writeCompact(&b, argumentsObject(text))
	return b.String()
}
