package native

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// gemini builds the body of a request to Gemini's generateContent. Gemini refuses a request if the
// first call of a step has no thought signature. If another model made the call, gemini writes
// [ctxabi.NoSignature], which Gemini documents for this case. It does so in all turns, so that the
// next request of the user does not change earlier parts.
func (d *Dialogue) gemini(tools Tools) (body object, stable Stable) {
	a := d.alternate(form{roles: 2, thinks: func([]byte) bool { return false }})
	var contents []object
	for _, m := range a.messages {
		var parts []object
		signed := false // the first call
		for _, p := range m.parts {
			part := geminiPart(p)
			if p.beside != nil && p.beside.Signature != "" {
				part["thoughtSignature"] = p.beside.Signature
			} else if p.kind == record.CallPortion && !signed {
				part["thoughtSignature"] = ctxabi.NoSignature
			}
			signed = signed || p.kind == record.CallPortion
			parts = append(parts, part)
		}
		role := "user"
		if m.assistant {
			role = "model"
		}
		contents = append(contents, object{"role": role, "parts": parts})
	}
	body = object{"contents": contents}
	if len(a.system) > 0 {
		var parts []object
		for _, h := range a.system {
			parts = append(parts, object{"text": h.Text})
		}
		body["systemInstruction"] = object{"parts": parts}
	}
	if list := tools.gemini(); len(list) > 0 {
		list = []object{{"functionDeclarations": list}}
		d.setTools(body, list, "toolConfig", object{"functionCallingConfig": object{"mode": "NONE"}})
	}
	return body, a.units()
}

// genAI makes of the body what Google's Gen AI SDK takes: what stands beside the contents stands in config. Outside of it the SDK
// would leave it out without an error.
func genAI(body object) object {
	config := object{}
	for key, v := range body {
		if key != "contents" {
			config[key] = v
		}
	}
	if len(config) == 0 {
		return body
	}
	return object{"contents": body["contents"], "config": config}
}

func geminiPart(p filled) object {
	switch p.kind {
	case record.CallPortion:
		return object{"functionCall": object{"name": p.name, "args": argumentsObject(p.text)}}
	case record.ResultPortion:
		key := "output"
		if p.failed {
			key = "error"
		}
		return object{"functionResponse": object{"name": p.name, "response": object{key: p.withFooter(p.text)}}}
	case record.DataPortion:
		if im := p.images[0]; im.URL == "" {
			return object{"inlineData": object{"mimeType": im.Type, "data": im.Data}}
		}
	}
	return object{"text": p.text}
}
