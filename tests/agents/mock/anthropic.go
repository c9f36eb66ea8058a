package mock

import (
	"encoding/json"
	"net/http"

	"github.com/tidwall/gjson"
)

// object is a value of JSON.
type object = map[string]any

var anthropic = api{name: "anthropic", read: readMessages, write: writeMessage, fail: func(status int) any {
	kind := map[int]string{529: "overloaded_error", 429: "rate_limit_error", 400: "invalid_request_error"}[status]
	if kind == "" {
		kind = "api_error"
	}
	return object{"type": "error", "error": object{"type": kind, "message": "Overloaded"}}
}}

// blocks returns the text of a content: a string, or blocks with texts, results of tools among them.
func blocks(content gjson.Result) (text string, results bool) {
	if content.Type == gjson.String {
		return content.Str, false
	}
	content.ForEach(func(_, b gjson.Result) bool {
		if b.Get("type").Str == "tool_result" {
			results = true
			t, _ := blocks(b.Get("content"))
			text += t + "\n"
		} else if t := b.Get("text"); t.Exists() {
			text += t.Str + "\n"
		}
		return true
	})
	return text, results
}

func readMessages(body []byte, r *Request) {
	if text, _ := blocks(gjson.GetBytes(body, "system")); text != "" {
		r.Turns = append(r.Turns, Turn{Role: "system", Text: text})
	}
	for _, m := range gjson.GetBytes(body, "messages").Array() {
		text, results := blocks(m.Get("content"))
		r.Turns = append(r.Turns, Turn{Role: m.Get("role").Str, Text: text, Done: results})
	}
	for _, t := range gjson.GetBytes(body, "tools.#.name").Array() {
		r.Tools = append(r.Tools, t.Str)
	}
}

func writeMessage(w http.ResponseWriter, body []byte, id string, step Step, tools []string) {
	var content []object
	if step.Think != "" {
		content = append(content, object{"type": "thinking", "thinking": step.Think, "signature": "c2lnbmF0dXJl" + id})
	}
	if step.Text != "" {
		content = append(content, object{"type": "text", "text": step.Text})
	}
	stop := "end_turn"
	for i, c := range step.Calls {
		name, args := c.named(tools)
		content = append(content, object{"type": "tool_use", "id": callID("toolu_", id, i), "name": name, "input": args})
		stop = "tool_use"
	}
	message := object{"id": "msg_" + id, "type": "message", "role": "assistant", "model": gjson.GetBytes(body, "model").Str,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": object{"input_tokens": len(body) / 4, "output_tokens": 20}}
	if !gjson.GetBytes(body, "stream").Bool() {
		answer(w, http.StatusOK, message)
		return
	}
	send := stream(w)
	message["content"], message["stop_reason"] = []object{}, nil
	send("message_start", object{"type": "message_start", "message": message})
	for i, b := range content {
		start, deltas := object{}, []object{}
		switch b["type"] {
		case "thinking":
			start = object{"type": "thinking", "thinking": "", "signature": ""}
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": b["thinking"]}, object{"type": "signature_delta", "signature": b["signature"]})
		case "text":
			start = object{"type": "text", "text": ""}
			deltas = append(deltas, object{"type": "text_delta", "text": b["text"]})
		case "tool_use":
			start = object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}}
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": text(b["input"])})
		}
		send("content_block_start", object{"type": "content_block_start", "index": i, "content_block": start})
		for _, d := range deltas {
			send("content_block_delta", object{"type": "content_block_delta", "index": i, "delta": d})
		}
		send("content_block_stop", object{"type": "content_block_stop", "index": i})
	}
	send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 20}})
	send("message_stop", object{"type": "message_stop"})
}

// callID returns the id of a call of an answer.
func callID(prefix, id string, call int) string { return prefix + id + "_" + string(rune('a'+call)) }

// text returns a value as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
