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

// schema is the schema of the field's value.
func (f *field) schema(tag string) js {
	ref := func(of string) js { return js{"$ref": "#/$defs/" + of} }
	word := js{"type": "string"}
	if f.Enum != nil {
		word["enum"] = f.Enum
	} else if f.Kind != command && f.Key != "system_prompt" {
		word["minLength"] = 1
	}
	if f.Title {
		word["maxLength"], word["not"] = maxTitle, js{"pattern": `^\s|\s$|[\x00-\x1f]`}
	}
	list := func(items js) js {
		l := js{"type": "array", "items": items}
		if f.Min > 0 {
			l["minItems"] = f.Min
		}
		if f.Max > 0 {
			l["maxItems"] = f.Max
		}
		return l
	}
	s := word
	switch f.Kind {
	case version:
		s = js{"anyOf": []js{{"type": "number", "minimum": 1, "exclusiveMaximum": 2}, {"type": "string", "pattern": versions.String()}}}
	case span:
		word["pattern"] = `^([0-9.]+(ns|us|µs|μs|ms|s|m|h|d|w))+$`
	case template:
		word["pattern"] = templates
	case scalar, text, pattern, choice:
	case boolean:
		s = js{"type": "boolean"}
	case integer, millis:
		s = js{"type": "integer", "minimum": f.Min, "maximum": f.Max}
	case number:
		s = js{"type": "number", "minimum": f.Min, "maximum": f.Max}
		if f.Above {
			delete(s, "minimum")
			s["exclusiveMinimum"] = f.Min
		}
	case share:
		s = js{"anyOf": []js{{"type": "integer", "minimum": 1, "maximum": maxTokens}, {"type": "string", "pattern": percentage.String(), "not": js{"pattern": noShare}}}}
	case texts:
		s = list(word)
	case globs:
		word["not"] = js{"pattern": `^/|(^|/)\.\.(/|$)`}
		s = list(word)
	case command:
		word["pattern"] = templates
		s = list(word)
		s["prefixItems"] = []js{{"type": "string", "pattern": templates, "minLength": 1}}
	case oneOrMore:
		if f.Key == "import" {
			word["pattern"] = imports
		}
		s = js{"anyOf": []js{word, list(word)}}
	case runs:
		o := objectOf(f.Of)
		i := slices.IndexFunc(o.Fields, func(f field) bool { return f.Kind == command })
		s = js{"anyOf": []js{o.Fields[i].schema(""), ref(f.Of)}}
	case mapping:
		s = ref(f.Of)
	case mappings:
		s = list(ref(f.Of))
		switch f.Key {
		case "fallback":
			s["items"] = ref("fallback")
		case "sources":
			s["contains"] = js{"required": []string{"type"}, "properties": js{"type": js{"const": TypeJournal}}}
			s["minContains"], s["maxContains"] = 0, 1
		}
	case named:
		s = js{"type": "object", "additionalProperties": ref(f.Of)}
	case variables:
		s = js{"type": "object", "propertyNames": js{"pattern": variableName.String(), "not": js{"enum": builtinVars}}, "additionalProperties": js{"type": []string{"string", "number", "boolean"}}}
	}
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
