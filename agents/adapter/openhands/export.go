package openhands

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/picture"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// exportOpenHands writes events of the software-agent-sdk: those that were
// imported as they were, and others made of the records. It writes lines, and
// an array where the conversation came as one.
func exportOpenHands(src *adapter.Source, w io.Writer) error {
	x := openHandsWriter{src: src, lost: &adapter.Tally{}}
	records := adapter.OfChain(src.Records, "", x.lost)
	asArray := x.imported(records)
	x.said(records)
	x.lost.Report(src.Loss)
	slices.SortStableFunc(x.events, func(a, b openHandsEvent) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.at, b.at))
	})
	var b bytes.Buffer
	for i, e := range x.events {
		switch {
		case !asArray:
		case i == 0:
			b.WriteString("[\n")
		default:
			b.WriteString(",\n")
		}
		b.Write(e.line)
		if !asArray {
			b.WriteByte('\n')
		}
	}
	if asArray {
		if len(x.events) == 0 {
			b.WriteByte('[')
		}
		b.WriteString("\n]\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

type openHandsWriter struct {
	src    *adapter.Source
	lost   *adapter.Tally
	where  string // of the record being written
	events []openHandsEvent
	place  []openHandsEvent // of each record
	made   int
	ts     string
}

type openHandsEvent struct {
	file, at int
	line     []byte
}

// imported collects the events that the records hold as they came.
func (x *openHandsWriter) imported(records []adapter.Record) (asArray bool) {
	set := adapter.NewSourceSet(records, adapter.OpenHandsName)
	done := map[string]bool{}
	var at openHandsEvent
	for n, r := range records {
		stamp, ok := r.Stamp()
		if ok && len(stamp.At) > 0 {
			at = openHandsEvent{file: stamp.File, at: stamp.At[len(stamp.At)-1]}
		}
		x.place = append(x.place, at)
		if !ok || stamp.Format != adapter.OpenHandsName {
			continue
		}
		if line, ok := r.KeptLine(); ok {
			at.line = line
			x.events = append(x.events, at)
			continue
		}
		switch r.EventType() {
		case adapter.OpenHandsName + adapter.OpenHandsArray:
			asArray = true
			continue
		case adapter.OpenHandsName + adapter.KeptLarge:
			x.lost.Add(adapter.RecordName(n), "an event that was too large for a session is missing")
			continue
		}
		for i, id := range stamp.IDs {
			if strings.Contains(id, "#") || done[id] || i >= len(stamp.At) {
				continue
			}
			done[id] = true
			raw, ok := set.Source("", id)
			if !ok || !json.Valid(raw) {
				x.lost.Add(adapter.RecordName(n), "an event that was imported cannot be put together again: its records have changed")
				continue
			}
			x.events = append(x.events, openHandsEvent{stamp.File, stamp.At[i], adapter.CompactJSON(raw)})
		}
	}
	return asArray
}

// said makes events of what others than an import of the format wrote.
func (x *openHandsWriter) said(records []adapter.Record) {
	actions := map[string]string{} // the last event of each call
	for _, t := range adapter.ReadTurns(records, adapter.OpenHandsName, picture.Any, x.lost) {
		at := x.place[t.Record]
		x.where = adapter.RecordName(t.Record)
		if t.Ts != "" {
			x.ts = t.Ts
		}
		if t.Own {
			continue
		}
		for _, e := range x.turn(t, actions) {
			at.line = adapter.Raw(e)
			x.events = append(x.events, at)
		}
	}
}

// event is the beginning of an event, with an id that is its own and the same at every export.
func (x *openHandsWriter) event(source string) (o adapter.Object, id string) {
	x.made++
	h := adapter.SourceID([]byte(x.src.Name+"\x00"+x.ts), x.made) + adapter.SourceID([]byte(x.ts), -x.made) + adapter.SourceID([]byte(x.src.Name), x.made)
	id = fmt.Sprintf("%s-%s-4%s-8%s-%s", h[:8], h[8:12], h[12:15], h[15:18], h[18:30])
	o = adapter.Object{{"id", adapter.Raw(id)}}
	if x.ts != "" {
		o = append(o, adapter.Field{"timestamp", adapter.Raw(x.ts)})
	}
	return append(o, adapter.Field{"source", adapter.Raw(source)}), id
}

func openHandsText(text string) json.RawMessage {
	return adapter.Raw(adapter.Object{{"cache_prompt", adapter.Raw(false)}, {"type", adapter.Raw("text")}, {"text", adapter.Raw(text)}})
}

func (x *openHandsWriter) content(parts []adapter.TurnPart, images bool) []json.RawMessage {
	list := []json.RawMessage{}
	for _, p := range parts {
		switch {
		case p.Image == "":
			list = append(list, openHandsText(p.Text))
		case images:
			list = append(list, adapter.Raw(adapter.Object{{"cache_prompt", adapter.Raw(false)}, {"type", adapter.Raw("image")}, {"image_urls", adapter.Raw([]string{p.Image})}}))
		default:
			x.lost.Add(x.where, "images in the thought of an action have no place in the format")
		}
	}
	return list
}

func (x *openHandsWriter) turn(t adapter.Turn, actions map[string]string) (events []adapter.Object) {
	if t.Compaction {
		o, id := x.event("environment")
		if s := adapter.PartsText(t.Texts); s != "" {
			o = append(o, adapter.Field{"summary", adapter.Raw(s)})
		}
		return []adapter.Object{append(o, adapter.Field{"forgotten_event_ids", adapter.Raw([]string{})}, adapter.Field{"llm_response_id", adapter.Raw(id)}, adapter.Field{"kind", adapter.Raw("Condensation")})}
	}
	for _, r := range t.Results {
		events = append(events, x.result(r, actions))
	}
	switch {
	case len(t.Calls) > 0:
		return append(events, x.actions(t, actions)...)
	case len(t.Texts) == 0 && len(t.Thinking) == 0 && len(t.Results) > 0:
		return events
	case t.Role == ctxabi.System && !adapter.HasImage(t.Texts):
		o, _ := x.event("agent")
		return append(events, append(o, adapter.Field{"system_prompt", openHandsText(adapter.PartsText(t.Texts))},
			adapter.Field{"tools", adapter.Raw([]string{})}, adapter.Field{"kind", adapter.Raw("SystemPromptEvent")}))
	}
	source, role := "user", "user"
	switch t.Role {
	case ctxabi.Assistant:
		source, role = "agent", "assistant"
	case ctxabi.System, ctxabi.Developer:
		source, role = "environment", "system"
	}
	message := adapter.Object{{"role", adapter.Raw(role)}, {"content", adapter.Raw(x.content(t.Texts, true))}}
	message = append(message, x.thinking(t)...)
	o, _ := x.event(source)
	return append(events, append(o, adapter.Field{"llm_message", adapter.Raw(message)}, adapter.Field{"kind", adapter.Raw("MessageEvent")}))
}

// thinking is what a model thought: in blocks where they are signed, and as a text.
func (x *openHandsWriter) thinking(t adapter.Turn) (fields adapter.Object) {
	var texts []string
	var blocks []json.RawMessage
	for _, raw := range t.Thinking {
		o, _ := adapter.ParseObject(raw)
		th := adapter.ThoughtOf(raw)
		switch o.Text("type") {
		case "thinking", "redacted_thinking":
			blocks = append(blocks, raw)
		default:
			if th.Signature {
				x.lost.Add(x.where, "encrypted reasoning of another provider has no place in the format")
			}
		}
		if th.Text != "" {
			texts = append(texts, th.Text)
		}
	}
	if len(texts) > 0 {
		fields = append(fields, adapter.Field{"reasoning_content", adapter.Raw(strings.Join(texts, "\n\n"))})
	}
	if len(blocks) > 0 && slices.ContainsFunc(blocks, func(b json.RawMessage) bool { return adapter.ThoughtOf(b).Signature }) {
		fields = append(fields, adapter.Field{"thinking_blocks", adapter.Raw(blocks)})
	}
	return fields
}

// actions are the calls of one answer: each is an event, and the first one has what was said.
func (x *openHandsWriter) actions(t adapter.Turn, actions map[string]string) (events []adapter.Object) {
	response := ""
	for i, c := range t.Calls {
		o, id := x.event("agent")
		if response == "" {
			response = "response-" + id
		}
		actions[c.ID] = id
		thought := []json.RawMessage{}
		if i == 0 {
			thought = x.content(t.Texts, false)
		}
		o = append(o, adapter.Field{"thought", adapter.Raw(thought)})
		if i == 0 {
			o = append(o, x.thinking(t)...)
		}
		call := adapter.Object{{"id", adapter.Raw(c.ID)}, {"name", adapter.Raw(c.Name)}, {"arguments", adapter.Raw(c.Arguments)}, {"origin", adapter.Raw("completion")}}
		events = append(events, append(o, adapter.Field{"action", adapter.Raw(nil)}, adapter.Field{"tool_name", adapter.Raw(c.Name)}, adapter.Field{"tool_call_id", adapter.Raw(c.ID)},
			adapter.Field{"tool_call", adapter.Raw(call)}, adapter.Field{"llm_response_id", adapter.Raw(response)}, adapter.Field{"kind", adapter.Raw("ActionEvent")}))
	}
	return events
}

func (x *openHandsWriter) result(r adapter.TurnResult, actions map[string]string) adapter.Object {
	if r.CallID == "" {
		x.lost.Add(x.where, "a result of a call that nobody made is written as a message")
		o, _ := x.event("environment")
		message := adapter.Object{{"role", adapter.Raw("user")}, {"content", adapter.Raw(x.content(r.Parts, true))}}
		return append(o, adapter.Field{"llm_message", adapter.Raw(message)}, adapter.Field{"kind", adapter.Raw("MessageEvent")})
	}
	if r.IsError && !adapter.HasImage(r.Parts) {
		o, _ := x.event("agent")
		return append(o, adapter.Field{"tool_name", adapter.Raw(r.Name)}, adapter.Field{"tool_call_id", adapter.Raw(r.CallID)},
			adapter.Field{"error", adapter.Raw(adapter.PartsText(r.Parts))}, adapter.Field{"kind", adapter.Raw("AgentErrorEvent")})
	}
	o, id := x.event("environment")
	if action := actions[r.CallID]; action != "" {
		id = action
	}
	seen := adapter.Object{{"content", adapter.Raw(x.content(r.Parts, true))}, {"is_error", adapter.Raw(r.IsError)}, {"tool_name", adapter.Raw(r.Name)}, {"kind", adapter.Raw("MCPToolObservation")}}
	return append(o, adapter.Field{"observation", adapter.Raw(seen)}, adapter.Field{"tool_name", adapter.Raw(r.Name)}, adapter.Field{"tool_call_id", adapter.Raw(r.CallID)},
		adapter.Field{"action_id", adapter.Raw(id)}, adapter.Field{"kind", adapter.Raw("ObservationEvent")})
}
