package native

import (
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
func (d *Dialogue) responses(tools Tools) (data []byte, stable int) {
	d.withoutImagesInResults()
	w := unitWriter{}
	var input []object
	add := func(item object, units int) {
		input = append(input, item)
		w.units += units
	}
	message := func(role string, content any, units int) {
		add(object{"type": "message", "role": role, "content": content}, units)
	}
	for _, h := range d.head {
		message(openAIRoles[h.by], h.Text, 1)
	}
	var outputs itemsOf
	for i, u := range d.turns {
		w.reach(u.tail)
		switch u.by {
		case byTools:
			for _, p := range u.parts {
				if out, is := outputs.results[p.id]; is {
					if len(out) > 0 { // else it stands in the call
						add(out, 1)
					}
					continue
				}
				add(object{"type": "function_call_output", "call_id": p.id, "output": p.content()}, 1)
			}
		case byAssistant:
			own := d.itemsAt(i)
			outputs.add(own)
			reasoned := false // in this turn, or in one of the assistant's before it
			for k := i - 1; k >= 0 && d.turns[k].by == byAssistant && !reasoned; k-- {
				reasoned = slices.ContainsFunc(d.turns[k].parts, func(p filled) bool { return p.kind == record.ThoughtPortion })
			}
			for k, p := range u.parts {
				switch p.kind {
				case record.TextPortion:
					message("assistant", p.text, 1)
				case record.ThoughtPortion:
					t := thought(p.raw, Responses)
					if p.item {
						t = item(p.raw)
					}
					if t != nil && d.goesOn(i, k) { // the API refuses reasoning without the item that it led to
						add(t, 1)
						reasoned = true
					}
				case record.CallPortion:
					if call, is := own.calls[p.id]; is {
						if shape := itemShapes[call["type"].(string)]; !reasoned && shape.may["id"] != 0 {
							delete(call, "id") // by which the API would ask for the reasoning that led to it
						}
						add(call, 1)
						continue
					}
					add(object{"type": "function_call", "call_id": p.id, "name": p.name, "arguments": rawArguments(p.text)}, 1)
				}
			}
		default:
			role := openAIRoles[u.by]
			if content, units := u.content("input_text", func(im record.Image) object {
				return object{"type": "input_image", "image_url": im.DataURL(), "detail": "auto"}
			}); units > 0 {
				message(role, content, units)
			}
		}
	}
	body := object{"input": itemLines(input)}
	if list := tools.responses(); len(list) > 0 {
		body["tools"] = itemLines(list)
	}
	return writeBody(body), w.stable()
}
