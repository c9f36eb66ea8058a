package native

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// thought returns a thinking part in the form of a provider, or nil if the part comes from another
// provider or the provider would refuse it. In OpenAI's Chat API it is a set of message fields,
// which a service with that API must get back as it returned them.
func thought(raw []byte, f Format) object {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var t object
	if d.Decode(&t) != nil {
		return nil
	}
	if f == OpenAI {
		r, _ := ctxabi.ReasoningOf(raw)
		out := object{}
		for key, v := range map[string]json.RawMessage{"reasoning_content": r.ReasoningContent, "reasoning": r.Reasoning, "reasoning_details": r.ReasoningDetails} {
			if v != nil {
				out[key] = t[key]
			}
		}
		return out
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
