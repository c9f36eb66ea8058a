package openhands

import (
	"encoding/json"
	"slices"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// v0 takes an event of OpenHands before the software-agent-sdk: an action or an observation by its name.
func (h *openHandsReader) v0(src adapter.SourceRecord, o adapter.Object) error {
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

func (h *openHandsReader) v0Action(src adapter.SourceRecord, o adapter.Object, name string) error {
	if slices.Contains(v0Notes, name) {
		return h.other(src, o, v0Kind(name))
	}
	args, from := o.Object("args"), o.Text("source")
	meta := o.Object("tool_call_metadata")
	if meta != nil && adapter.IsString(meta.Get("tool_call_id")) {
		return h.v0Called(src, o, meta)
	}
	if err := h.flush(); err != nil {
		return err
	}
	var record adapter.Object
	switch content := args.Get("content"); {
	case name == "system" && adapter.IsString(content):
		record = adapter.OpenHandsRecord("system", content, o)
	case name == "condensation":
		return h.compaction(src, o, args)
	case name == "message" && adapter.IsString(content):
		role := "assistant"
		if from == "user" {
			role = "user"
		}
		if urls := args.Array("image_urls"); len(urls) > 0 {
			parts := adapter.OpenHandsParts(content)
			for _, url := range urls {
				parts = append(parts, adapter.ImageURLPart(url))
			}
			content = adapter.PartsContent(parts)
		}
		record = adapter.OpenHandsRecord(role, content, o)
	case name == "finish" || name == "reject":
		text := args.Get("final_thought")
		if !adapter.IsString(text) {
			text = o.Get("message")
		}
		if adapter.IsString(text) {
			record = adapter.OpenHandsRecord("assistant", text, o)
		}
	case from == "agent" && args != nil && o.Has("id"): // called without a tool of the model's
		made := adapter.Raw(adapter.Object{{"id", adapter.Raw("v0-" + sourceName(o.Get("id")))}, {"name", o.Get("action")}, {"arguments", o.Get("args")}})
		thought := args.Get("thought")
		if !adapter.IsString(thought) {
			thought = json.RawMessage("null")
		}
		h.calls[sourceName(o.Get("id"))] = src
		record = adapter.OpenHandsRecord("assistant", thought, o, adapter.Field{"tool_calls", adapter.Raw([]json.RawMessage{made})})
	}
	if record == nil {
		return h.other(src, o, v0Kind(name))
	}
	if h.Has("", src.ID) {
		return nil
	}
	return h.Message("", record, src)
}

func v0Kind(name string) string {
	if name == "" {
		return "event"
	}
	return name
}

// v0Called takes an action that is a call of the model's, whose whole answer
// stands with it, and with each of the others of the answer, and with their results.
func (h *openHandsReader) v0Called(src adapter.SourceRecord, o, meta adapter.Object) error {
	answer := meta.Object("model_response")
	id := meta.Get("tool_call_id")
	a := openHandsAction{src: src, o: o}
	var said adapter.Object
	for _, c := range answer.Array("choices") {
		choice, _ := adapter.ParseObject(c)
		said = choice.Object("message")
		for _, call := range said.Array("tool_calls") {
			if c, err := adapter.ParseObject(call); err == nil && c.Text("id") == meta.Text("tool_call_id") && adapter.IsDict(c.Get("function")) {
				a.call = call
			}
		}
		if a.call != nil {
			break
		}
	}
	if a.call == nil {
		a.call = adapter.Raw(adapter.Object{{"id", id}, {"name", meta.Get("function_name")}, {"arguments", o.Get("args")}})
		if !adapter.IsString(meta.Get("function_name")) || !o.Has("args") {
			a.call = adapter.Raw(adapter.Object{{"id", id}, {"name", o.Get("action")}})
		}
	}
	response := answer.Text("id")
	h.calls[meta.Text("tool_call_id")] = src
	if response == "" || h.response != response || len(h.group) == 0 {
		a.plain = said.Get("content")
		if !adapter.IsString(a.plain) {
			a.plain = o.Object("args").Get("thought")
		}
		if r := adapter.OpenHandsSaid(said, nil); len(r) > 0 {
			a.parts = append(r, adapter.OpenHandsParts(a.plain)...)
		}
	}
	if adapter.IsDict(answer.Get("usage")) && (response == "" || !h.responses[response]) {
		h.responses[response] = true
		a.usage = "tool_call_metadata.model_response.usage"
	}
	return h.action(a, response)
}

func (h *openHandsReader) v0Observation(src adapter.SourceRecord, o adapter.Object, name string) error {
	meta, content := o.Object("tool_call_metadata"), o.Get("content")
	call, key := meta.Get("tool_call_id"), meta.Text("tool_call_id")
	tool := meta.Get("function_name")
	if !adapter.IsString(call) {
		key = sourceName(o.Get("cause"))
		if _, ok := h.calls[key]; ok && key != "" {
			call, tool = adapter.Raw("v0-"+key), o.Get("observation")
		}
	}
	if !adapter.IsString(call) || !adapter.IsString(content) {
		return h.other(src, o, v0Kind(name))
	}
	if h.Has("", src.ID) {
		return nil
	}
	if action, ok := h.calls[key]; ok {
		h.Also = []adapter.SourceRecord{action}
	}
	parts := []json.RawMessage{adapter.TextPart(content)}
	for _, url := range o.Object("extras").Array("image_urls") {
		if adapter.IsString(url) && len(url) > len(`""`) {
			parts = append(parts, adapter.ImageURLPart(url))
		}
	}
	if len(parts) > 1 {
		content = adapter.Raw(parts)
	}
	failed := name == "error" || name == "user_rejected" || string(o.Get("success")) == "false"
	return h.Message("", adapter.ToolResult(o, call, tool, content, failed), src)
}
