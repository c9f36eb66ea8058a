package uimessages

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// foreign converts records of other formats to UIMessages. Each call is stored together with its
// result.
func foreign(records []adapter.Record, lost *adapter.Tally) (all []json.RawMessage, fields adapter.Object) {
	said := adapter.Dialogue(records, lost)
	adapter.Authors(said, lost)
	adapter.AcceptedBy(picture.Any, said, lost)
	if len(adapter.Definitions(records, lost)) > 0 {
		lost.Add("events.jsonl", "the format has no place for definitions of tools")
	}
	for _, s := range said {
		role := s.Role.String()
		if s.Role == ctxabi.Developer {
			role = "system"
		}
		var parts []json.RawMessage
		answers := s.Answers
		for _, p := range s.Parts {
			switch p.Kind {
			case ctxabi.PartCall:
				parts = append(parts, toolPart(s.Where, p.Call, answers[0], lost))
				answers = answers[1:]
			case ctxabi.PartThinking:
				if part := reasoningPart(p.Raw); part != nil {
					parts = append(parts, part)
				} else {
					lost.Add(s.Where, "the format has no place for thinking without its text")
				}
			case ctxabi.PartText:
				parts = append(parts, adapter.TextPart(adapter.Raw(p.Text)))
			case ctxabi.PartData:
				parts = append(parts, filePart(s.Where, p.Raw, lost))
			}
		}
		if len(parts) == 0 {
			continue
		}
		m := adapter.Object{{"id", adapter.Raw(fmt.Sprintf("msg-%d", len(all)+1))}, {"role", adapter.Raw(role)},
			{"parts", adapter.Raw(parts)}}
		all = append(all, adapter.Raw(m))
		if images := imagesOf(s); len(images) > 0 { // a result of a call is a text or a value
			m = adapter.Object{{"id", adapter.Raw(fmt.Sprintf("msg-%d", len(all)+1))}, {"role", adapter.Raw("user")}}
			parts = []json.RawMessage{adapter.TextPart(adapter.Raw("[Images of the results above]"))}
			for _, p := range images {
				parts = append(parts, filePart(s.Where, p.Raw, lost))
			}
			all = append(all, adapter.Raw(append(m, adapter.Field{"parts", adapter.Raw(parts)})))
		}
	}
	return all, nil
}

func toolPart(where string, c ctxabi.Call, a adapter.Answer, lost *adapter.Tally) json.RawMessage {
	input, ok := adapter.JsonObject(c.Arguments)
	if !ok {
		lost.Add(where, adapter.ArgumentsInObject)
	}
	part := adapter.Object{{"type", adapter.Raw("tool-" + c.Name)}, {"toolCallId", adapter.Raw(c.ID)}}
	text := adapter.Raw(adapter.TextOf(a.Inner))
	if a.IsError {
		part = append(part, adapter.Field{"state", adapter.Raw("output-error")}, adapter.Field{"input", input},
			adapter.Field{"errorText", text})
	} else {
		part = append(part, adapter.Field{"state", adapter.Raw("output-available")}, adapter.Field{"input", input},
			adapter.Field{"output", text})
	}
	return adapter.Raw(part)
}

// reasoningPart converts thinking to a part. It returns nil if the thinking has no text.
func reasoningPart(raw []byte) json.RawMessage {
	o, _ := adapter.ParseObject(raw)
	text := o.Get("thinking")
	if text == nil {
		var summary []string
		for _, raw := range o.Array("summary") {
			said, _ := adapter.ParseObject(raw)
			summary = append(summary, said.Text("text"))
		}
		text = adapter.Raw(strings.Join(summary, "\n\n"))
	}
	if !adapter.IsString(text) || string(text) == `""` {
		return nil
	}
	part := adapter.Object{{"type", adapter.Raw("reasoning")}, {"text", text}}
	if signature := o.Get("signature"); adapter.IsString(signature) {
		of := adapter.Object{{"anthropic", adapter.Raw(adapter.Object{{"signature", signature}})}}
		part = append(part, adapter.Field{"providerMetadata", adapter.Raw(of)})
	}
	return adapter.Raw(part)
}

func filePart(where string, raw []byte, lost *adapter.Tally) json.RawMessage {
	d, ok := adapter.ReadDatum(raw)
	if !ok {
		lost.Add(where, "the format has no place for data of this kind; its type replaces it")
		return adapter.TextPart(adapter.Raw(adapter.Marker(raw)))
	}
	kind := d.Mime
	if kind == "" {
		kind = "image/*"
	}
	part := adapter.Object{{"type", adapter.Raw("file")}, {"mediaType", adapter.Raw(kind)},
		{"url", adapter.Raw(d.DataURL())}}
	if d.Name != "" {
		part = append(part, adapter.Field{"filename", adapter.Raw(d.Name)})
	}
	return adapter.Raw(part)
}

// imagesOf returns the image and file data in the results of a message's calls.
func imagesOf(s adapter.Speech) (images []ctxabi.Part) {
	for _, a := range s.Answers {
		for _, p := range a.Inner {
			if p.Kind == ctxabi.PartData {
				images = append(images, p)
			}
		}
	}
	return images
}
