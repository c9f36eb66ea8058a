package adapter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// exportOpenHands writes events of the software-agent-sdk: those that were
// imported as they were, and others made of the records. It writes lines, and
// an array where the conversation came as one.
func exportOpenHands(src *Source, w io.Writer) error {
	x := openHandsWriter{src: src, lost: &tally{}}
	records := ofChain(src.Records, "", x.lost)
	asArray := x.imported(records)
	x.said(records)
	x.lost.report(src.Loss)
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
	src    *Source
	lost   *tally
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
func (x *openHandsWriter) imported(records []Record) (asArray bool) {
	set := newSourceSet(records, openHandsName)
	done := map[string]bool{}
	var at openHandsEvent
	for n, r := range records {
		stamp, ok := r.Stamp()
		if ok && len(stamp.At) > 0 {
			at = openHandsEvent{file: stamp.File, at: stamp.At[len(stamp.At)-1]}
		}
		x.place = append(x.place, at)
		if !ok || stamp.Format != openHandsName {
			continue
		}
		if line, ok := r.KeptLine(); ok {
			at.line = line
			x.events = append(x.events, at)
			continue
		}
		switch r.eventType() {
		case openHandsName + openHandsArray:
			asArray = true
			continue
		case openHandsName + keptLarge:
			x.lost.add(recordName(n), "an event that was too large for a session is not there")
			continue
		}
		for i, id := range stamp.IDs {
			if strings.Contains(id, "#") || done[id] || i >= len(stamp.At) {
				continue
			}
			done[id] = true
			raw, ok := set.source("", id)
			if !ok || !json.Valid(raw) {
				x.lost.add(recordName(n), "an event that was imported cannot be put together again: its records have changed")
				continue
			}
			x.events = append(x.events, openHandsEvent{stamp.File, stamp.At[i], compactJSON(raw)})
		}
	}
	return asArray
}

// said makes events of what others than an import of the format wrote.
func (x *openHandsWriter) said(records []Record) {
	actions := map[string]string{} // the last event of each call
	for _, t := range readTurns(records, openHandsName, x.lost) {
		at := x.place[t.record]
		x.where = recordName(t.record)
		if t.ts != "" {
			x.ts = t.ts
		}
		if t.own {
			continue
		}
		for _, e := range x.turn(t, actions) {
			at.line = Raw(e)
			x.events = append(x.events, at)
		}
	}
}

// event is the beginning of an event, with an id that is its own and the same at every export.
func (x *openHandsWriter) event(source string) (o Object, id string) {
	x.made++
	h := SourceID([]byte(x.src.Name+"\x00"+x.ts), x.made) + SourceID([]byte(x.ts), -x.made) + SourceID([]byte(x.src.Name), x.made)
	id = fmt.Sprintf("%s-%s-4%s-8%s-%s", h[:8], h[8:12], h[12:15], h[15:18], h[18:30])
	o = Object{{"id", Raw(id)}}
	if x.ts != "" {
		o = append(o, Field{"timestamp", Raw(x.ts)})
	}
	return append(o, Field{"source", Raw(source)}), id
}

func openHandsText(text string) json.RawMessage {
	return Raw(Object{{"cache_prompt", Raw(false)}, {"type", Raw("text")}, {"text", Raw(text)}})
}

func (x *openHandsWriter) content(parts []turnPart, images bool) []json.RawMessage {
	list := []json.RawMessage{}
	for _, p := range parts {
		switch {
		case p.image == "":
			list = append(list, openHandsText(p.text))
		case images:
			list = append(list, Raw(Object{{"cache_prompt", Raw(false)}, {"type", Raw("image")}, {"image_urls", Raw([]string{p.image})}}))
		default:
			x.lost.add(x.where, "images in the thought of an action have no place in the format")
		}
	}
	return list
}

func (x *openHandsWriter) turn(t turn, actions map[string]string) (events []Object) {
	if t.compaction {
		o, id := x.event("environment")
		if s := partsText(t.texts); s != "" {
			o = append(o, Field{"summary", Raw(s)})
		}
		return []Object{append(o, Field{"forgotten_event_ids", Raw([]string{})}, Field{"llm_response_id", Raw(id)}, Field{"kind", Raw("Condensation")})}
	}
	for _, r := range t.results {
		events = append(events, x.result(r, actions))
	}
	switch {
	case len(t.calls) > 0:
		return append(events, x.actions(t, actions)...)
	case len(t.texts) == 0 && len(t.thinking) == 0 && len(t.results) > 0:
		return events
	case t.role == ctxabi.System && !hasImage(t.texts):
		o, _ := x.event("agent")
		return append(events, append(o, Field{"system_prompt", openHandsText(partsText(t.texts))},
			Field{"tools", Raw([]string{})}, Field{"kind", Raw("SystemPromptEvent")}))
	}
	source, role := "user", "user"
	switch t.role {
	case ctxabi.Assistant:
		source, role = "agent", "assistant"
	case ctxabi.System, ctxabi.Developer:
		source, role = "environment", "system"
	}
	message := Object{{"role", Raw(role)}, {"content", Raw(x.content(t.texts, true))}}
	message = append(message, x.thinking(t)...)
	o, _ := x.event(source)
	return append(events, append(o, Field{"llm_message", Raw(message)}, Field{"kind", Raw("MessageEvent")}))
}

// thinking is what a model thought: in blocks where they are signed, and as a text.
func (x *openHandsWriter) thinking(t turn) (fields Object) {
	var texts []string
	var blocks []json.RawMessage
	for _, raw := range t.thinking {
		o, _ := ParseObject(raw)
		th := thoughtOf(raw)
		switch o.Text("type") {
		case "thinking", "redacted_thinking":
			blocks = append(blocks, raw)
		default:
			if th.signature {
				x.lost.add(x.where, "encrypted reasoning of another provider has no place in the format")
			}
		}
		if th.text != "" {
			texts = append(texts, th.text)
		}
	}
	if len(texts) > 0 {
		fields = append(fields, Field{"reasoning_content", Raw(strings.Join(texts, "\n\n"))})
	}
	if len(blocks) > 0 && slices.ContainsFunc(blocks, func(b json.RawMessage) bool { return thoughtOf(b).signature }) {
		fields = append(fields, Field{"thinking_blocks", Raw(blocks)})
	}
	return fields
}

// actions are the calls of one answer: each is an event, and the first one has what was said.
func (x *openHandsWriter) actions(t turn, actions map[string]string) (events []Object) {
	response := ""
	for i, c := range t.calls {
		o, id := x.event("agent")
		if response == "" {
			response = "response-" + id
		}
		actions[c.ID] = id
		thought := []json.RawMessage{}
		if i == 0 {
			thought = x.content(t.texts, false)
		}
		o = append(o, Field{"thought", Raw(thought)})
		if i == 0 {
			o = append(o, x.thinking(t)...)
		}
		call := Object{{"id", Raw(c.ID)}, {"name", Raw(c.Name)}, {"arguments", Raw(c.Arguments)}, {"origin", Raw("completion")}}
		events = append(events, append(o, Field{"action", Raw(nil)}, Field{"tool_name", Raw(c.Name)}, Field{"tool_call_id", Raw(c.ID)},
			Field{"tool_call", Raw(call)}, Field{"llm_response_id", Raw(response)}, Field{"kind", Raw("ActionEvent")}))
	}
	return events
}

func (x *openHandsWriter) result(r turnResult, actions map[string]string) Object {
	if r.callID == "" {
		x.lost.add(x.where, "a result of a call that nobody made is written as a message")
		o, _ := x.event("environment")
		message := Object{{"role", Raw("user")}, {"content", Raw(x.content(r.parts, true))}}
		return append(o, Field{"llm_message", Raw(message)}, Field{"kind", Raw("MessageEvent")})
	}
	if r.isError && !hasImage(r.parts) {
		o, _ := x.event("agent")
		return append(o, Field{"tool_name", Raw(r.name)}, Field{"tool_call_id", Raw(r.callID)},
			Field{"error", Raw(partsText(r.parts))}, Field{"kind", Raw("AgentErrorEvent")})
	}
	o, id := x.event("environment")
	if action := actions[r.callID]; action != "" {
		id = action
	}
	seen := Object{{"content", Raw(x.content(r.parts, true))}, {"is_error", Raw(r.isError)}, {"tool_name", Raw(r.name)}, {"kind", Raw("MCPToolObservation")}}
	return append(o, Field{"observation", Raw(seen)}, Field{"tool_name", Raw(r.name)}, Field{"tool_call_id", Raw(r.callID)},
		Field{"action_id", Raw(id)}, Field{"kind", Raw("ObservationEvent")})
}
