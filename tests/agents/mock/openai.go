package mock

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

var (
	responses = api{name: "responses", read: readResponses, write: writeResponse, fail: failOpenAI}
	chat      = api{name: "chat", read: readChat, write: writeChat, fail: failOpenAI}
)

func failOpenAI(status int) any {
	return object{"error": object{"message": "The server is overloaded.", "type": "server_error", "code": nil}}
}

func readResponses(body []byte, r *Request) {
	if text := gjson.GetBytes(body, "instructions").Str; text != "" {
		r.Turns = append(r.Turns, Turn{Role: "system", Text: text})
	}
	answering := false
	for _, item := range gjson.GetBytes(body, "input").Array() {
		switch kind := item.Get("type").Str; kind {
		case "message", "":
			role := item.Get("role").Str
			if role == "developer" {
				role = "system"
			}
			text, _ := blocks(item.Get("content"))
			if role == "assistant" && answering { // one answer has several items
				r.Turns[len(r.Turns)-1].Text += text
				continue
			}
			r.Turns = append(r.Turns, Turn{Role: role, Text: text})
			answering = role == "assistant"
		case "function_call_output", "custom_tool_call_output":
			text, _ := blocks(item.Get("output"))
			r.Turns = append(r.Turns, Turn{Role: "user", Text: text, Done: true})
			answering = false
		default: // reasoning, calls
			if !answering {
				r.Turns = append(r.Turns, Turn{Role: "assistant"})
				answering = true
			}
		}
	}
	for _, t := range gjson.GetBytes(body, "tools").Array() {
		if t.Get("type").Str == "namespace" {
			for _, inner := range t.Get("tools.#.name").Array() {
				r.Tools = append(r.Tools, t.Get("name").Str+inSpace+inner.Str)
			}
			continue
		}
		if name := t.Get("name").Str; name != "" {
			r.Tools = append(r.Tools, name)
		}
	}
}

func writeResponse(w http.ResponseWriter, body []byte, id string, step Step, tools []string) {
	var items []object
	if step.Think != "" {
		items = append(items, object{"type": "reasoning", "id": "rs_" + id, "summary": []object{{"type": "summary_text", "text": step.Think}}, "encrypted_content": "Z0FBQUFB" + id})
	}
	if step.Text != "" {
		items = append(items, object{"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": step.Text, "annotations": []any{}}}})
	}
	for i, c := range step.Calls {
		name, args := c.named(tools)
		item := object{"type": "function_call", "id": callID("fc_", id, i), "call_id": callID("call_", id, i), "name": name, "arguments": text(args), "status": "completed"}
		if space, rest, ok := strings.Cut(name, inSpace); ok {
			item["namespace"], item["name"] = space, rest
		}
		items = append(items, item)
	}
	response := object{"id": "resp_" + id, "object": "response", "model": gjson.GetBytes(body, "model").Str, "status": "completed", "output": items, "usage": object{
		"input_tokens": len(body) / 4, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 20,
		"output_tokens_details": object{"reasoning_tokens": 5}, "total_tokens": len(body)/4 + 20}}
	if !gjson.GetBytes(body, "stream").Bool() {
		answer(w, http.StatusOK, response)
		return
	}
	send := stream(w)
	number := 0
	event := func(kind string, o object) {
		o["type"], o["sequence_number"] = kind, number
		number++
		send(kind, o)
	}
	begun := object{"id": "resp_" + id, "object": "response", "created_at": 1, "model": response["model"], "status": "in_progress", "output": []any{}}
	event("response.created", object{"response": begun})
	for i, item := range items {
		event("response.output_item.added", object{"output_index": i, "item": item})
		if item["type"] == "message" {
			event("response.output_text.delta", object{"output_index": i, "item_id": item["id"], "content_index": 0, "delta": step.Text})
		}
		event("response.output_item.done", object{"output_index": i, "item": item})
	}
	event("response.completed", object{"response": response})
}

func readChat(body []byte, r *Request) {
	for _, m := range gjson.GetBytes(body, "messages").Array() {
		text, _ := blocks(m.Get("content"))
		turn := Turn{Role: m.Get("role").Str, Text: text}
		switch turn.Role {
		case "tool":
			turn.Role, turn.Done = "user", true
		case "developer":
			turn.Role = "system"
		}
		r.Turns = append(r.Turns, turn)
	}
	for _, t := range gjson.GetBytes(body, "tools.#.function.name").Array() {
		r.Tools = append(r.Tools, t.Str)
	}
}

func writeChat(w http.ResponseWriter, body []byte, id string, step Step, tools []string) {
	model := gjson.GetBytes(body, "model").Str
	usage := object{"prompt_tokens": len(body) / 4, "completion_tokens": 20, "total_tokens": len(body)/4 + 20}
	var calls []object
	for i, c := range step.Calls {
		name, args := c.named(tools)
		calls = append(calls, object{"index": i, "id": callID("call_", id, i), "type": "function", "function": object{"name": name, "arguments": text(args)}})
	}
	stop := "stop"
	if calls != nil {
		stop = "tool_calls"
	}
	if !gjson.GetBytes(body, "stream").Bool() {
		message := object{"role": "assistant", "content": step.Text}
		if calls != nil {
			message["tool_calls"] = calls
		}
		answer(w, http.StatusOK, object{"id": "c" + id, "object": "chat.completion", "created": 1, "model": model, "usage": usage,
			"choices": []object{{"index": 0, "message": message, "finish_reason": stop}}})
		return
	}
	send := stream(w)
	chunk := func(delta object, finish any) {
		send("", object{"id": "c" + id, "object": "chat.completion.chunk", "created": 1, "model": model, "choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	if step.Think != "" {
		chunk(object{"role": "assistant", "reasoning_content": step.Think}, nil)
	}
	if step.Text != "" {
		chunk(object{"role": "assistant", "content": step.Text}, nil)
	}
	if calls != nil {
		chunk(object{"tool_calls": calls}, nil)
	}
	chunk(object{}, stop)
	send("", object{"id": "c" + id, "object": "chat.completion.chunk", "created": 1, "model": model, "choices": []object{}, "usage": usage})
	fmt.Fprint(w, "data: [DONE]\n\n")
}
