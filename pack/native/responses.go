package native

import (
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/pack/record"
)

// goesOn reports whether the assistant says or calls something after part k of turn i, before others speak.
func (d *Dialogue) goesOn(i, k int) bool {
	for ; i < len(d.turns) && d.turns[i].by == byAssistant; i, k = i+1, -1 {
		if slices.ContainsFunc(d.turns[i].parts[k+1:], func(p filled) bool { return p.kind != record.ThoughtPortion }) {
			return true
		}
	}
	return false
}

// responses writes the body of a request to OpenAI's Responses.
func (d *Dialogue) responses(tools Tools) (data []byte, stable Stable) {
	d.arrange(form{roles: 4})
	w := responsesWriter{talk: d}
	for _, h := range d.head {
		w.message(openAIRoles[h.by], h.Text)
		w.add(len(h.Text), false)
	}

	for i := range d.turns {
		u := &d.turns[i]
		switch u.by {
		case byTools:
			for k := range u.parts {
				w.result(&u.parts[k])
			}
		case byAssistant:
			w.assistant(i)
		default:
			content := w.content(u, "input_text", func(im record.Image) object {
				return object{"type": "input_image", "image_url": im.DataURL(), "detail": "auto"}
			})
			if content != nil {
				w.message(openAIRoles[u.by], content)
			}
		}
	}

	body := object{"input": w.input}
	d.setTools(body, tools.responses(), "tool_choice", "none")
	return writeBody(body), w.stable
}

// responsesWriter writes the items of a request to Responses.
type responsesWriter struct {
	unitWriter
	talk    *Dialogue
	input   []object
	outputs itemsOf
}

func (w *responsesWriter) message(role string, content any) {
	w.input = append(w.input, object{"type": "message", "role": role, "content": content})
}

// item adds an item that has no text of its own.
func (w *responsesWriter) item(item object, tail bool) {
	w.input = append(w.input, item)
	w.add(0, tail)
}

// result adds the output of a call. The output of a provider's own tool may be part of its call.
func (w *responsesWriter) result(p *filled) {
	out, is := w.outputs.results[p.id]
	switch text := p.content(); {
	case is && len(out) == 0:
	case is && p.footer != "":
		w.item(withFooter(out, p), true)
	case is:
		w.item(out, p.tail)
	default:
		w.input = append(w.input, object{"type": "function_call_output", "call_id": p.id, "output": p.withFooter(text)})
		w.add(len(text), p.tail)
	}
}

// withFooter returns the output of a call with the footer after it. Outputs that have no place
// for a text stay as they are: the request has no footer.
func withFooter(out object, p *filled) object {
	out = maps.Clone(out)
	switch output := out["output"].(type) {
	case string:
		if kind := out["type"]; kind != "local_shell_call_output" { // a text in JSON
			out["output"] = p.withFooter(output)
		}
	case []any:
		if out["type"] == "function_call_output" {
			out["output"] = append(slices.Clip(output), object{"type": "input_text", "text": p.footer})
		}
	}
	return out
}

// assistant adds the texts, the reasoning, and the calls of turn i.
func (w *responsesWriter) assistant(i int) {
	u := &w.talk.turns[i]
	own := w.talk.itemsAt(i)
	w.outputs.add(own)
	reasoned := false // in this turn, or in one of the assistant's before it
	for k := i - 1; k >= 0 && w.talk.turns[k].by == byAssistant && !reasoned; k-- {
		reasoned = w.talk.turns[k].thinks()
	}

	for k, p := range u.parts {
		switch p.kind {
		case record.TextPortion:
			w.message("assistant", p.text)
			w.add(len(p.text), p.tail)
		case record.ThoughtPortion:
			t := thought(p.raw, Responses)
			if p.item {
				t = item(p.raw)
			}
			if t != nil && w.talk.goesOn(i, k) { // the API refuses reasoning without the item that it led to
				w.item(t, p.tail)
				reasoned = true
			}
		case record.CallPortion:
			call, is := own.calls[p.id]
			if !is {
				call = object{"type": "function_call", "call_id": p.id, "name": p.name}
				call["arguments"] = rawArguments(p.text)
			} else if shape := itemShapes[call["type"].(string)]; !reasoned && shape.may["id"] != 0 {
				delete(call, "id") // by which the API would ask for the reasoning that led to it
			}
			w.item(call, p.tail)
		}
	}
}
