package anthropic

import (
	"encoding/json"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/picture"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const assistantFirst = "(The assistant speaks first.)"

// anthropicForeign returns records from elsewhere as messages that the API
// takes: user and assistant take turns, the user begins, and the results of
// calls stand in front of all else in the message behind them.
func anthropicForeign(records []adapter.Record, lost *adapter.Tally) (messages []json.RawMessage, fields adapter.Object) {
	var a alternation
	var system []adapter.Object
	said := adapter.Dialogue(records, lost)
	adapter.Authors(said, lost)
	adapter.AcceptedBy(picture.Anthropic, said, lost)
	for _, s := range said {
		leads := s.Role == ctxabi.System || s.Role == ctxabi.Developer
		switch {
		case leads && len(a.turns) == 0:
			for _, b := range anthropicBlocks(s, lost) {
				if b.Text("type") == "text" {
					system = append(system, b)
				} else {
					lost.Add(s.Where, "data in a system message has no place in the format")
				}
			}
		case leads:
			lost.Add(s.Where, "the format has system messages only in front; this one is carried as a text of the user")
			if text := adapter.TextOf(s.Parts); text != "" {
				a.add("user", adapter.Object{{"type", adapter.Raw("text")}, {"text", adapter.Raw(adapter.SystemSays + text)}})
			}
		case s.Role == ctxabi.Assistant:
			a.assistant(s, lost)
		default:
			a.add("user", anthropicBlocks(s, lost)...)
		}
	}
	for _, t := range a.turns {
		messages = append(messages, adapter.Raw(adapter.Object{{"role", adapter.Raw(t.role)}, {"content", adapter.Raw(t.blocks)}}))
	}
	fields = adapter.Object{}
	if len(system) == 1 {
		fields = adapter.Object{{"system", system[0].Get("text")}}
	} else if len(system) > 1 {
		fields = adapter.Object{{"system", adapter.Raw(system)}}
	}
	var tools []adapter.Object
	for _, t := range adapter.Definitions(records, lost) {
		tools = append(tools, t.Anthropic())
	}
	if tools != nil {
		fields = append(fields, adapter.Field{"tools", adapter.Raw(tools)})
	}
	return messages, fields
}

// alternation are messages of two roles, which take turns.
type alternation struct{ turns []alternate }

type alternate struct {
	role   string
	blocks []adapter.Object
}

func (a *alternation) add(role string, blocks ...adapter.Object) {
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

func (a *alternation) assistant(s adapter.Speech, lost *adapter.Tally) {
	blocks := anthropicBlocks(s, lost)
	for n := len(blocks); n > 0 && isThinking(blocks[n-1]); n = len(blocks) {
		lost.Add(s.Where, "the API accepts no message that ends in thinking; that thinking is left out")
		blocks = blocks[:n-1]
	}
	if len(blocks) == 0 {
		return
	}
	if len(a.turns) == 0 {
		lost.Add(s.Where, "the API requires a message of the user first; one is added that states this")
		a.add("user", adapter.Object{{"type", adapter.Raw("text")}, {"text", adapter.Raw(assistantFirst)}})
	}
	a.add("assistant", blocks...)
	for _, r := range s.Answers {
		block := adapter.Object{{"type", adapter.Raw("tool_result")}, {"tool_use_id", adapter.Raw(r.CallID)}, {"content", anthropicResult(s.Where, r, lost)}}
		if r.IsError {
			block = append(block, adapter.Field{"is_error", adapter.Raw(true)})
		}
		a.add("user", block)
	}
}

func isThinking(block adapter.Object) bool {
	kind := block.Text("type")
	return kind == "thinking" || kind == "redacted_thinking"
}

func anthropicResult(where string, r adapter.Answer, lost *adapter.Tally) json.RawMessage {
	var blocks []adapter.Object
	for _, p := range r.Inner {
		if p.Kind == ctxabi.PartData {
			blocks = append(blocks, anthropicBlocks(adapter.Speech{Where: where, Role: ctxabi.User, Parts: []ctxabi.Part{p}}, lost)...)
		}
	}
	text := adapter.TextOf(r.Inner)
	switch {
	case blocks == nil && text == "":
		return adapter.Raw(adapter.NoText)
	case blocks == nil:
		return adapter.Raw(text)
	case text != "":
		blocks = append([]adapter.Object{{{"type", adapter.Raw("text")}, {"text", adapter.Raw(text)}}}, blocks...)
	}
	return adapter.Raw(blocks)
}

func anthropicBlocks(s adapter.Speech, lost *adapter.Tally) (blocks []adapter.Object) {
	for _, p := range s.Parts {
		switch p.Kind {
		case ctxabi.PartText:
			blocks = append(blocks, adapter.Object{{"type", adapter.Raw("text")}, {"text", adapter.Raw(p.Text)}})
		case ctxabi.PartCall:
			input, ok := adapter.JsonObject(p.Call.Arguments)
			if !ok {
				lost.Add(s.Where, adapter.ArgumentsInObject)
			}
			blocks = append(blocks, adapter.Object{{"type", adapter.Raw("tool_use")}, {"id", adapter.Raw(p.Call.ID)}, {"name", adapter.Raw(p.Call.Name)}, {"input", input}})
		case ctxabi.PartThinking:
			o, _ := adapter.ParseObject(p.Raw)
			signed := o.Text("type") == "thinking" && o.Text("signature") != "" || o.Text("type") == "redacted_thinking" && o.Text("data") != ""
			if !signed || s.Role != ctxabi.Assistant {
				lost.Add(s.Where, "the API accepts no thinking without its signature; it is left out")
				continue
			}
			blocks = append(blocks, o)
		case ctxabi.PartData:
			block := anthropicData(p.Raw)
			if s.Role == ctxabi.Assistant {
				block = nil
			}
			if block == nil {
				lost.Add(s.Where, "the format has no place for data of this kind; its type replaces it")
				block = adapter.Object{{"type", adapter.Raw("text")}, {"text", adapter.Raw(adapter.Marker(p.Raw))}}
			}
			blocks = append(blocks, block)
		}
	}
	return blocks
}

func anthropicData(raw []byte) adapter.Object {
	d, ok := adapter.ReadDatum(raw)
	kind := "image"
	switch {
	case !ok:
		return nil
	case d.Mime == "application/pdf":
		kind = "document"
	case !d.IsImage():
		return nil
	}
	source := adapter.Object{{"type", adapter.Raw("base64")}, {"media_type", adapter.Raw(d.Mime)}, {"data", adapter.Raw(d.Base64)}}
	if d.Url != "" {
		source = adapter.Object{{"type", adapter.Raw("url")}, {"url", adapter.Raw(d.Url)}}
	}
	block := adapter.Object{{"type", adapter.Raw(kind)}, {"source", adapter.Raw(source)}}
	if kind == "document" && d.Name != "" {
		block = append(block, adapter.Field{"title", adapter.Raw(d.Name)})
	}
	return block
}
