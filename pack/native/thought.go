package native

import (
	"bytes"
	"encoding/json"
	"maps"
)

// thought is a part of thinking in the form of a provider; nil when it is not one of its own, or would be refused.
func thought(raw []byte, f Format) object {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var t object
	if d.Decode(&t) != nil {
		return nil
	}
	filled := func(key string) bool { s, ok := t[key].(string); return ok && s != "" }
	_, thinks := t["thinking"].(string)
	switch {
	case f == Anthropic && t["type"] == "thinking" && thinks && filled("signature"):
		return object{"type": "thinking", "thinking": t["thinking"], "signature": t["signature"]}
	case f == Anthropic && t["type"] == "redacted_thinking" && filled("data"):
		return object{"type": "redacted_thinking", "data": t["data"]}
	case f == Responses && t["type"] == "reasoning" && filled("id"):
		if _, ok := t["summary"].([]any); !ok {
			t["summary"] = []any{}
		}
		maps.DeleteFunc(t, func(_ string, v any) bool { return v == nil }) // Codex writes "content":null, which the API's type does not have
		return t
	}
	return nil
}
