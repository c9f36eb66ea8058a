package recipe

import (
	"bytes"
	"encoding/json"
	"slices"
)

// js is a piece of JSON Schema.
type js map[string]any

// Schema is the JSON Schema (draft 2020-12) of a recipe, for editors. It knows
// keys, types, ranges and choices; only Load knows patterns, ids and imports.
func Schema() []byte {
	defs := js{}
	for i := range objects {
		defs[objects[i].Name] = objects[i].schema()
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
	var variants []js
	for _, tag := range o.Fields[0].Enum {
		v := o.variant(tag)
		v["properties"].(js)[o.Tag] = js{"const": tag, "description": o.Fields[0].Doc}
		v["required"] = append([]string{o.Tag}, slices.DeleteFunc(v["required"].([]string), func(s string) bool { return s == o.Tag })...)
		variants = append(variants, v)
	}
	switch {
	case o.Name == "source": // changes of an imported one
		tuned := js{}
		for i := range o.Fields {
			if f := &o.Fields[i]; f.Tunes || f.Key == "id" {
				tuned[f.Key] = f.schema("")
			}
		}
		variants = append(variants, js{"type": "object", "properties": tuned, "required": []string{"id"}, "additionalProperties": false})
	case !o.Fields[0].Must:
		v := o.variant("")
		delete(v["properties"].(js), o.Tag)
		v["oneOf"] = requireOne("all", "any", "not")
		variants = append(variants, v)
	}
	return js{"description": o.Doc, "anyOf": variants}
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
		s = js{"type": []string{"string", "number"}}
	case scalar, span, text, template, pattern, choice:
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
		s = js{"anyOf": []js{{"type": "integer", "minimum": 1, "maximum": maxTokens}, {"type": "string", "pattern": percentage.String()}}}
	case texts, globs, command:
		s = list(word)
	case oneOrMore:
		s = js{"anyOf": []js{word, list(word)}}
	case runs:
		o := objectOf(f.Of)
		i := slices.IndexFunc(o.Fields, func(f field) bool { return f.Kind == command })
		s = js{"anyOf": []js{o.Fields[i].schema(""), ref(f.Of)}}
	case mapping:
		s = ref(f.Of)
	case mappings:
		s = list(ref(f.Of))
	case named:
		s = js{"type": "object", "additionalProperties": ref(f.Of)}
	case variables:
		s = js{"type": "object", "propertyNames": js{"pattern": variableName.String()}, "additionalProperties": js{"type": []string{"string", "number", "boolean"}}}
	}
	s["description"] = f.Doc
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
