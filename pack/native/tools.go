package native

import (
	"bytes"
	"fmt"

	"github.com/ctxfs/ctxfs/internal/calls"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/record"
)

// tool is a function that a model may call.
type tool struct {
	name, description string
	schema            object // JSON Schema of its arguments
	strict            any    // as it was written; nil: not said
}

// Tools is what tools.json defines.
type Tools struct {
	tools   []tool
	Repairs []string // what is not taken over as it stands
}

// Tokens is how many tokens the definitions take in any rendering at most.
func (s Tools) Tokens(c *tokens.Counter) (most int) {
	for _, list := range [][]object{s.openAI(), s.anthropic(), s.responses(), s.gemini()} {
		n := 0
		for _, tool := range list {
			var b bytes.Buffer
			writeCompact(&b, tool)
			n += c.CountCached(b.String())
		}
		most = max(most, n)
	}
	return most
}

// ParseTools reads tools.json: a list of tools, or an object that holds it in tools or functions, each in
// the form of OpenAI (nested or flat), Anthropic, MCP or Gemini. What is not a function is left out.
func ParseTools(data []byte) (s Tools) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if len(data) == 0 {
		return s
	}
	v, ok := record.ReadJSON(string(data))
	if !ok {
		s.Repairs = append(s.Repairs, "it is not JSON: no tools")
		return s
	}
	seen := map[string]bool{}
	s.read(v, seen)
	return s
}

func (s *Tools) read(v any, seen map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			s.read(item, seen)
		}
	case object:
		for _, key := range []string{"tools", "functions", "functionDeclarations", "function_declarations"} {
			if list, ok := v[key].([]any); ok {
				s.read(list, seen)
				return
			}
		}
		if f, ok := v["function"].(object); ok {
			v = f
		}
		s.add(v, seen)
	default:
		s.Repairs = append(s.Repairs, "what is not an object is left out")
	}
}

func (s *Tools) add(v object, seen map[string]bool) {
	name, _ := v["name"].(string)
	if name == "" {
		s.Repairs = append(s.Repairs, "a tool without a name is left out")
		return
	}
	t := tool{name: calls.Name(name), strict: v["strict"]}
	if t.name != name {
		s.Repairs = append(s.Repairs, fmt.Sprintf("%s is called %s", record.OneLine(name), t.name))
	}
	if seen[t.name] {
		s.Repairs = append(s.Repairs, t.name+" stands there twice: the first one counts")
		return
	}
	t.description, _ = v["description"].(string)
	if _, isBool := t.strict.(bool); !isBool {
		t.strict = nil
	}
	for _, key := range []string{"parameters", "input_schema", "inputSchema", "parametersJsonSchema"} {
		if schema, ok := v[key].(object); ok {
			t.schema = schema
			break
		}
	}
	kind, _ := v["type"].(string)
	switch {
	case t.schema == nil && kind != "" && kind != "function" && kind != "custom":
		s.Repairs = append(s.Repairs, t.name+" is a provider's own tool, not a function: it is left out")
		return
	case t.schema != nil && t.schema["type"] != "object":
		if _, said := t.schema["type"]; said {
			s.Repairs = append(s.Repairs, t.name+": its arguments are not an object: any are allowed")
			t.schema = nil
		} else {
			typed := object{"type": "object"}
			for key, value := range t.schema {
				typed[key] = value
			}
			t.schema = typed
		}
	}
	if t.schema == nil {
		t.schema = object{"type": "object", "properties": object{}}
	}
	seen[t.name] = true
	s.tools = append(s.tools, t)
}

// define returns each tool as an object with the schema under key.
func (s Tools) define(key string) (list []object) {
	for _, t := range s.tools {
		o := object{"name": t.name, key: t.schema}
		if t.description != "" {
			o["description"] = t.description
		}
		list = append(list, o)
	}
	return list
}

func (s Tools) openAI() (list []object) {
	for i, f := range s.define("parameters") {
		if strict := s.tools[i].strict; strict != nil {
			f["strict"] = strict
		}
		list = append(list, object{"type": "function", "function": f})
	}
	return list
}

func (s Tools) responses() []object {
	list := s.define("parameters")
	for i, f := range list {
		f["type"] = "function"
		if f["strict"] = s.tools[i].strict; s.tools[i].strict == nil {
			f["strict"] = false // or it would be strict
		}
	}
	return list
}

func (s Tools) anthropic() []object { return s.define("input_schema") }

func (s Tools) gemini() []object { return s.define("parametersJsonSchema") }
