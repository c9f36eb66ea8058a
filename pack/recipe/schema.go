package recipe

import (
	"bytes"
	"encoding/json"
	"slices"
)

// js is a piece of JSON Schema.
type js map[string]any

// Forms of strings as regular expressions that JavaScript has, too.
const (
	templates = `^([^$]|\$\$|\$\{[A-Za-z_][A-Za-z0-9_]*\}|\$([^${]|$))*$`
	noShare   = `^0+(\.0+)?%$|^[2-9][0-9][0-9]|^10[1-9]|^1[1-9][0-9]|^100\.0?[1-9]`
	imports   = `^\.\.?/|^[^/].*\.ya?ml$|^(@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$`
)

// Schema is the JSON Schema (draft 2020-12) of a recipe, for editors. It knows keys, types, ranges,
// choices and forms; only Load knows which regular expressions compile, which ids and files there are, and what
// concerns several sources.
func Schema() []byte {
	defs := js{"fallback": js{"title": "fallback", "required": []string{"type"}, "allOf": []js{
		{"$ref": "#/$defs/source"},
		{"not": js{"required": []string{"fallback"}}},
		{"properties": js{"type": js{"not": js{"const": TypeJournal}}}},
	}}}
	for i := range objects {
		defs[objects[i].Name] = objects[i].schema()
		defs[objects[i].Name].(js)["title"] = objects[i].Name
	}
	root := js{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "ctxfs recipe (context.yaml)",
		"$ref":    "#/$defs/recipe",
		"$defs":   defs,
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic("recipe: the schema has no JSON: " + err.Error()) // plain data always has
	}
	return b.Bytes()
}

func (o *object) schema() js {
	if o.Tag == "" {
		s := o.variant("")
		s["description"] = o.Doc
		switch o.Name {
		case "recipe":
			s["anyOf"] = []js{{"required": []string{"sources"}}, {"required": []string{"import"}}}
		case "section":
			s["oneOf"] = requireOne("from", "path", "text")
		case "summarizer":
			s["oneOf"] = requireOne("command", "openai")
			s["dependentRequired"] = js{"openai": []string{"model"}, "model": []string{"openai"},
				"api_key_env": []string{"openai"}}
		}
		return s
	}
	// What an editor offers, and what it says of a mistake, follows from the tag's value alone.
	var rules []js
	tag := &o.Fields[0]
	for _, name := range tag.Enum {
		v := o.variant(name)
		v["properties"].(js)[o.Tag] = true
		rules = append(rules, js{"if": js{"required": []string{o.Tag}, "properties": js{o.Tag: js{"const": name}}}, "then": v})
	}
	s := js{"type": "object", "description": o.Doc, "properties": js{o.Tag: o.tag()}}
	untagged := js{"required": []string{o.Tag}}
	switch {
	case o.Name == "source": // changes of an imported one
		tuned := js{o.Tag: true}
		for i := range o.Fields {
			if f := &o.Fields[i]; f.Tunes || f.Key == "id" {
				tuned[f.Key] = f.schema("")
			}
		}
		untagged = js{"properties": tuned, "required": []string{"id"}, "additionalProperties": false}
	case !tag.Must:
		untagged = o.variant("")
		untagged["properties"].(js)[o.Tag] = true
		untagged["oneOf"] = requireOne("all", "any", "not")
	}
	rules = append(rules, js{"if": js{"not": js{"required": []string{o.Tag}}}, "then": untagged})
	s["allOf"] = rules
	return s
}

// tag is the schema of the value that decides what else an object has.
func (o *object) tag() js {
	var words []js
	for _, name := range o.Fields[0].Enum {
		w := js{"const": name}
		if i := slices.IndexFunc(types, func(t typeInfo) bool { return string(t.Type) == name }); i >= 0 && o.Name == "source" {
			w["description"] = types[i].Doc
		}
		words = append(words, w)
	}
	return js{"description": o.Fields[0].Doc, "enum": o.Fields[0].Enum, "anyOf": words}
}

func requireOne(keys ...string) (all []js) {
	for _, k := range keys {
		all = append(all, js{"required": []string{k}})
	}
	return all
}

// variant is the schema of a mapping whose tag has this value.
func (o *object) variant(tag string) js {
	properties, required := js{}, []string{}
	for i := range o.Fields {
		f := &o.Fields[i]
		if !f.allows(tag) {
			continue
		}
		properties[f.Key] = f.schema(tag)
		if f.Must {
			required = append(required, f.Key)
		}
	}
	return js{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// schema is the schema of the field's value, with what an editor shows of it.
func (f *field) schema(tag string) js {
	s := f.allowed()
	s["description"] = f.Doc
	if f.Examples != nil {
		s["examples"] = f.Examples
	}
	if d := f.fallback(tag); d != "" {
		switch f.Kind {
		case text, choice:
			s["default"] = d
		default:
			s["default"] = json.RawMessage(d)
		}
	}
	return s
}

// allowed is the schema of the values that the field may have.
func (f *field) allowed() js {
	switch f.Kind {
	case version:
		return js{"anyOf": []js{{"type": "number", "minimum": 1, "exclusiveMaximum": 2}, {"type": "string", "pattern": versions().String()}}}
	case boolean:
		return js{"type": "boolean"}
	case integer, millis:
		return js{"type": "integer", "minimum": f.Min, "maximum": f.Max}
	case number:
		least := "minimum"
		if f.Above {
			least = "exclusiveMinimum"
		}
		return js{"type": "number", least: f.Min, "maximum": f.Max}
	case share:
		return js{"anyOf": []js{{"type": "integer", "minimum": 1, "maximum": maxTokens}, {"type": "string", "pattern": percentage().String(), "not": js{"pattern": noShare}}}}
	case texts, globs:
		return f.list(f.word())
	case command:
		s := f.list(f.word())
		s["prefixItems"] = []js{{"type": "string", "pattern": templates, "minLength": 1}}
		return s
	case oneOrMore:
		return js{"anyOf": []js{f.word(), f.list(f.word())}}
	case runs:
		o := objectOf(f.Of)
		i := slices.IndexFunc(o.Fields, func(f field) bool { return f.Kind == command })
		return js{"anyOf": []js{o.Fields[i].schema(""), ref(f.Of)}}
	case mapping:
		return ref(f.Of)
	case mappings:
		return f.mappings()
	case named:
		return js{"type": "object", "additionalProperties": ref(f.Of)}
	case variables:
		return js{"type": "object", "propertyNames": js{"pattern": variableName().String(), "not": js{"enum": builtinVars}}, "additionalProperties": js{"type": []string{"string", "number", "boolean"}}}
	}
	return f.word()
}

// word is the schema of a string that is the field's value, or an entry of its list.
func (f *field) word() js {
	s := js{"type": "string"}
	if f.Enum != nil {
		s["enum"] = f.Enum
	} else if f.Kind != command && f.Key != "system_prompt" {
		s["minLength"] = 1
	}
	if f.Title {
		s["maxLength"], s["not"] = maxTitle, js{"pattern": `^\s|\s$|[\x00-\x1f]`}
	}
	switch {
	case f.Kind == span:
		s["pattern"] = `^([0-9.]+(ns|us|µs|μs|ms|s|m|h|d|w))+$`
	case f.Kind == template, f.Kind == command:
		s["pattern"] = templates
	case f.Kind == globs:
		s["not"] = js{"pattern": `^/|(^|/)\.\.(/|$)`}
	case f.Kind == oneOrMore && f.Key == "import":
		s["pattern"] = imports
	}
	return s
}

// list is the schema of a list with as many items as the field may have.
func (f *field) list(items js) js {
	s := js{"type": "array", "items": items}
	if f.Min > 0 {
		s["minItems"] = f.Min
	}
	if f.Max > 0 {
		s["maxItems"] = f.Max
	}
	return s
}

// mappings is the schema of the field's list of mappings.
func (f *field) mappings() js {
	s := f.list(ref(f.Of))
	switch f.Key {
	case "fallback":
		s["items"] = ref("fallback")
	case "sources":
		s["contains"] = js{"required": []string{"type"}, "properties": js{"type": js{"const": TypeJournal}}}
		s["minContains"], s["maxContains"] = 0, 1
	}
	return s
}

// ref is the schema of a mapping of that object.
func ref(object string) js { return js{"$ref": "#/$defs/" + object} }
