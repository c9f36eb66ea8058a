package adapter

import (
	"encoding/json"
	"slices"
)

// v0 takes an event of OpenHands before the software-agent-sdk: an action or an observation by its name.
func (h *openHandsReader) v0(src sourceRecord, o Object) error {
	if o.Has("action") {
		return h.v0Action(src, o, o.Text("action"))
	}
	if err := h.flush(); err != nil {
		return err
	}
	return h.v0Observation(src, o, o.Text("observation"))
}

// v0Notes are actions that neither say nor call something.
var v0Notes = []string{"", "null", "recall", "change_agent_state", "condensation_request", "loop_recovery", "task_tracking_state"}

func (h *openHandsReader) v0Action(src sourceRecord, o Object, name string) error {
	if slices.Contains(v0Notes, name) {
		return h.other(src, o, v0Kind(name))
	}
	args, from := o.Object("args"), o.Text("source")
	meta := o.Object("tool_call_metadata")
	if meta != nil && isString(meta.Get("tool_call_id")) {
		return h.v0Called(src, o, meta)
	}
	if err := h.flush(); err != nil {
		return err
	}
	var record Object
	switch content := args.Get("content"); {
	case name == "system" && isString(content):
		record = openHandsRecord("system", content, o)
	case name == "condensation":
		return h.compaction(src, o, args.Get("summary"))
	case name == "message" && isString(content):
		role := "assistant"
		if from == "user" {
			role = "user"
		}
		if urls := args.Array("image_urls"); len(urls) > 0 {
			parts := openHandsParts(content)
			for _, url := range urls {
				parts = append(parts, imageURLPart(url))
			}
			content = partsContent(parts)
		}
		record = openHandsRecord(role, content, o)
	case name == "finish" || name == "reject":
		text := args.Get("final_thought")
		if !isString(text) {
			text = o.Get("message")
		}
		if isString(text) {
			record = openHandsRecord("assistant", text, o)
		}
	case from == "agent" && args != nil && o.Has("id"): // called without a tool of the model's
		made := Raw(Object{{"id", Raw("v0-" + sourceName(o.Get("id")))}, {"name", o.Get("action")}, {"arguments", o.Get("args")}})
		thought := args.Get("thought")
		if !isString(thought) {
			thought = json.RawMessage("null")
		}
		h.calls[sourceName(o.Get("id"))] = src
		record = openHandsRecord("assistant", thought, o, Field{"tool_calls", Raw([]json.RawMessage{made})})
	}
	if record == nil {
		return h.other(src, o, v0Kind(name))
	}
	if h.has("", src.id) {
		return nil
	}
	return h.message("", record, src)
}

func v0Kind(name string) string {
	if name == "" {
		return "event"
	}
	return name
}

// v0Called takes an action that is a call of the model's, whose whole answer
// stands with it, and with each of the others of the answer, and with their results.
func (h *openHandsReader) v0Called(src sourceRecord, o, meta Object) error {
	answer := meta.Object("model_response")
	id := meta.Get("tool_call_id")
	a := openHandsAction{src: src, o: o}
	var said Object
	for _, c := range answer.Array("choices") {
		choice, _ := ParseObject(c)
		said = choice.Object("message")
		for _, call := range said.Array("tool_calls") {
			if c, err := ParseObject(call); err == nil && c.Text("id") == meta.Text("tool_call_id") && isDict(c.Get("function")) {
				a.call = call
			}
		}
		if a.call != nil {
			break
		}
	}
	if a.call == nil {
		a.call = Raw(Object{{"id", id}, {"name", meta.Get("function_name")}, {"arguments", o.Get("args")}})
		if !isString(meta.Get("function_name")) || !o.Has("args") {
			a.call = Raw(Object{{"id", id}, {"name", o.Get("action")}})
		}
	}
	response := answer.Text("id")
	h.calls[meta.Text("tool_call_id")] = src
	if response == "" || h.response != response || len(h.group) == 0 {
		a.plain = said.Get("content")
		if !isString(a.plain) {
			a.plain = o.Object("args").Get("thought")
		}
		if r := openHandsSaid(said, nil); len(r) > 0 {
			a.parts = append(r, openHandsParts(a.plain)...)
		}
	}
	if isDict(answer.Get("usage")) && (response == "" || !h.responses[response]) {
		h.responses[response] = true
		a.usage = "tool_call_metadata.model_response.usage"
	}
	return h.action(a, response)
}

// usage notes what the answer took, which stands in its first action.
func (h *openHandsReader) usage(a openHandsAction) error {
	if a.usage == "" {
		return nil
	}
	raw := (&tree{raw: a.src.raw}).at(a.usage)
	piece := a.src.piece(a.usage, raw)
	if raw == nil || h.has("", piece.id) {
		return nil
	}
	record := Object{{"type", Raw("usage")}, {"usage", raw}}
	if ts := a.o.Get("timestamp"); ts != nil {
		record = append(record, Field{"ts", ts})
	}
	return h.event("", record, piece)
}

func (h *openHandsReader) v0Observation(src sourceRecord, o Object, name string) error {
	meta, content := o.Object("tool_call_metadata"), o.Get("content")
	call, key := meta.Get("tool_call_id"), meta.Text("tool_call_id")
	tool := meta.Get("function_name")
	if !isString(call) {
		key = sourceName(o.Get("cause"))
		if _, ok := h.calls[key]; ok && key != "" {
			call, tool = Raw("v0-"+key), o.Get("observation")
		}
	}
	if !isString(call) || !isString(content) {
		return h.other(src, o, v0Kind(name))
	}
	if h.has("", src.id) {
		return nil
	}
	if action, ok := h.calls[key]; ok {
		h.also = []sourceRecord{action}
	}
	parts := []json.RawMessage{textPart(content)}
	for _, url := range o.Object("extras").Array("image_urls") {
		if isString(url) && len(url) > len(`""`) {
			parts = append(parts, imageURLPart(url))
		}
	}
	if len(parts) > 1 {
		content = Raw(parts)
	}
	failed := name == "error" || name == "user_rejected" || string(o.Get("success")) == "false"
	return h.message("", toolResult(o, call, tool, content, failed), src)
}
