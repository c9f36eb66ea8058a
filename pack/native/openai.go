package native

import (
	"bytes"
	"maps"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// openAIRoles are the roles of all who speak but for the assistant and tools.
var openAIRoles = map[Speaker]string{bySystem: "system", byDeveloper: "developer", byNote: "user", ByUser: "user"}

// openAI writes the body of a request to OpenAI's Chat Completions. Blocks that have authority are system messages; what ctxfs quotes is the user's.
func (d *Dialogue) openAI(tools Tools) (data []byte, stable int) {
	d.withoutImagesInResults()
	w := unitWriter{}
	var messages []object
	add := func(m object, units int) {
		messages = append(messages, m)
		w.units += units
	}
	for _, h := range d.head {
		add(object{"role": openAIRoles[h.by], "content": h.Text}, 1)
	}
	for _, u := range d.turns {
		w.reach(u.tail)
		switch u.by {
		case byTools:
			for _, p := range u.parts {
				add(object{"role": "tool", "tool_call_id": p.id, "content": p.content()}, 1)
			}
		case byAssistant:
			if m, units := chatAssistant(&u); m != nil { // else it only thought
				add(m, units)
			}
		default:
			m := object{"role": openAIRoles[u.by]}
			if content, units := u.content("text", func(im record.Image) object {
				return object{"type": "image_url", "image_url": object{"url": im.DataURL()}}
			}); units > 0 {
				m["content"] = content
				add(m, units)
			}
		}
	}
	body := object{"messages": itemLines(messages)}
	if list := tools.openAI(); len(list) > 0 {
		body["tools"] = itemLines(list)
	}
	return writeBody(body), w.stable()
}

// chatAssistant returns the message for the texts and calls of an assistant, or nil if there are none.
func chatAssistant(u *utterance) (m object, units int) {
	m = object{"role": "assistant"}
	var calls []object
	reasoning := object{}
	if text, ok := u.text(); ok {
		m["content"] = text
	}
	for _, p := range u.parts {
		switch p.kind {
		case record.ThoughtPortion:
			maps.Copy(reasoning, thought(p.raw, OpenAI))
		case record.CallPortion:
			call := object{"id": p.id, "type": "function", "function": object{"name": p.name, "arguments": rawArguments(p.text)}}
			if p.beside != nil && p.beside.Extra != nil {
				call["extra_content"], _ = record.ReadJSON(string(p.beside.Extra))
			}
			calls = append(calls, call)
		}
	}
	if units = len(m) - 1 + len(calls); units == 0 {
		return nil, 0
	}
	if len(calls) > 0 {
		m["tool_calls"] = calls
	}
	if len(reasoning) > 0 {
		maps.Copy(m, reasoning)
		units++
	}
	return m, units
}

// unitWriter counts units: parts of messages, calls, items.
type unitWriter struct {
	units   int
	reached bool // the tail
	before  int
}

// reach notes where the tail begins.
func (w *unitWriter) reach(tail bool) {
	if tail && !w.reached {
		w.reached, w.before = true, w.units
	}
}

func (w *unitWriter) stable() int {
	if w.reached {
		return w.before
	}
	return w.units
}

// text joins the texts of an utterance; ok is false when there is none.
func (u *utterance) text() (text string, ok bool) {
	for _, p := range u.parts {
		if p.kind != record.TextPortion {
			continue
		}
		if ok {
			text += "\n"
		}
		text, ok = text+p.text, true
	}
	return text, ok
}

// content is a text, or, where there are images, a list of parts.
func (u *utterance) content(textType string, ofImage func(record.Image) object) (content any, units int) {
	var list []object
	for _, p := range u.parts {
		if p.kind == record.DataPortion {
			list = append(list, ofImage(p.images[0]))
			units++
		} else if p.kind == record.TextPortion {
			list = append(list, object{"type": textType, "text": p.text})
		}
	}
	if units == 0 {
		text, ok := u.text()
		if !ok {
			return nil, 0
		}
		return text, 1
	}
	return list, len(list)
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
