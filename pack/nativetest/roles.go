package nativetest

import (
	"encoding/json"
	"maps"
	"slices"
)

// SystemTexts returns the strings to which a body of any format gives the authority of the system: system prompts,
// instructions, and messages of the roles system and developer. It returns nil if data is no JSON object.
func SystemTexts(data []byte) (texts []string) {
	var body object
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	config, _ := body["config"].(object)
	for _, o := range []object{body, config} {
		for _, key := range []string{"system", "instructions", "systemInstruction", "system_instruction"} {
			texts = append(texts, stringsIn(o[key])...)
		}
		for _, key := range []string{"messages", "input", "contents"} {
			list, _ := o[key].([]any)
			for _, v := range list {
				if m, _ := v.(object); m["role"] == "system" || m["role"] == "developer" {
					texts = append(texts, stringsIn(m["content"])...)
					texts = append(texts, stringsIn(m["parts"])...)
				}
			}
		}
	}
	return texts
}

// Texts returns all strings of a body, without keys of objects and without thoughts of the model,
// which return to it unchanged.
func Texts(data []byte) []string {
	var body object
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	return stringsIn(withoutThoughts(body))
}

// withoutThoughts returns a value of JSON without the fields and items that hold thoughts of the model.
func withoutThoughts(v any) any {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, x := range v {
			list = append(list, withoutThoughts(x))
		}
		return list
	case object:
		if v["type"] == "thinking" || v["type"] == "reasoning" || v["thought"] == true {
			return nil
		}
		out := object{}
		for key, x := range v {
			if key != "reasoning_content" && key != "reasoning" && key != "reasoning_details" {
				out[key] = withoutThoughts(x)
			}
		}
		return out
	}
	return v
}

// stringsIn returns all strings in a value of JSON, keys of objects excluded.
func stringsIn(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, x := range v {
			list = append(list, stringsIn(x)...)
		}
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, stringsIn(v[key])...)
		}
	}
	return list
}
