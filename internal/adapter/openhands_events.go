package adapter

import "encoding/json"

// openHandsAction is one action of an answer: each of its calls is an event.
type openHandsAction struct {
	src   sourceRecord
	o     Object
	parts []json.RawMessage // what the answer says beside the call
	plain json.RawMessage   // what it says, when it is a string or null
	call  json.RawMessage
	usage string // v0: where the event says what the answer took; "" for nowhere new
}

// v1 takes an event of the software-agent-sdk, which has a kind.
func (h *openHandsReader) v1(src sourceRecord, o Object) error {
	kind := o.Text("kind")
	if kind == "ActionEvent" && o.Has("tool_call_id") {
		if call := openHandsCall(o); call != nil {
			return h.action(openHandsAction{src: src, o: o, parts: openHandsSaid(o, o.Get("thought")), call: call}, o.Text("llm_response_id"))
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
	var record Object
	switch kind {
	case "SystemPromptEvent":
		parts := []json.RawMessage{}
		for _, key := range []string{"system_prompt", "dynamic_context"} {
			if p := o.Get(key); isDict(p) || isString(p) {
				parts = append(parts, p)
			}
		}
		record = openHandsRecord("system", partsContent(parts), o)
	case "MessageEvent":
		record = openHandsMessage(o)
	case "ObservationEvent":
		if !isString(o.Get("tool_call_id")) {
			break
		}
		seen := o.Object("observation")
		parts := openHandsParts(seen.Get("content"))
		if len(parts) == 0 && isString(seen.Get("output")) {
			parts = []json.RawMessage{textPart(seen.Get("output"))}
		}
		if len(parts) == 0 && o.Has("observation") {
			parts = []json.RawMessage{o.Get("observation")}
		}
		parts = append(parts, openHandsParts(o.Get("extended_content"))...)
		failed := string(seen.Get("is_error")) == "true"
		record = toolResult(o, o.Get("tool_call_id"), o.Get("tool_name"), partsContent(parts), failed)
	case "AgentErrorEvent", "UserRejectObservation":
		text := o.Get("error")
		if kind == "UserRejectObservation" {
			text = o.Get("rejection_reason")
		}
		if isString(o.Get("tool_call_id")) && isString(text) {
			record = toolResult(o, o.Get("tool_call_id"), o.Get("tool_name"), text, true)
		}
	case "Condensation", "CondensationSummaryEvent":
		return h.compaction(src, o, o.Get("summary"))
	}
	if record == nil {
		return h.other(src, o, kind)
	}
	if h.has("", src.id) {
		return nil
	}
	return h.message("", record, src)
}

// openHandsMessage is the record of a MessageEvent, nil when it holds no message.
func openHandsMessage(o Object) Object {
	m := o.Object("llm_message")
	role := m.Text("role")
	switch role {
	case "system", "developer", "user", "assistant", "tool":
	default:
		return nil
	}
	parts := openHandsSaid(m, m.Get("content"))
	parts = append(parts, openHandsParts(o.Get("extended_content"))...)
	content := partsContent(parts)
	if isString(m.Get("content")) && len(parts) == 1 {
		content = m.Get("content")
	}
	var more []Field
	for _, key := range []string{"tool_calls", "tool_call_id", "name"} {
		if v := m.Get(key); isArray(v) && key == "tool_calls" || isString(v) && key != "tool_calls" {
			more = append(more, Field{key, v})
		}
	}
	return openHandsRecord(role, content, o, more...)
}

// openHandsCall is the call of an action: as the model wrote it, or else as it was understood.
func openHandsCall(o Object) json.RawMessage {
	call := o.Object("tool_call")
	if isString(call.Get("id")) && (isString(call.Get("name")) || isDict(call.Get("function"))) {
		return o.Get("tool_call")
	}
	if !isString(o.Get("tool_name")) || !isString(o.Get("tool_call_id")) {
		return nil
	}
	made := Object{{"id", o.Get("tool_call_id")}, {"name", o.Get("tool_name")}}
	if args := o.Get("action"); args != nil {
		made = append(made, Field{"arguments", args})
	}
	return Raw(made)
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
	var sources []sourceRecord
	var parts, calls []json.RawMessage
	var first *openHandsAction
	for i := range group {
		a := &group[i]
		if h.has("", a.src.id) {
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
			content = Raw(parts)
		case isString(first.plain):
			content = first.plain
		}
		for i, a := range group {
			for j := range sources {
				if sources[j].id == a.src.id && a.usage != "" {
					t := &tree{raw: group[i].src.raw}
					t.cut(a.usage)
					sources[j].raw = t.bytes()
				}
			}
		}
		record := openHandsRecord("assistant", content, first.o, Field{"tool_calls", Raw(calls)})
		if err := h.message("", record, sources...); err != nil {
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
