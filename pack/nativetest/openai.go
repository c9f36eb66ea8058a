package nativetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// openAI: after an assistant message with tool_calls come tool messages for all of them, and nothing else before these.
func (c *checker) openAI(body object) {
	c.keys("body", body, "messages!", "tools")
	users := 0
	for i, m := range c.list("messages", body["messages"]) {
		what := fmt.Sprintf("messages[%d]", i)
		role, _ := m["role"].(string)
		c.message()
		c.speakers = append(c.speakers, speakerOf(m))
		if role != "tool" {
			c.closed(what)
		}
		switch role {
		case "system", "developer":
			c.keys(what, m, "role!", "content!")
			c.text(what, m["content"])
			c.unit(role, m["content"])
		case "user":
			users++
			c.keys(what, m, "role!", "content!")
			if _, ok := m["content"].(string); ok {
				c.text(what, m["content"])
				c.unit(role, m["content"])
				break
			}
			for _, p := range c.list(what+".content", m["content"]) {
				c.unit(role, p)
				switch p["type"] {
				case "text":
					c.keys(what, p, "type!", "text!")
					c.text(what, p["text"])
				case "image_url":
					c.keys(what, p, "type!", "image_url!")
					at, _ := p["image_url"].(object)
					c.imageURL(what, at["url"])
				default:
					c.bad("%s: a part of type %v", what, p["type"])
				}
			}
		case "assistant":
			c.keys(what, m, "role!", "content", "tool_calls", "reasoning_content", "reasoning", "reasoning_details")
			c.reasoning(what, m)
			if m["content"] == nil && m["tool_calls"] == nil {
				c.bad("%s says nothing", what)
			}
			if content, ok := m["content"]; ok {
				c.text(what, content)
				c.unit(role, content)
			}
			if m["tool_calls"] != nil {
				for _, call := range c.list(what+".tool_calls", m["tool_calls"]) {
					c.unit(role, call)
					c.keys(what, call, "id!", "type!", "function!", "extra_content")
					if extra, has := call["extra_content"]; has {
						c.input(what, extra)
					}
					f, _ := call["function"].(object)
					c.keys(what, f, "name!", "arguments!")
					if call["type"] != "function" {
						c.bad("%s: a call of type %v", what, call["type"])
					}
					c.call(what, call["id"], f["name"])
					c.arguments(what, f["arguments"])
				}
			}
		case "tool":
			c.keys(what, m, "role!", "content!", "tool_call_id!")
			c.result(what, m["tool_call_id"])
			c.text(what, m["content"])
			c.unit(role, m)
		default:
			c.bad("%s: the role %q", what, role)
		}
	}
	c.closed("the end")
	if users == 0 {
		c.bad("no message of the user")
	}
	if tools, ok := body["tools"]; ok {
		c.tools(tools, func(what string, t object) object {
			c.keys(what, t, "type!", "function!")
			if t["type"] != "function" {
				c.bad("%s is of type %v", what, t["type"])
			}
			f, _ := t["function"].(object)
			c.keys(what, f, "name!", "description", "parameters", "strict")
			return f
		}, "parameters")
	}
}

// speakerOf returns the role of a message; "thinking assistant" if it returns its reasoning.
func speakerOf(m object) string {
	role, _ := m["role"].(string)
	for _, key := range []string{"reasoning_content", "reasoning", "reasoning_details"} {
		if m[key] != nil {
			return "thinking " + role
		}
	}
	return role
}

// reasoning checks the fields in which services behind the Chat API want a model's reasoning back.
func (c *checker) reasoning(what string, m object) {
	fields := object{}
	for _, key := range []string{"reasoning_content", "reasoning", "reasoning_details"} {
		v, has := m[key]
		if !has {
			continue
		}
		fields[key] = v
		_, isText := v.(string)
		if _, isList := v.([]any); isList != (key == "reasoning_details") || !isList && !isText {
			c.bad("%s: %s is %v", what, key, v)
		}
	}
	if len(fields) > 0 {
		c.input(what, fields)
		c.unit("assistant", fields)
	}
}

// arguments are a string that holds an object of JSON.
func (c *checker) arguments(what string, v any) {
	s, _ := v.(string)
	var o object
	if json.Unmarshal([]byte(s), &o) != nil || o == nil {
		c.bad("%s: arguments are not a string that holds an object: %q", what, s)
	}
	c.Tokens += c.count(s)
	if lone.MatchString(pairs.ReplaceAllString(strings.ReplaceAll(s, `\\`, ""), "")) {
		c.bad("%s: half of a surrogate pair in arguments: %q", what, s)
	}
}

var (
	pairs = regexp.MustCompile(`(?i)\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}`)
	lone  = regexp.MustCompile(`(?i)\\ud[89a-f][0-9a-f]{2}`)
)

// input are arguments as an object.
func (c *checker) input(what string, v any) {
	if _, ok := v.(object); !ok {
		c.bad("%s: arguments are not an object", what)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		c.bad("%s: %v", what, err)
	}
	c.Tokens += c.count(strings.TrimSpace(b.String()))
}
