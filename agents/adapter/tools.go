package adapter

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/calls"
)

// ToolDefinition is a tool that a request offers to the model.
type ToolDefinition struct {
	name        json.RawMessage
	description json.RawMessage // nil for none
	schema      json.RawMessage
}

// isBodyDocument reports whether a record is what a request holds beside its
// messages or items, in the forms of OpenAI, Anthropic, Google or Bedrock.
func isBodyDocument(r Record) bool {
	format, is := strings.CutSuffix(r.EventType(), DocumentEvent)
	return r.Event && is &&
		slices.Contains([]string{OpenAIName, ResponsesName, AnthropicName, ContentsName, ConverseName}, format)
}

// Definitions returns the tools of the last request among records. What else
// requests hold is lost.
func Definitions(records []Record, lost *Tally) (tools []ToolDefinition) {
	for _, r := range records {
		if !isBodyDocument(r) {
			continue
		}
		s, _ := r.Stamp()
		var doc DocumentRest
		if json.Unmarshal(s.Rest, &doc) != nil {
			continue
		}
		fields, _ := ParseObject(doc.Fields)
		for _, inner := range []string{"input", "body", "params", "config", "toolConfig"} {
			fields = append(fields.Without(inner), fields.Object(inner)...)
		}
		var settings []string
		tools = nil
		for _, f := range fields {
			if f.Key != "tools" && f.Key != "functions" {
				settings = append(settings, f.Key)
				continue
			}
			for _, raw := range declared(fields.Array(f.Key)) {
				t, ok := readDefinition(raw)
				if ok = ok && !slices.ContainsFunc(tools, func(u ToolDefinition) bool { return string(u.name) == string(t.name) }); ok {
					tools = append(tools, t)
				} else {
					lost.Add("events.jsonl", "a tool that only its own API knows is not defined")
				}
			}
		}
		if settings != nil {
			slices.Sort(settings)
			lost.Add("events.jsonl", "settings of a request are not carried: "+strings.Join(slices.Compact(settings), ", "))
		}
	}
	return tools
}

// declared returns tools, those that Google's API takes as one list each on its own.
func declared(tools []json.RawMessage) (all []json.RawMessage) {
	for _, raw := range tools {
		if o, _ := ParseObject(raw); o.Has("functionDeclarations") {
			all = append(all, o.Array("functionDeclarations")...)
		} else {
			all = append(all, raw)
		}
	}
	return all
}

// readDefinition reads {"function": {"name", "parameters"}}, the same without
// its envelope, {"name", "input_schema"}, and {"toolSpec": {"name", "inputSchema": {"json"}}}.
func readDefinition(raw json.RawMessage) (t ToolDefinition, ok bool) {
	o, err := ParseObject(raw)
	if err != nil {
		return t, false
	}
	if f := o.Object("function"); f != nil {
		o = f
	} else if f := o.Object("toolSpec"); f != nil {
		o = f
	}
	t.schema = o.Get("input_schema")
	if t.schema == nil {
		t.schema = o.Object("inputSchema").Get("json")
	}
	for _, key := range []string{"parameters", "parametersJsonSchema"} {
		if t.schema == nil {
			t.schema = o.Get(key)
		}
	}
	if schema, err := ParseObject(t.schema); t.schema == nil && !o.Has("type") {
		t.schema = Raw(Object{{"type", Raw("object")}, {"properties", Raw(Object{})}})
	} else if err != nil || schema.Text("type") != "object" {
		return t, false
	}
	name := o.Text("name")
	if t.name = Raw(calls.Name(name)); o.Text("description") != "" {
		t.description = o.Get("description")
	}
	return t, name != ""
}

// Gemini is the definition in the form of generateContent.
func (t ToolDefinition) Gemini() Object {
	f := Object{{"name", t.name}}
	if t.description != nil {
		f = append(f, Field{"description", t.description})
	}
	return append(f, Field{"parametersJsonSchema", t.schema})
}

// Converse returns the definition in the form of Bedrock Converse.
func (t ToolDefinition) Converse() Object {
	o := Object{{"name", t.name}}
	if t.description != nil {
		o = append(o, Field{"description", t.description})
	}
	return Object{{"toolSpec", Raw(append(o, Field{"inputSchema", Raw(Object{{"json", t.schema}})}))}}
}

// OpenAI is the definition in the form of Chat Completions.
func (t ToolDefinition) OpenAI() Object {
	f := Object{{"name", t.name}}
	if t.description != nil {
		f = append(f, Field{"description", t.description})
	}
	return Object{{"type", Raw("function")}, {"function", Raw(append(f, Field{"parameters", t.schema}))}}
}

// Responses is the definition in the form of Responses.
func (t ToolDefinition) Responses() Object {
	o := Object{{"type", Raw("function")}, {"name", t.name}}
	if t.description != nil {
		o = append(o, Field{"description", t.description})
	}
	return append(o, Field{"parameters", t.schema}, Field{"strict", Raw(false)})
}

// Anthropic is the definition in the form of Messages.
func (t ToolDefinition) Anthropic() Object {
	o := Object{{"name", t.name}}
	if t.description != nil {
		o = append(o, Field{"description", t.description})
	}
	return append(o, Field{"input_schema", t.schema})
}

// DocumentRest is the rest in the stamp of a document event.
type DocumentRest struct {
	As     string          `json:"as"` // how the elements stand in the file
	In     int             `json:"in,omitempty"`
	Lists  []string        `json:"lists,omitempty"`  // those of the object; one "" when it is a list itself
	Fields json.RawMessage `json:"fields,omitempty"` // of the object, without its lists
}
