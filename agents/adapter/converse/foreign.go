package converse

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/picture"
)

const assistantFirst = "(The assistant speaks first.)"

// writer builds messages with alternating roles.
type writer struct {
	lost     *adapter.Tally
	messages []json.RawMessage
	role     string
	open     []json.RawMessage // the blocks of the last message
	files    int
}

// foreign converts records of other formats to messages of the API. The first message has the user
// role, and the message after a call has its results.
func foreign(records []adapter.Record, lost *adapter.Tally) (messages []json.RawMessage, fields adapter.Object) {
	said := adapter.Dialogue(records, lost)
	adapter.Authors(said, lost)
	adapter.AcceptedBy(picture.Any, said, lost)
	w := &writer{lost: lost}
	var system []json.RawMessage
	for _, s := range said {
		leads := s.Role == ctxabi.System || s.Role == ctxabi.Developer
		text := adapter.TextOf(s.Parts)
		switch {
		case leads && w.role == "":
			if text != "" {
				system = append(system, textBlock(text))
			}
		case leads:
			lost.Add(s.Where, "the format has system messages only in front; this one is carried as a text of the user")
			if text != "" {
				w.say("user", textBlock(adapter.SystemSays+text))
			}
		case s.Role == ctxabi.Assistant:
			w.answer(s)
		default:
			w.say("user", w.blocks(s.Where, s.Parts)...)
		}
	}
	w.flush()
	fields = adapter.Object{}
	if system != nil {
		fields = append(fields, adapter.Field{"system", adapter.Raw(system)})
	}
	var tools []adapter.Object
	for _, t := range adapter.Definitions(records, lost) {
		tools = append(tools, t.Converse())
	}
	if tools != nil {
		fields = append(fields, adapter.Field{"toolConfig", adapter.Raw(adapter.Object{{"tools", adapter.Raw(tools)}})})
	}
	return w.messages, fields
}

func textBlock(text string) json.RawMessage {
	return adapter.Raw(adapter.Object{{"text", adapter.Raw(text)}})
}

// say appends blocks to the last message if it has this role, and starts a new message otherwise.
func (w *writer) say(role string, blocks ...json.RawMessage) {
	if len(blocks) == 0 {
		return
	}
	if role != w.role {
		w.flush()
	}
	w.role, w.open = role, append(w.open, blocks...)
}

func (w *writer) flush() {
	if len(w.open) > 0 {
		w.messages = append(w.messages, adapter.Raw(adapter.Object{{"role", adapter.Raw(w.role)},
			{"content", adapter.Raw(w.open)}}))
	}
	w.open = nil
}

// answer appends an assistant message and the results of its calls.
func (w *writer) answer(s adapter.Speech) {
	blocks := w.blocks(s.Where, s.Parts)
	if len(blocks) == 0 {
		return
	}
	if w.role == "" {
		w.lost.Add(s.Where, "the API requires a message of the user first; one is added that states this")
		w.say("user", textBlock(assistantFirst))
	}
	w.say("assistant", blocks...)
	for _, a := range s.Answers {
		content := w.blocks(s.Where, a.Inner)
		if len(content) == 0 {
			content = []json.RawMessage{textBlock("(empty)")}
		}
		status := "success"
		if a.IsError {
			status = "error"
		}
		result := adapter.Object{{"toolUseId", adapter.Raw(a.CallID)}, {"content", adapter.Raw(content)},
			{"status", adapter.Raw(status)}}
		w.say("user", adapter.Raw(adapter.Object{{"toolResult", adapter.Raw(result)}}))
	}
}

// blocks converts message parts to blocks.
func (w *writer) blocks(where string, parts []ctxabi.Part) (blocks []json.RawMessage) {
	for _, p := range parts {
		switch p.Kind {
		case ctxabi.PartText:
			if strings.TrimSpace(p.Text) != "" {
				blocks = append(blocks, textBlock(p.Text))
			}
		case ctxabi.PartCall:
			input, ok := adapter.JsonObject(p.Call.Arguments)
			if !ok {
				w.lost.Add(where, adapter.ArgumentsInObject)
			}
			use := adapter.Object{{"toolUseId", adapter.Raw(p.Call.ID)}, {"name", adapter.Raw(p.Call.Name)},
				{"input", input}}
			blocks = append(blocks, adapter.Raw(adapter.Object{{"toolUse", adapter.Raw(use)}}))
		case ctxabi.PartThinking:
			if block := w.thinking(where, p.Raw); block != nil {
				blocks = append(blocks, block)
			}
		case ctxabi.PartData:
			blocks = append(blocks, w.data(where, p.Raw))
		}
	}
	return blocks
}

// thinking converts a thinking part with a signature to a block. It returns nil if there is no
// signature.
func (w *writer) thinking(where string, raw []byte) json.RawMessage {
	o, _ := adapter.ParseObject(raw)
	var content adapter.Object
	switch {
	case o.Text("type") == "thinking" && o.Text("signature") != "":
		text := adapter.Object{{"text", o.Get("thinking")}, {"signature", o.Get("signature")}}
		content = adapter.Object{{"reasoningText", adapter.Raw(text)}}
	case o.Text("type") == "redacted_thinking" && o.Text("data") != "":
		content = adapter.Object{{"redactedContent", o.Get("data")}}
	default:
		w.lost.Add(where, "the API accepts no thinking without its signature; it is left out")
		return nil
	}
	return adapter.Raw(adapter.Object{{"reasoningContent", adapter.Raw(content)}})
}

// data converts an image or a document to a block.
func (w *writer) data(where string, raw []byte) json.RawMessage {
	d, ok := adapter.ReadDatum(raw)
	source := adapter.Raw(adapter.Object{{"bytes", adapter.Raw(d.Base64)}})
	if ok && d.Base64 != "" {
		if kind, is := strings.CutPrefix(d.Mime, "image/"); is && d.IsImage() {
			return adapter.Raw(adapter.Object{{"image", adapter.Raw(adapter.Object{{"format", adapter.Raw(kind)},
				{"source", source}})}})
		}
		for kind, mime := range mimes {
			if mime == d.Mime {
				w.files++ // the API takes each name once, and not every character in it
				name := adapter.Raw(fmt.Sprintf("document-%d", w.files))
				return adapter.Raw(adapter.Object{{"document", adapter.Raw(adapter.Object{{"format", adapter.Raw(kind)},
					{"name", name}, {"source", source}})}})
			}
		}
	}
	w.lost.Add(where, "the format has no place for data of this kind; its type replaces it")
	return textBlock(adapter.Marker(raw))
}
