package openhands

import (
	"cmp"
	"encoding/json"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// openHandsAction is one action of an answer: each of its calls is an event.
type openHandsAction struct {
	src   adapter.SourceRecord
	o     adapter.Object
	parts []json.RawMessage // what the answer says beside the call
	plain json.RawMessage   // what it says, when it is a string or null
	call  json.RawMessage
	usage string // v0: where the event says what the answer took; "" for nowhere new
}

// v1 takes an event of the software-agent-sdk, which has a kind.
func (h *openHandsReader) v1(src adapter.SourceRecord, o adapter.Object) error {
	kind := o.Text("kind")
	if kind == "ActionEvent" && o.Has("tool_call_id") {
		if call := openHandsCall(o); call != nil {
			return h.action(openHandsAction{src: src, o: o, parts: adapter.OpenHandsSaid(o, o.Get("thought")), call: call}, o.Text("llm_response_id"))
		}
	}
	switch kind {
	case "PauseEvent", "TokenEvent", "LLMCompletionLogEvent", "ConversationStateUpdateEvent", "ActionEvent":
		return h.other(src, o, kind) // these may stand between the actions of one answer
	case "":
		return h.other(src, o, "event")
	}
	if err := h.flush(); err != nil {
		return err
	}
	var record adapter.Object
	switch kind {
	case "SystemPromptEvent":
		parts := []json.RawMessage{}
		for _, key := range []string{"system_prompt", "dynamic_context"} {
			if p := o.Get(key); adapter.IsDict(p) || adapter.IsString(p) {
				parts = append(parts, p)
			}
		}
		record = adapter.OpenHandsRecord("system", adapter.PartsContent(parts), o)
	case "MessageEvent":
		record = openHandsMessage(o)
	case "ObservationEvent":
		if !adapter.IsString(o.Get("tool_call_id")) {
			break
		}
		seen := o.Object("observation")
		parts := adapter.OpenHandsParts(seen.Get("content"))
		if len(parts) == 0 && adapter.IsString(seen.Get("output")) {
			parts = []json.RawMessage{adapter.TextPart(seen.Get("output"))}
		}
		if len(parts) == 0 && o.Has("observation") {
			parts = []json.RawMessage{o.Get("observation")}
		}
		parts = append(parts, adapter.OpenHandsParts(o.Get("extended_content"))...)
		failed := string(seen.Get("is_error")) == "true"
		record = adapter.ToolResult(o, o.Get("tool_call_id"), o.Get("tool_name"), adapter.PartsContent(parts), failed)
	case "AgentErrorEvent", "UserRejectObservation":
		text := o.Get("error")
		if kind == "UserRejectObservation" {
			text = o.Get("rejection_reason")
		}
		if adapter.IsString(o.Get("tool_call_id")) && adapter.IsString(text) {
			record = adapter.ToolResult(o, o.Get("tool_call_id"), o.Get("tool_name"), text, true)
		}
	case "Condensation", "CondensationSummaryEvent":
		return h.compaction(src, o, o)
	}
	if record == nil {
		return h.other(src, o, kind)
	}
	if h.Has("", src.ID) {
		return nil
	}
	return h.Message("", record, src)
}

// openHandsMessage is the record of a MessageEvent, nil when it holds no message.
func openHandsMessage(o adapter.Object) adapter.Object {
	m := o.Object("llm_message")
	role := m.Text("role")
	switch role {
	case "system", "developer", "user", "assistant", "tool":
	default:
		return nil
	}
	parts := adapter.OpenHandsSaid(m, m.Get("content"))
	parts = append(parts, adapter.OpenHandsParts(o.Get("extended_content"))...)
	content := adapter.PartsContent(parts)
	if adapter.IsString(m.Get("content")) && len(parts) == 1 {
		content = m.Get("content")
	}
	var more []adapter.Field
	for _, key := range []string{"tool_calls", "tool_call_id", "name"} {
		if v := m.Get(key); adapter.IsArray(v) && key == "tool_calls" || adapter.IsString(v) && key != "tool_calls" {
			more = append(more, adapter.Field{key, v})
		}
	}
	return adapter.OpenHandsRecord(role, content, o, more...)
}

// openHandsCall is the call of an action: as the model wrote it, or else as it was understood.
func openHandsCall(o adapter.Object) json.RawMessage {
	call := o.Object("tool_call")
	if adapter.IsString(call.Get("id")) && (adapter.IsString(call.Get("name")) || adapter.IsDict(call.Get("function"))) {
		return o.Get("tool_call")
	}
	if !adapter.IsString(o.Get("tool_name")) || !adapter.IsString(o.Get("tool_call_id")) {
		return nil
	}
	made := adapter.Object{{"id", o.Get("tool_call_id")}, {"name", o.Get("tool_name")}}
	if args := o.Get("action"); args != nil {
		made = append(made, adapter.Field{"arguments", args})
	}
	return adapter.Raw(made)
}

// action adds an action to those of the answer it belongs to.
func (h *openHandsReader) action(a openHandsAction, response string) error {
	if len(h.group) > 0 && (response == "" || response != h.response) {
		if err := h.flush(); err != nil {
			return err
		}
	}
	h.group, h.response = append(h.group, a), response
	return nil
}

// flush emits the message of the actions that were collected, as far as the session does not have them.
func (h *openHandsReader) flush() error {
	group := h.group
	h.group, h.response = nil, ""
	var sources []adapter.SourceRecord
	var parts, calls []json.RawMessage
	var first *openHandsAction
	for i := range group {
		a := &group[i]
		if h.Has("", a.src.ID) {
			continue
		}
		if first == nil {
			first = a
		}
		sources, parts, calls = append(sources, a.src), append(parts, a.parts...), append(calls, a.call)
	}
	if first != nil {
		content := json.RawMessage("null")
		switch {
		case len(parts) > 0:
			content = adapter.Raw(parts)
		case adapter.IsString(first.plain):
			content = first.plain
		}
		for i, a := range group {
			for j := range sources {
				if sources[j].ID == a.src.ID && a.usage != "" {
					t := &adapter.Tree{Raw: group[i].src.Raw}
					t.Cut(a.usage)
					sources[j].Raw = t.Bytes()
				}
			}
		}
		record := adapter.OpenHandsRecord("assistant", content, first.o, adapter.Field{"tool_calls", adapter.Raw(calls)})
		if err := h.Message("", record, sources...); err != nil {
			return err
		}
	}
	for _, a := range group {
		if err := h.usage(a); err != nil {
			return err
		}
	}
	return nil
}

// sourceName is the id of a source record: a string that is not empty, or a number.
func sourceName(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if len(raw) > 0 && len(raw) < 20 && raw[0] >= '0' && raw[0] <= '9' {
		return string(raw)
	}
	return ""
}

// other keeps an event that is no message.
func (h *openHandsReader) other(src adapter.SourceRecord, o adapter.Object, kind string) error {
	if h.Has("", src.ID) {
		return nil
	}
	record := adapter.OpenHandsRecord("", nil, o)[2:]
	return h.Event("", append(adapter.Object{{"type", adapter.Raw(h.Format + "/" + kind)}}, record...), src)
}

// compaction imports the condensation o. Its summary and the ids of the replaced events are fields
// of details. The summary becomes a version of the session's summary; without a usable text,
// compaction emits an event of type "compaction". It skips a record that is already imported.
func (h *openHandsReader) compaction(src adapter.SourceRecord, o, details adapter.Object) error {
	if h.Has("", src.ID) {
		return nil
	}

	summary := details.Get("summary")
	if event, ok := adapter.SummaryEvent(details.Text("summary")); ok {
		var c adapter.Compacted
		for _, id := range append(details.Array("forgotten_event_ids"), details.Get("forgotten_events_end_id")) {
			if name := sourceName(id); name != "" {
				c.Replaced = append(c.Replaced, cmp.Or(h.names[name], name))
			}
		}
		return h.Summary("", append(event, adapter.OpenHandsRecord("", nil, o)[2:]...), c, src)
	}

	record := adapter.Object{{"type", adapter.Raw("compaction")}}
	if adapter.IsString(summary) {
		record = append(record, adapter.Field{"summary", summary})
	}
	return h.Event("", append(record, adapter.OpenHandsRecord("", nil, o)[2:]...), src)
}

// usage notes what the answer took, which stands in its first action.
func (h *openHandsReader) usage(a openHandsAction) error {
	if a.usage == "" {
		return nil
	}
	raw := (&adapter.Tree{Raw: a.src.Raw}).At(a.usage)
	piece := a.src.Piece(a.usage, raw)
	if raw == nil || h.Has("", piece.ID) {
		return nil
	}
	record := adapter.Object{{"type", adapter.Raw("usage")}, {"usage", raw}}
	if ts := a.o.Get("timestamp"); ts != nil {
		record = append(record, adapter.Field{"ts", ts})
	}
	return h.Event("", record, piece)
}
