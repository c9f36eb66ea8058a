package nativetest

import (
	"fmt"
	"maps"
)

// genAI: what gemini has, with all but the contents in config.
func (c *checker) genAI(body object) {
	c.keys("body", body, "contents!", "config")
	whole := object{"contents": body["contents"]}
	if v, ok := body["config"]; ok {
		config, _ := v.(object)
		c.keys("config", config, "systemInstruction", "tools")
		if len(config) == 0 {
			c.bad("config is empty")
		}
		maps.Copy(whole, config)
	}
	c.gemini(whole)
}

// gemini: user and model take turns, from user to user; as many responses as calls, in their order, begin the
// next content.
func (c *checker) gemini(body object) {
	c.keys("body", body, "contents!", "systemInstruction", "tools")
	if v, ok := body["systemInstruction"]; ok {
		system, _ := v.(object)
		c.keys("systemInstruction", system, "parts!")
		for i, p := range c.list("systemInstruction.parts", system["parts"]) {
			what := fmt.Sprintf("systemInstruction.parts[%d]", i)
			c.keys(what, p, "text!")
			c.text(what, p["text"])
			c.unit("system", p)
			c.message()
		}
	}
	last := ""
	var calls []string // without response, by name
	for i, m := range c.list("contents", body["contents"]) {
		what := fmt.Sprintf("contents[%d]", i)
		c.message()
		c.keys(what, m, "role!", "parts!")
		role, _ := m["role"].(string)
		switch {
		case role != "user" && role != "model":
			c.bad("%s: the role %q", what, role)
		case i == 0 && role != "user":
			c.bad("the first content is not the user's")
		case role == last:
			c.bad("%s: %s speaks twice", what, role)
		}
		last = role
		for k, p := range c.list(what+".parts", m["parts"]) {
			at := fmt.Sprintf("%s.parts[%d]", what, k)
			c.unit(role, p)
			if len(p) != 1 {
				c.bad("%s: %d kinds of data in one part", at, len(p))
			}
			response, isResponse := p["functionResponse"].(object)
			if role == "user" && !isResponse && len(calls) > 0 {
				c.bad("%s: %d calls have no response", at, len(calls))
				calls = nil
			}
			switch {
			case isResponse && role == "user":
				c.keys(at, response, "name!", "response!")
				if name := c.name(at, response["name"]); len(calls) == 0 || calls[0] != name {
					c.bad("%s: a response of %s, which is not the next of the calls %v", at, name, calls)
				} else {
					calls = calls[1:]
				}
				r, _ := response["response"].(object)
				c.keys(at, r, "output", "error")
				for _, text := range r {
					c.text(at, text)
				}
			case p["functionCall"] != nil && role == "model":
				call, _ := p["functionCall"].(object)
				c.keys(at, call, "name!", "args!")
				calls = append(calls, c.name(at, call["name"]))
				c.Tokens += c.count(calls[len(calls)-1])
				c.input(at, call["args"])
			case p["inlineData"] != nil && role == "user":
				data, _ := p["inlineData"].(object)
				c.keys(at, data, "mimeType!", "data!")
				c.base64(at, data["mimeType"], data["data"])
			case p["text"] != nil:
				c.text(at, p["text"])
			default:
				c.bad("%s: not a part of %s: %v", at, role, p)
			}
		}
		if role == "user" && len(calls) > 0 {
			c.bad("%s: %d calls have no response", what, len(calls))
			calls = nil
		}
	}
	if last != "user" {
		c.bad("the last content is not the user's")
	}
	if v, ok := body["tools"]; ok {
		list := c.list("tools", v)
		if len(list) != 1 {
			c.bad("%d tools", len(list))
			return
		}
		c.keys("tools[0]", list[0], "functionDeclarations!")
		c.tools(list[0]["functionDeclarations"], func(what string, t object) object {
			c.keys(what, t, "name!", "description", "parametersJsonSchema!")
			return t
		}, "parametersJsonSchema")
	}
}
