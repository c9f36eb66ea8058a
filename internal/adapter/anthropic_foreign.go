package adapter

import (
	"encoding/json"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const assistantFirst = "(The assistant speaks first.)"

// anthropicForeign returns records from elsewhere as messages that the API
// takes: user and assistant take turns, the user begins, and the results of
// calls stand in front of all else in the message behind them.
func anthropicForeign(records []Record, lost *tally) (messages []json.RawMessage, fields Object) {
	var a alternation
	var system []Object
	said := dialogue(records, lost)
	authors(said, lost)
	for _, s := range said {
		leads := s.role == ctxabi.System || s.role == ctxabi.Developer
		switch {
		case leads && len(a.turns) == 0:
			for _, b := range anthropicBlocks(s, lost) {
				if b.Text("type") == "text" {
					system = append(system, b)
				} else {
					lost.add(s.where, "data in a system message has no place in the format")
				}
			}
		case leads:
			lost.add(s.where, "the format has system messages only in front; this one is carried as a text of the user")
			if text := textOf(s.parts); text != "" {
				a.add("user", Object{{"type", Raw("text")}, {"text", Raw(systemSays + text)}})
			}
		case s.role == ctxabi.Assistant:
			a.assistant(s, lost)
		default:
			a.add("user", anthropicBlocks(s, lost)...)
		}
	}
	for _, t := range a.turns {
		messages = append(messages, Raw(Object{{"role", Raw(t.role)}, {"content", Raw(t.blocks)}}))
	}
	fields = Object{}
	if len(system) == 1 {
		fields = Object{{"system", system[0].Get("text")}}
	} else if len(system) > 1 {
		fields = Object{{"system", Raw(system)}}
	}
	var tools []Object
	for _, t := range definitions(records, lost) {
		tools = append(tools, t.anthropic())
	}
	if tools != nil {
		fields = append(fields, Field{"tools", Raw(tools)})
	}
	return messages, fields
}

// alternation are messages of two roles, which take turns.
type alternation struct{ turns []alternate }

type alternate struct {
	role   string
	blocks []Object
}

func (a *alternation) add(role string, blocks ...Object) {
	if len(blocks) == 0 {
		return
	}
	last := len(a.turns) - 1
	if last < 0 || a.turns[last].role != role {
		a.turns = append(a.turns, alternate{role: role})
		last++
	}
	a.turns[last].blocks = append(a.turns[last].blocks, blocks...)
}

func (a *alternation) assistant(s speech, lost *tally) {
	blocks := anthropicBlocks(s, lost)
	for n := len(blocks); n > 0 && isThinking(blocks[n-1]); n = len(blocks) {
		lost.add(s.where, "the API takes no message that ends in thinking; that thinking is not there")
		blocks = blocks[:n-1]
	}
	if len(blocks) == 0 {
		return
	}
	if len(a.turns) == 0 {
		lost.add(s.where, "the API wants a message of the user in front; one stands there that says so")
		a.add("user", Object{{"type", Raw("text")}, {"text", Raw(assistantFirst)}})
	}
	a.add("assistant", blocks...)
	for _, r := range s.answers {
		block := Object{{"type", Raw("tool_result")}, {"tool_use_id", Raw(r.CallID)}, {"content", anthropicResult(s.where, r, lost)}}
		if r.IsError {
			block = append(block, Field{"is_error", Raw(true)})
		}
		a.add("user", block)
	}
}

func isThinking(block Object) bool {
	kind := block.Text("type")
	return kind == "thinking" || kind == "redacted_thinking"
}

func anthropicResult(where string, r answer, lost *tally) json.RawMessage {
	var blocks []Object
	for _, p := range r.inner {
		if p.Kind == ctxabi.PartData {
			blocks = append(blocks, anthropicBlocks(speech{where: where, role: ctxabi.User, parts: []ctxabi.Part{p}}, lost)...)
		}
	}
	text := textOf(r.inner)
	switch {
	case blocks == nil && text == "":
		return Raw("(empty)")
	case blocks == nil:
		return Raw(text)
	case text != "":
		blocks = append([]Object{{{"type", Raw("text")}, {"text", Raw(text)}}}, blocks...)
	}
	return Raw(blocks)
}

func anthropicBlocks(s speech, lost *tally) (blocks []Object) {
	for _, p := range s.parts {
		switch p.Kind {
		case ctxabi.PartText:
			blocks = append(blocks, Object{{"type", Raw("text")}, {"text", Raw(p.Text)}})
		case ctxabi.PartCall:
			input, ok := jsonObject(p.Call.Arguments)
			if !ok {
				lost.add(s.where, argumentsInObject)
			}
			blocks = append(blocks, Object{{"type", Raw("tool_use")}, {"id", Raw(p.Call.ID)}, {"name", Raw(p.Call.Name)}, {"input", input}})
		case ctxabi.PartThinking:
			o, _ := ParseObject(p.Raw)
			signed := o.Text("type") == "thinking" && o.Text("signature") != "" || o.Text("type") == "redacted_thinking" && o.Text("data") != ""
			if !signed || s.role != ctxabi.Assistant {
				lost.add(s.where, "the API takes no thinking without its signature; it is not there")
				continue
			}
			blocks = append(blocks, o)
		case ctxabi.PartData:
			block := anthropicData(p.Raw)
			if s.role == ctxabi.Assistant {
				block = nil
			}
			if block == nil {
				lost.add(s.where, "the format has no place for data of this kind; its type stands there")
				block = Object{{"type", Raw("text")}, {"text", Raw(marker(p.Raw))}}
			}
			blocks = append(blocks, block)
		}
	}
	return blocks
}

func anthropicData(raw []byte) Object {
	d, ok := readDatum(raw)
	kind := "image"
	switch {
	case !ok:
		return nil
	case d.mime == "application/pdf":
		kind = "document"
	case !d.isImage():
		return nil
	}
	source := Object{{"type", Raw("base64")}, {"media_type", Raw(d.mime)}, {"data", Raw(d.base64)}}
	if d.url != "" {
		source = Object{{"type", Raw("url")}, {"url", Raw(d.url)}}
	}
	block := Object{{"type", Raw(kind)}, {"source", Raw(source)}}
	if kind == "document" && d.name != "" {
		block = append(block, Field{"title", Raw(d.name)})
	}
	return block
}
