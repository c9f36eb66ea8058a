package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/bodies"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// Contents is the body of a request to Google's Gemini API: contents, which are messages made of parts, and what the model is to do
// with them. The Gen AI SDK takes what stands beside the contents in "config".
var Contents = &adapter.Format{
	Name:   adapter.ContentsName,
	Title:  "Gemini API contents (the body of a request, of the Gen AI SDK)",
	Sniff:  sniffContents,
	Import: func(in *adapter.Input, out adapter.Output) error { return contents.Read(in, out) },
	Export: func(src *adapter.Source, w io.Writer) error { return contents.Write(src, w) },
}

var contents = &bodies.Bodies{
	Name: adapter.ContentsName,
	Lists: []bodies.List{
		{Path: "systemInstruction", System: true},
		{Path: "system_instruction", System: true},
		{Path: "config.systemInstruction", System: true},
		{Path: "contents"},
		{Path: "request.contents"}, // of a line of a batch
	},
	Message: contentsMessage,
	System:  systemContent,
	Foreign: contentsForeign,
}

func sniffContents(_ string, head []byte) int {
	if h := bytes.TrimSpace(head); len(h) == 0 || h[0] != '{' && h[0] != '[' {
		return 0
	}
	s := adapter.ShapeOf(head)
	for _, p := range []string{"$.contents[]", "$.request.contents[]"} {
		if s.Has(p+".parts[") && contents.Reads(head) {
			return 95
		}
	}
	for _, p := range []string{"$[]", "$"} {
		if s.Says(p+".role", "user", "model", "function") && s.Has(p+".parts[") && !s.Has(p+".info", p+".content", "$.messages") {
			if s.Has(p+".parts[].text", p+".parts[].functionCall", p+".parts[].functionResponse",
				p+".parts[].inlineData") && !s.Has(p+".parts[].type") && contents.Reads(head) {
				return 90
			}
		}
	}
	return 0
}

// contentsMessage is the record of a content.
func contentsMessage(m adapter.Object) (record adapter.Object, ok bool) {
	role := "user"
	switch m.Text("role") {
	case "user", "function":
	case "model":
		role = "assistant"
	default:
		if m.Has("role") {
			return nil, false
		}
	}
	if !adapter.IsArray(m.Get("parts")) {
		return nil, false
	}
	parts := partsOf(m.Get("parts"))
	if parts == nil {
		parts = []json.RawMessage{}
	}
	return adapter.Object{{"role", adapter.Raw(role)}, {"content", adapter.Raw(parts)}}, true
}

// systemContent is what an instruction says: a text, a content, or parts.
func systemContent(v json.RawMessage) json.RawMessage {
	if o, err := adapter.ParseObject(v); err == nil && o.Has("parts") {
		v = o.Get("parts")
	}
	if adapter.IsString(v) {
		return v
	}
	return adapter.PartsContent(partsOf(v))
}

// contentsForeign returns records from elsewhere as contents: those of one role behind each other are one, and
// the answers of calls stand in the one behind them.
func contentsForeign(records []adapter.Record, lost *adapter.Tally) (messages []json.RawMessage, fields adapter.Object) {
	said := adapter.Dialogue(records, lost)
	adapter.Authors(said, lost)
	adapter.AcceptedBy(picture.Gemini, said, lost)
	var system, open []json.RawMessage
	role := ""
	flush := func() {
		if len(open) > 0 {
			messages = append(messages, adapter.Raw(adapter.Object{{"role", adapter.Raw(role)}, {"parts", adapter.Raw(open)}}))
		}
		open = nil
	}
	say := func(as string, parts []json.RawMessage) {
		if len(parts) == 0 {
			return
		}
		if as != role {
			flush()
		}
		role, open = as, append(open, parts...)
	}
	for _, s := range said {
		switch s.Role {
		case ctxabi.Assistant:
			say("model", contentsParts(s, lost))
			for _, a := range s.Answers {
				key := "output"
				if a.IsError {
					key = "error"
				}
				response := adapter.Object{{"name", adapter.Raw(nameOf(s, a.CallID))}, {"response", adapter.Raw(adapter.Object{{key, adapter.Raw(cmp.Or(adapter.TextOf(a.Inner), adapter.NoText))}})}}
				parts := []json.RawMessage{adapter.Raw(adapter.Object{{"functionResponse", adapter.Raw(response)}})}
				for _, p := range a.Inner {
					if p.Kind == ctxabi.PartData {
						parts = append(parts, dataPart(s.Where, p, lost))
					}
				}
				say("user", parts)
			}
		case ctxabi.User:
			say("user", contentsParts(s, lost))
		default:
			if text := adapter.TextOf(s.Parts); text != "" && len(messages) == 0 && open == nil {
				system = append(system, adapter.Raw(adapter.Object{{"text", adapter.Raw(text)}}))
			} else if text != "" {
				lost.Add(s.Where, "the API takes a system message only in front; the user says it")
				say("user", []json.RawMessage{adapter.Raw(adapter.Object{{"text", adapter.Raw(adapter.SystemSays + text)}})})
			}
		}
	}
	flush()
	if system != nil {
		fields = append(fields, adapter.Field{"systemInstruction", adapter.Raw(adapter.Object{{"parts", adapter.Raw(system)}})})
	}
	var tools []adapter.Object
	for _, t := range adapter.Definitions(records, lost) {
		tools = append(tools, t.Gemini())
	}
	if tools != nil {
		fields = append(fields, adapter.Field{"tools", adapter.Raw([]adapter.Object{{{"functionDeclarations", adapter.Raw(tools)}}})})
	}
	if fields == nil {
		fields = adapter.Object{}
	}
	return messages, fields
}

func nameOf(s adapter.Speech, callID string) string {
	for _, p := range s.Parts {
		if p.Kind == ctxabi.PartCall && p.Call.ID == callID {
			return p.Call.Name
		}
	}
	return ""
}

// contentsParts returns texts, data and calls as the API has them. The API refuses a first call of a step without a signature.
func contentsParts(s adapter.Speech, lost *adapter.Tally) (parts []json.RawMessage) {
	called := false
	for _, p := range s.Parts {
		var signature []adapter.Field
		if c, ok := ctxabi.ContinuationOf(p.Raw); ok && c.Signature != "" && s.Role == ctxabi.Assistant {
			signature = []adapter.Field{{"thoughtSignature", adapter.Raw(c.Signature)}}
		} else if p.Kind == ctxabi.PartCall && !called {
			signature = []adapter.Field{{"thoughtSignature", adapter.Raw(ctxabi.NoSignature)}}
		}
		called = called || p.Kind == ctxabi.PartCall
		switch p.Kind {
		case ctxabi.PartText:
			parts = append(parts, adapter.Raw(append(adapter.Object{{"text", adapter.Raw(p.Text)}}, signature...)))
		case ctxabi.PartCall:
			args, ok := adapter.JsonObject(p.Call.Arguments)
			if !ok {
				lost.Add(s.Where, adapter.ArgumentsInObject)
			}
			call := adapter.Object{{"functionCall", adapter.Raw(adapter.Object{{"name", adapter.Raw(p.Call.Name)}, {"args", args}})}}
			parts = append(parts, adapter.Raw(append(call, signature...)))
		case ctxabi.PartThinking:
			lost.Add(s.Where, "the format has no place for thinking of other providers")
		case ctxabi.PartData:
			if s.Role != ctxabi.User { // who alone sends data
				parts = append(parts, withoutData(s.Where, p, lost))
				continue
			}
			parts = append(parts, dataPart(s.Where, p, lost))
		}
	}
	return parts
}

func dataPart(where string, p ctxabi.Part, lost *adapter.Tally) json.RawMessage {
	d, ok := adapter.ReadDatum(p.Raw)
	switch {
	case ok && d.Url == "":
		return adapter.Raw(adapter.Object{{"inlineData", adapter.Raw(adapter.Object{{"mimeType", adapter.Raw(d.Mime)}, {"data", adapter.Raw(d.Base64)}})}})
	case ok && strings.HasPrefix(d.Url, "http"):
		kind := d.Mime
		if kind == "" {
			kind = "image/png"
		}
		return adapter.Raw(adapter.Object{{"fileData", adapter.Raw(adapter.Object{{"mimeType", adapter.Raw(kind)}, {"fileUri", adapter.Raw(d.Url)}})}})
	}
	return withoutData(where, p, lost)
}

func withoutData(where string, p ctxabi.Part, lost *adapter.Tally) json.RawMessage {
	lost.Add(where, "the format has no place for data of this kind; its type replaces it")
	return adapter.Raw(adapter.Object{{"text", adapter.Raw(adapter.Marker(p.Raw))}})
}
