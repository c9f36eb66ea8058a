package nativetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Body is a request body that was checked.
type Body struct {
	// Units are its parts in the order in which a provider reads them.
	Units []Unit
	// Marks are the units with a cache mark, by their index.
	Marks []int
	// Tokens of texts, names and arguments, and 4 for each message.
	Tokens int
}

// Unit is a part of a message, a call, or an item. Equal units are read equally.
type Unit struct {
	Role   string // of the message
	Result bool   // the result of a call
	Head   string // the part as JSON, without its text and without a cache mark
	Text   string // of a text or of a result
}

type object = map[string]any

type checker struct {
	Body
	format     string
	images     sentImages
	count      func(string) int
	violations []string
	ids        map[string]bool   // of calls so far
	open       map[string]string // calls without result, and their names
	speakers   []string          // roles of messages and items, for CheckRendering
	answered   bool              // one of those that are open together has its result
}

func (c *checker) bad(format string, args ...any) {
	c.violations = append(c.violations, fmt.Sprintf(format, args...))
}

func (c *checker) message() { c.Tokens += 4 }

func (c *checker) unit(role string, part any) {
	u := Unit{Role: role}
	switch p := part.(type) {
	case string:
		u.Text, part = p, object{}
	case object:
		if _, marked := p["cache_control"]; marked {
			c.Marks = append(c.Marks, len(c.Units))
		}
		part = u.read(maps.Clone(p))
	}
	text, err := json.Marshal([]any{role, part})
	if err != nil {
		c.bad("%v", err)
	}
	u.Head = string(text)
	c.Units = append(c.Units, u)
}

// read takes the text out of a part. It changes the part.
func (u *Unit) read(part object) object {
	delete(part, "cache_control")

	kind, _ := part["type"].(string)
	response, isResponse := part["functionResponse"].(object)
	switch {
	case kind == "tool_result", part["role"] == "tool":
		u.Result = true
		u.take(part, "content")
	case strings.HasSuffix(kind, "_output"):
		u.Result = true
		u.take(part, "output")
	case isResponse:
		u.Result = true
		response = maps.Clone(response)
		inner, _ := response["response"].(object)
		inner = maps.Clone(inner)
		u.take(inner, "output")
		u.take(inner, "error")
		response["response"] = inner
		part["functionResponse"] = response
	case part["text"] != nil:
		u.take(part, "text")
		delete(part, "text")
		delete(part, "type")
	}
	return part
}

// take moves the text under a key to u, the texts of a list likewise.
func (u *Unit) take(part object, key string) {
	if text, ok := part[key].(string); ok {
		u.Text, part[key] = text, nil
		return
	}

	list, ok := part[key].([]any)
	if !ok {
		return
	}
	var others []any
	for _, v := range list {
		inner, _ := v.(object)
		if text, is := inner["text"].(string); is {
			u.Text += text
		} else {
			others = append(others, v)
		}
	}
	part[key] = nil
	if others != nil {
		part[key] = others
	}
}

// keys reports keys that are not allowed, and required ones that are not there; those end in "!".
func (c *checker) keys(what string, o object, allowed ...string) {
	for i, key := range allowed {
		name, must := strings.CutSuffix(key, "!")
		allowed[i] = name
		if _, ok := o[name]; must && !ok {
			c.bad("%s: no %s", what, name)
		}
	}
	for key := range o {
		if !slices.Contains(allowed, key) {
			c.bad("%s: %s is not a key of it", what, key)
		}
	}
}

func (c *checker) list(what string, v any) (list []object) {
	items, ok := v.([]any)
	if !ok {
		c.bad("%s is not a list", what)
		return nil
	}
	if len(items) == 0 {
		c.bad("%s is empty", what)
	}
	for i, item := range items {
		o, ok := item.(object)
		if !ok {
			c.bad("%s[%d] is not an object", what, i)
			o = object{}
		}
		list = append(list, o)
	}
	return list
}

// text is a string that says something.
func (c *checker) text(what string, v any) string {
	s, ok := v.(string)
	if !ok {
		c.bad("%s is not a string", what)
	} else if strings.TrimSpace(s) == "" {
		c.bad("%s is blank", what)
	}
	c.Tokens += c.count(s)
	return s
}

var (
	namePattern = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)
	idPattern   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
)

func (c *checker) name(what string, v any) string {
	s, _ := v.(string)
	if !namePattern.MatchString(s) {
		c.bad("%s: %q is not the name of a tool", what, s)
	}
	return s
}

func (c *checker) call(what string, id, name any) {
	s, _ := id.(string)
	if !idPattern.MatchString(s) {
		c.bad("%s: %q is not an id", what, s)
	}
	if c.ids[s] {
		c.bad("%s: the id %s stands twice", what, s)
	}
	c.ids[s] = true
	c.open[s] = c.name(what, name)
	c.Tokens += c.count(c.open[s])
}

func (c *checker) result(what string, id any) {
	s, _ := id.(string)
	if _, ok := c.open[s]; !ok {
		c.bad("%s: a result for %q, which is not an open call", what, s)
	}
	c.answer(s)
}

// answer notes the result of an open call.
func (c *checker) answer(id string) {
	delete(c.open, id)
	c.answered = len(c.open) > 0
}

func (c *checker) closed(what string) {
	if len(c.open) > 0 {
		c.bad("%s: %d calls have no result", what, len(c.open))
	}
	clear(c.open)
	c.answered = false
}

// turns is the order in which user and model speak: in turn, from user to user.
type turns struct {
	*checker
	model string // the role of the model
	one   string // what a turn is called
	last  string // the role that spoke last
}

// next checks the role of turn i.
func (t *turns) next(i int, what, role string) {
	switch {
	case role != "user" && role != t.model:
		t.bad("%s: the role %q", what, role)
	case i == 0 && role != "user":
		t.bad("the first %s is not the user's", t.one)
	case role == t.last:
		t.bad("%s: %s speaks twice", what, role)
	}
	t.last = role
}

// end checks who spoke last.
func (t *turns) end() {
	if t.last != "user" {
		t.bad("the last %s is not the user's", t.one)
	}
}

// schema is a JSON Schema of an object.
func (c *checker) schema(what string, v any) {
	if o, ok := v.(object); !ok || o["type"] != "object" {
		c.bad("%s: the schema is not of an object", what)
	}
}

// tools checks definitions; each gives that of one tool.
func (c *checker) tools(v any, each func(what string, tool object) object, key string) {
	names := map[string]bool{}
	for i, t := range c.list("tools", v) {
		what := fmt.Sprintf("tools[%d]", i)
		t = each(what, t)
		name := c.name(what, t["name"])
		if names[name] {
			c.bad("%s: %s stands twice", what, name)
		}
		names[name] = true
		if d, ok := t["description"]; ok {
			if s, _ := d.(string); s == "" {
				c.bad("%s: the description is empty", what)
			}
		}
		c.schema(what, t[key])
	}
}
