package nativetest

import (
	"fmt"
	"strings"
)

// itemOrder checks that reasoning has the item behind it that it led to, and that no item is there twice.
type itemOrder struct {
	*checker
	ids      map[any]bool
	reasoned string // the last item, which is reasoning
}

func (o *itemOrder) next(what, kind, role string, id any) {
	isOutput := strings.HasSuffix(kind, "_output") || kind == "mcp_approval_response"
	if id != nil && !isOutput {
		if o.ids[id] {
			o.bad("%s: the item %v is there twice", what, id)
		}
		o.ids[id] = true
	}
	if isOutput || kind == "message" && role != "assistant" {
		o.others()
	}
	if o.reasoned = ""; kind == "reasoning" {
		o.reasoned = what
	}
}

// others notes that others than the assistant speak.
func (o *itemOrder) others() {
	if o.reasoned != "" {
		o.bad("%s without the item that follows it", o.reasoned)
	}
	o.reasoned = ""
}

// speaks notes the role of an item.
func (c *checker) speaks(kind, role string) {
	if kind != "message" {
		role = "assistant"
	}
	c.speakers = append(c.speakers, role)
}

// responses: each function_call has one function_call_output behind it, before others speak again. Until the first of these comes, the
// model may say and think something between its calls.
func (c *checker) responses(body object) {
	c.keys("body", body, "input!", "tools")
	users := 0
	order := itemOrder{checker: c, ids: map[any]bool{}}
	for i, m := range c.list("input", body["input"]) {
		what := fmt.Sprintf("input[%d]", i)
		kind, _ := m["type"].(string)
		role, _ := m["role"].(string)
		order.next(what, kind, role, m["id"])
		c.speaks(kind, role)
		if speaks := kind == "message" && role != "assistant"; speaks || c.answered && (kind == "message" || kind == "reasoning") {
			c.closed(what)
		}
		switch kind {
		case "message":
			c.message()
			c.keys(what, m, "type!", "role!", "content!")
			switch role {
			case "system", "developer", "assistant":
				c.text(what, m["content"])
				c.unit(role, m["content"])
				continue
			case "user":
				users++
			default:
				c.bad("%s: the role %q", what, role)
			}
			if _, ok := m["content"].(string); ok {
				c.text(what, m["content"])
				c.unit(role, m["content"])
				continue
			}
			for _, p := range c.list(what+".content", m["content"]) {
				c.unit(role, p)
				switch p["type"] {
				case "input_text":
					c.keys(what, p, "type!", "text!")
					c.text(what, p["text"])
				case "input_image":
					c.keys(what, p, "type!", "image_url!", "detail!")
					c.imageURL(what, p["image_url"])
				default:
					c.bad("%s: a part of type %v", what, p["type"])
				}
			}
		case "function_call":
			c.message()
			c.keys(what, m, "type!", "call_id!", "name!", "arguments!", "id", "status", "namespace", "async", "caller")
			c.call(what, m["call_id"], m["name"])
			c.arguments(what, m["arguments"])
			c.unit("assistant", m)
		case "function_call_output":
			c.message()
			c.keys(what, m, "type!", "call_id!", "output!", "id", "status", "name", "namespace", "caller")
			if id, _ := m["call_id"].(string); strings.HasPrefix(c.open[id], ofItem) {
				c.bad("%s: an output of a function for the call %s of another kind", what, id)
			}
			c.result(what, m["call_id"])
			c.output(what, m["output"])
			c.unit("tool", m)
		case "reasoning":
			c.keys(what, m, "type!", "id!", "summary!", "content", "encrypted_content", "status")
			for key, v := range m {
				if v == nil {
					c.bad("%s: %s is null", what, key)
				}
			}
			if _, ok := m["summary"].([]any); !ok {
				c.bad("%s: summary is not a list", what)
			}
			c.unit("assistant", m)
		default:
			c.item(what, kind, m)
		}
	}
	order.others()
	c.closed("the end")
	if users == 0 {
		c.bad("no message of the user")
	}
	if tools, ok := body["tools"]; ok {
		c.tools(tools, func(what string, t object) object {
			c.keys(what, t, "type!", "name!", "description", "parameters!", "strict!")
			if t["type"] != "function" {
				c.bad("%s is of type %v", what, t["type"])
			}
			if _, ok := t["strict"].(bool); !ok {
				c.bad("%s: strict is neither true nor false", what)
			}
			return t
		}, "parameters")
	}
}
