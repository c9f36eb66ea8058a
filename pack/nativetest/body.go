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
	// Units are its parts in the order in which a provider reads them, each as JSON with the role that says it;
	// cache marks are taken away.
	Units []string
	// Tokens of texts, names and arguments, and 4 for each message.
	Tokens int
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
	answered   bool              // one of those that are open together has its result
}

func (c *checker) bad(format string, args ...any) {
	c.violations = append(c.violations, fmt.Sprintf(format, args...))
}

func (c *checker) message() { c.Tokens += 4 }

func (c *checker) unit(role string, part any) {
	if o, ok := part.(object); ok {
		o = maps.Clone(o)
		delete(o, "cache_control")
		part = o
	}
	text, err := json.Marshal([]any{role, part})
	if err != nil {
		c.bad("%v", err)
	}
	c.Units = append(c.Units, string(text))
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
