package nativetest

import "fmt"

// anthropic: user and assistant take turns, from user to user; each tool_use has its tool_result in the next message, in
// front of all else there.
func (c *checker) anthropic(body object) {
	c.keys("body", body, "messages!", "system", "tools")
	m := messages{checker: c}
	if system, ok := body["system"]; ok {
		m.system(system)
	}
	order := turns{checker: c, model: "assistant", one: "message"}
	for i, msg := range c.list("messages", body["messages"]) {
		what := fmt.Sprintf("messages[%d]", i)
		c.message()
		c.keys(what, msg, "role!", "content!")
		role, _ := msg["role"].(string)
		order.next(i, what, role)
		m.content(what, role, c.list(what+".content", msg["content"]))
	}
	order.end()
	c.closed("the end")
	if tools, ok := body["tools"]; ok {
		c.tools(tools, func(what string, t object) object {
			c.keys(what, t, "name!", "description", "input_schema!", "cache_control")
			m.mark(what, t)
			return t
		}, "input_schema")
	} else if m.calls {
		c.bad("there are calls and no tools")
	}
	if m.marks > 4 {
		c.bad("%d cache marks", m.marks)
	}
}

// messages checks the system prompt and the messages of a body of Anthropic.
type messages struct {
	*checker
	marks int  // cache marks so far
	calls bool // there are calls
}

// blockKinds are the types of blocks in messages: the role that alone may have them, if not both, and their checks.
var blockKinds = map[string]struct {
	role  string
	check func(m *messages, at string, b object)
}{
	"text":              {"", (*messages).textBlock},
	"image":             {"user", (*messages).image},
	"tool_use":          {"assistant", (*messages).toolUse},
	"tool_result":       {"user", (*messages).toolResult},
	"thinking":          {"assistant", (*messages).thinking},
	"redacted_thinking": {"assistant", func(m *messages, at string, b object) { m.keys(at, b, "type!", "data!") }},
}

func (m *messages) system(system any) {
	for i, b := range m.list("system", system) {
		what := fmt.Sprintf("system[%d]", i)
		m.textBlock(what, b)
		m.mark(what, b)
		m.unit("system", b)
		m.message()
	}
}

// content checks the blocks of one message and their order.
func (m *messages) content(what, role string, blocks []object) {
	others := false // than results stood before
	for k, b := range blocks {
		at := fmt.Sprintf("%s.content[%d]", what, k)
		m.mark(at, b)
		m.unit(role, b)
		kind, _ := b["type"].(string)
		result := kind == "tool_result"
		if role == "user" && !result && !others {
			m.closed(at)
		} else if role == "user" && result && others {
			m.bad("%s: a result behind other content", at)
		}
		others = others || !result
		if of, ok := blockKinds[kind]; ok && (of.role == "" || of.role == role) {
			of.check(m, at, b)
		} else {
			m.bad("%s: a block of type %q in a message of %s", at, kind, role)
		}
	}
	if role == "user" {
		m.closed(what)
	} else if n := len(blocks); n > 0 && isThinking(blocks[n-1]) {
		m.bad("%s ends in thinking", what)
	}
}

// mark counts the cache mark of a block, if it has one.
func (m *messages) mark(what string, b object) {
	mark, ok := b["cache_control"]
	if !ok {
		return
	}
	if o, _ := mark.(object); len(o) != 1 || o["type"] != "ephemeral" {
		m.bad("%s: a mark %v", what, mark)
	}
	if isThinking(b) {
		m.bad("%s: a mark on thinking", what)
	}
	m.marks++
}

func isThinking(b object) bool { return b["type"] == "thinking" || b["type"] == "redacted_thinking" }

func (m *messages) textBlock(at string, b object) {
	m.keys(at, b, "type!", "text!", "cache_control")
	m.text(at, b["text"])
}

func (m *messages) toolUse(at string, b object) {
	m.calls = true
	m.keys(at, b, "type!", "id!", "name!", "input!", "cache_control")
	m.call(at, b["id"], b["name"])
	m.input(at, b["input"])
}

func (m *messages) toolResult(at string, b object) {
	m.keys(at, b, "type!", "tool_use_id!", "content!", "is_error", "cache_control")
	m.result(at, b["tool_use_id"])
	if _, ok := b["content"].(string); ok {
		m.text(at, b["content"])
		return
	}

	for _, p := range m.list(at+".content", b["content"]) {
		if p["cache_control"] != nil {
			m.bad("%s: a mark inside of a result", at)
		}
		if p["type"] == "image" {
			if m.image(at, p); b["is_error"] == true {
				m.bad("%s: an image in a result that is an error", at)
			}
			continue
		}
		m.keys(at, p, "type!", "text!")
		m.text(at, p["text"])
	}
}

func (m *messages) thinking(at string, b object) {
	m.keys(at, b, "type!", "thinking!", "signature!")
	if s, _ := b["signature"].(string); s == "" {
		m.bad("%s: thinking without signature", at)
	}
	s, _ := b["thinking"].(string)
	m.Tokens += m.count(s)
}

func (m *messages) image(what string, b object) {
	m.keys(what, b, "type!", "source!", "cache_control")
	source, _ := b["source"].(object)
	if source["type"] == "url" {
		m.keys(what, source, "type!", "url!")
		m.imageURL(what, source["url"])
		return
	}
	m.keys(what, source, "type!", "media_type!", "data!")
	if source["type"] != "base64" {
		m.bad("%s: a source of type %v", what, source["type"])
	}
	m.base64(what, source["media_type"], source["data"])
}
