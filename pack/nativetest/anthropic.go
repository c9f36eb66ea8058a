package nativetest

import "fmt"

// anthropic: user and assistant take turns, from user to user; each tool_use has its tool_result in the next message, in
// front of all else there.
func (c *checker) anthropic(body object) {
	c.keys("body", body, "messages!", "system", "tools")
	marks, calls := 0, false
	marked := func(what string, block object) {
		mark, ok := block["cache_control"]
		if !ok {
			return
		}
		if o, _ := mark.(object); len(o) != 1 || o["type"] != "ephemeral" {
			c.bad("%s: a mark %v", what, mark)
		}
		if t := block["type"]; t == "thinking" || t == "redacted_thinking" {
			c.bad("%s: a mark on thinking", what)
		}
		marks++
	}
	if system, ok := body["system"]; ok {
		for i, b := range c.list("system", system) {
			what := fmt.Sprintf("system[%d]", i)
			c.keys(what, b, "type!", "text!", "cache_control")
			c.text(what, b["text"])
			marked(what, b)
			c.unit("system", b)
			c.message()
		}
	}
	last := ""
	for i, m := range c.list("messages", body["messages"]) {
		what := fmt.Sprintf("messages[%d]", i)
		c.message()
		c.keys(what, m, "role!", "content!")
		role, _ := m["role"].(string)
		switch {
		case role != "user" && role != "assistant":
			c.bad("%s: the role %q", what, role)
		case i == 0 && role != "user":
			c.bad("the first message is not the user's")
		case role == last:
			c.bad("%s: %s speaks twice", what, role)
		}
		last = role
		others := false
		content := c.list(what+".content", m["content"])
		for k, b := range content {
			at := fmt.Sprintf("%s.content[%d]", what, k)
			marked(at, b)
			c.unit(role, b)
			kind, _ := b["type"].(string)
			if kind != "tool_result" {
				if role == "user" && !others {
					c.closed(at)
				}
				others = true
			}
			switch {
			case kind == "text":
				c.keys(at, b, "type!", "text!", "cache_control")
				c.text(at, b["text"])
			case kind == "image" && role == "user":
				c.anthropicImage(at, b)
			case kind == "tool_use" && role == "assistant":
				calls = true
				c.keys(at, b, "type!", "id!", "name!", "input!", "cache_control")
				c.call(at, b["id"], b["name"])
				c.input(at, b["input"])
			case kind == "tool_result" && role == "user":
				if others {
					c.bad("%s: a result behind other content", at)
				}
				c.keys(at, b, "type!", "tool_use_id!", "content!", "is_error", "cache_control")
				c.result(at, b["tool_use_id"])
				if _, ok := b["content"].(string); ok {
					c.text(at, b["content"])
					break
				}
				for _, p := range c.list(at+".content", b["content"]) {
					if p["type"] == "image" {
						c.anthropicImage(at, p)
						continue
					}
					c.keys(at, p, "type!", "text!")
					c.text(at, p["text"])
				}
			case kind == "thinking" && role == "assistant":
				c.keys(at, b, "type!", "thinking!", "signature!")
				if s, _ := b["signature"].(string); s == "" {
					c.bad("%s: thinking without signature", at)
				}
				s, _ := b["thinking"].(string)
				c.Tokens += c.count(s)
			case kind == "redacted_thinking" && role == "assistant":
				c.keys(at, b, "type!", "data!")
			default:
				c.bad("%s: a block of type %q in a message of %s", at, kind, role)
			}
		}
		if role == "user" {
			c.closed(what)
		} else if n := len(content); n > 0 && (content[n-1]["type"] == "thinking" || content[n-1]["type"] == "redacted_thinking") {
			c.bad("%s ends in thinking", what)
		}
	}
	if last != "user" {
		c.bad("the last message is not the user's")
	}
	c.closed("the end")
	if marks > 4 {
		c.bad("%d cache marks", marks)
	}
	if tools, ok := body["tools"]; ok {
		c.tools(tools, func(what string, t object) object {
			c.keys(what, t, "name!", "description", "input_schema!")
			return t
		}, "input_schema")
	} else if calls {
		c.bad("there are calls and no tools")
	}
}

func (c *checker) anthropicImage(what string, b object) {
	c.keys(what, b, "type!", "source!", "cache_control")
	source, _ := b["source"].(object)
	if source["type"] == "url" {
		c.keys(what, source, "type!", "url!")
		c.imageURL(what, source["url"])
		return
	}
	c.keys(what, source, "type!", "media_type!", "data!")
	if source["type"] != "base64" {
		c.bad("%s: a source of type %v", what, source["type"])
	}
	c.base64(what, source["media_type"], source["data"])
}
