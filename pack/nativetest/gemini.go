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
	g := contents{checker: c}
	if v, ok := body["systemInstruction"]; ok {
		g.system(v)
	}
	order := turns{checker: c, model: "model", one: "content"}
	for i, m := range c.list("contents", body["contents"]) {
		what := fmt.Sprintf("contents[%d]", i)
		c.message()
		c.keys(what, m, "role!", "parts!")
		role, _ := m["role"].(string)
		order.next(i, what, role)
		for k, p := range c.list(what+".parts", m["parts"]) {
			g.part(fmt.Sprintf("%s.parts[%d]", what, k), role, p)
		}
		if role == "user" {
			g.answered(what)
		}
	}
	order.end()
	if v, ok := body["tools"]; ok {
		g.declarations(v)
	}
}

// contents checks the instruction, the contents and the tools of a body of Gemini.
type contents struct {
	*checker
	calls []string // without response, by name
}

func (g *contents) system(v any) {
	system, _ := v.(object)
	g.keys("systemInstruction", system, "parts!")
	for i, p := range g.list("systemInstruction.parts", system["parts"]) {
		what := fmt.Sprintf("systemInstruction.parts[%d]", i)
		g.keys(what, p, "text!")
		g.text(what, p["text"])
		g.unit("system", p)
		g.message()
	}
}

// part checks one part of a content.
func (g *contents) part(at, role string, p object) {
	g.unit(role, p)
	signature, signed := p["thoughtSignature"].(string)
	if kinds := len(p); signed {
		if kinds--; role != "model" || signature == "" || kinds != 1 {
			g.bad("%s: the signature %q of %d kinds of data of %s", at, signature, kinds, role)
		}
		if signature != "skip_thought_signature_validator" { // which stands for none
			g.Tokens += g.count(signature)
		}
	} else if kinds != 1 {
		g.bad("%s: %d kinds of data in one part", at, kinds)
	}
	if p["functionCall"] != nil {
		if !signed && len(g.calls) == 0 {
			g.bad("%s: the first call of a step without a signature", at)
		}
	}
	response, isResponse := p["functionResponse"].(object)
	if role == "user" && !isResponse {
		g.answered(at)
	}
	switch {
	case isResponse && role == "user":
		g.response(at, response)
	case p["functionCall"] != nil && role == "model":
		g.functionCall(at, p["functionCall"])
	case p["inlineData"] != nil && role == "user":
		data, _ := p["inlineData"].(object)
		g.keys(at, data, "mimeType!", "data!")
		g.base64(at, data["mimeType"], data["data"])
	case p["text"] != nil:
		g.text(at, p["text"])
	default:
		g.bad("%s: not a part of %s: %v", at, role, p)
	}
}

// answered reports calls that have no response, once.
func (g *contents) answered(what string) {
	if len(g.calls) > 0 {
		g.bad("%s: %d calls have no response", what, len(g.calls))
	}
	g.calls = nil
}

func (g *contents) functionCall(at string, v any) {
	call, _ := v.(object)
	g.keys(at, call, "name!", "args!")
	name := g.name(at, call["name"])
	g.calls = append(g.calls, name)
	g.Tokens += g.count(name)
	g.input(at, call["args"])
}

// response checks the response to the next call.
func (g *contents) response(at string, response object) {
	g.keys(at, response, "name!", "response!")
	if name := g.name(at, response["name"]); len(g.calls) == 0 || g.calls[0] != name {
		g.bad("%s: a response of %s, which is not the next of the calls %v", at, name, g.calls)
	} else {
		g.calls = g.calls[1:]
	}
	r, _ := response["response"].(object)
	g.keys(at, r, "output", "error")
	for _, text := range r {
		g.text(at, text)
	}
}

func (g *contents) declarations(v any) {
	list := g.list("tools", v)
	if len(list) != 1 {
		g.bad("%d tools", len(list))
		return
	}
	g.keys("tools[0]", list[0], "functionDeclarations!")
	g.tools(list[0]["functionDeclarations"], func(what string, t object) object {
		g.keys(what, t, "name!", "description", "parametersJsonSchema!")
		return t
	}, "parametersJsonSchema")
}
