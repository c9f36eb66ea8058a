package nativetest

import (
	"strings"
	"testing"
)

// A conversation that each format allows, in which the cases below break one thing.
var valid = map[string]string{
	"openai": `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Look."},
{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"dir\":\"/\"}"}}]},
{"role":"tool","tool_call_id":"c1","content":"bin"},{"role":"user","content":"And?"}],
"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}]}`,
	"anthropic": `{"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":[{"type":"text","text":"Look."}]},
{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"c1","name":"ls","input":{"dir":"/"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"bin"},{"type":"text","text":"And?"}]}],
"tools":[{"name":"ls","input_schema":{"type":"object"}}]}`,
	"responses": `{"input":[{"type":"message","role":"user","content":"Look."},{"type":"reasoning","id":"rs_1","summary":[]},
{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"dir\":\"/\"}"},{"type":"reasoning","id":"rs_2","summary":[]},
{"type":"shell_call","call_id":"c2","action":{"commands":["ls"]}},
{"type":"function_call_output","call_id":"c1","output":"bin"},{"type":"shell_call_output","call_id":"c2","output":[]},
{"type":"web_search_call","id":"ws_1","action":{"type":"search"},"status":"completed"},{"type":"message","role":"user","content":"And?"}],
"tools":[{"type":"function","name":"ls","parameters":{"type":"object"},"strict":false}]}`,
	"gemini": `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Look."}]},
{"role":"model","parts":[{"functionCall":{"name":"ls","args":{"dir":"/"}},"thoughtSignature":"c2ln"}]},
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"bin"}}},{"text":"And?"}]}],
"tools":[{"functionDeclarations":[{"name":"ls","parametersJsonSchema":{"type":"object"}}]}]}`,
	"genai": `{"contents":[{"role":"user","parts":[{"text":"Look."}]}],"config":{"systemInstruction":{"parts":[{"text":"Be brief."}]}}}`,
}

func TestAValidBodyHasNoViolations(t *testing.T) {
	for format, body := range valid {
		got, violations := Check(format, []byte(body), func(s string) int { return len(s) })
		if len(violations) > 0 || len(got.Units) == 0 || got.Tokens == 0 {
			t.Errorf("%s: %d units, %d tokens, %q", format, len(got.Units), got.Tokens, violations)
		}
	}
}

// What a provider answers with 400 is a violation, and the sentence says which.
func TestBrokenBodiesAreViolations(t *testing.T) {
	for _, c := range []struct{ format, old, new, why string }{
		{"openai", `"content":"bin"`, `"content":""`, "is blank"},
		{"openai", `"content":"I look."`, `"content":" \n"`, "is blank"},
		{"openai", `{\"dir\":\"/\"}`, `*** Begin Patch`, "arguments are not a string that holds an object"},
		{"openai", `"arguments":"{\"dir\":\"/\"}"`, `"arguments":{"dir":"/"}`, "arguments are not a string that holds an object"},
		{"openai", `"tool_call_id":"c1"`, `"tool_call_id":"c2"`, "not an open call"},
		{"openai", `{"role":"tool","tool_call_id":"c1","content":"bin"},`, ``, "1 calls have no result"},
		{"openai", `"id":"c1"`, `"id":"c 1"`, "is not an id"},
		{"openai", `"name":"ls","arguments"`, `"name":"l s","arguments"`, "is not the name of a tool"},
		{"openai", `"parameters":{"type":"object"}`, `"parameters":{"type":"string"}`, "the schema is not of an object"},
		{"openai", `"role":"user"`, `"role":"human"`, `the role "human"`},
		{"openai", `"role":"system"`, `"cache_control":{},"role":"system"`, "is not a key of it"},
		{"anthropic", `"signature":"c2ln"`, `"signature":""`, "thinking without signature"},
		{"anthropic", `{"type":"tool_use","id":"c1","name":"ls","input":{"dir":"/"}}`, `{"type":"text","text":"x"},{"type":"thinking","thinking":"x","signature":"x"}`, "ends in thinking"},
		{"anthropic", `{"type":"tool_result","tool_use_id":"c1","content":"bin"},{"type":"text","text":"And?"}`, `{"type":"text","text":"And?"},{"type":"tool_result","tool_use_id":"c1","content":"bin"}`, "a result behind other content"},
		{"anthropic", `{"type":"tool_result","tool_use_id":"c1","content":"bin"},`, ``, "1 calls have no result"},
		{"anthropic", `"tool_use_id":"c1"`, `"tool_use_id":"c9"`, "not an open call"},
		{"anthropic", `{"role":"user","content":[{"type":"text","text":"Look."}]},`, ``, "the first message is not the user's"},
		{"anthropic", `{"role":"assistant"`, `{"role":"user","content":[{"type":"text","text":"Still."}]},{"role":"assistant"`, "user speaks twice"},
		{"anthropic", `"text":"And?"}]}]`, `"text":"And?"}]},{"role":"assistant","content":[{"type":"text","text":"So "}]}]`, "the last message is not the user's"},
		{"anthropic", `"input":{"dir":"/"}`, `"input":"/"`, "arguments are not an object"},
		{"anthropic", `,
"tools":[{"name":"ls","input_schema":{"type":"object"}}]`, ``, "there are calls and no tools"},
		{"responses", `"id":"rs_1","summary":[]`, `"id":"rs_1","summary":[],"content":null`, "is null"},
		{"responses", `{"type":"function_call_output","call_id":"c1","output":"bin"},`, ``, "1 calls have no result"},
		{"responses", `{"type":"shell_call_output","call_id":"c2","output":[]},`, `{"type":"function_call_output","call_id":"c2","output":"x"},`, "of another kind"},
		{"responses", `{"type":"shell_call_output","call_id":"c2","output":[]},`, `{"type":"reasoning","id":"rs_3","summary":[]},`, "1 calls have no result"},
		{"responses", `{"type":"function_call_output","call_id":"c1","output":"bin"}`, `{"type":"custom_tool_call_output","call_id":"c1","output":"bin"}`, "not an open custom_tool_call"},
		{"responses", `"status":"completed"}`, `"status":"completed","ts":1}`, "ts is not a key of it"},
		{"responses", `{"type":"shell_call","call_id":"c2"`, `{"type":"reasoning","id":"rs_1","summary":[]},{"type":"shell_call","call_id":"c2"`, "rs_1 is there twice"},
		{"responses", `{"type":"message","role":"user","content":"And?"}`, `{"type":"reasoning","id":"rs_9","summary":[]},{"type":"message","role":"user","content":"And?"}`, "without the item that follows it"},
		{"openai", `{\"dir\":\"/\"}`, `{\"dir\":\"\\ud83d\"}`, "half of a surrogate pair"},
		{"responses", `,"status":"completed"}`, `}`, "no status"},
		{"responses", `{"type":"web_search_call"`, `{"type":"widget"`, `an item of type "widget"`},
		{"responses", `"output":"bin"`, `"output":[{"type":"text","text":"x"}]`, "a part of type text"},
		{"responses", `"strict":false`, `"strict":null`, "strict is neither true nor false"},
		{"gemini", `"name":"ls","response"`, `"name":"cat","response"`, "not the next of the calls"},
		{"gemini", `{"functionResponse":{"name":"ls","response":{"output":"bin"}}},`, ``, "1 calls have no response"},
		{"gemini", `,"thoughtSignature":"c2ln"`, ``, "the first call of a step without a signature"},
		{"gemini", `{"text":"Look."}`, `{"text":"Look.","thoughtSignature":"c2ln"}`, "of user"},
		{"openai", `"content":"I look."`, `"content":"I look.","reasoning_content":null`, "reasoning_content is"},
		{"openai", `{"role":"user","content":"Look."}`, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,PGh0bWw+"}}]}`, "an image of type png that is one of"},
		{"gemini", `"args":{"dir":"/"}`, `"args":[]`, "arguments are not an object"},
		{"gemini", `{"text":"Look."}`, `{"text":""}`, "is blank"},
		{"gemini", `"role":"model"`, `"role":"assistant"`, `the role "assistant"`},
		{"genai", `"config":{"systemInstruction"`, `"systemInstruction":{},"config":{"systemInstruction"`, "systemInstruction is not a key of it"},
		{"genai", `]}]`, `]}`, "not an object of JSON"},
	} {
		body := strings.Replace(valid[c.format], c.old, c.new, 1)
		if body == valid[c.format] {
			t.Errorf("%s has no %s", c.format, c.old)
		}
		_, violations := Check(c.format, []byte(body), func(s string) int { return len(s) })
		if all := strings.Join(violations, "\n"); !strings.Contains(all, c.why) || all == "" {
			t.Errorf("%s with %s: %q, want %q", c.format, c.new, violations, c.why)
		}
	}
}
