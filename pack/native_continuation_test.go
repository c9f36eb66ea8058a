package pack

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/native"
)

// rendersAll fails the test unless the rendering of the records in a format has all of the texts.
func rendersAll(t *testing.T, f native.Format, records []string, texts ...string) {
	t.Helper()
	in := inputOf(logOf(records...), 8000)
	data := string(natives(t, mustCompile(t, in), logsOf(&in), in.Budget, "")[f].data)
	for _, text := range texts {
		if !strings.Contains(data, text) {
			t.Errorf("%s has no %s in\n%s", f, text, data)
		}
	}
}

// DeepSeek and others answer 400 when the reasoning of a call is missing.
func TestReasoningContentIsReturned(t *testing.T) {
	rendersAll(t, native.OpenAI, []string{
		`{"role":"user","content":"Weather in Oslo?"}`,
		`{"role":"assistant","content":"","reasoning_content":"I need the tool.","reasoning_details":[{"type":"reasoning.encrypted","data":"x","index":1.50}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}`,
		`{"role":"tool","tool_call_id":"c1","content":"4 C"}`,
		`{"role":"assistant","content":"4 C.","reasoning":"I have it."}`,
		`{"role":"user","content":"And in Rome?"}`,
	}, `"reasoning_content":"I need the tool."`, `"reasoning_details":[{"data":"x","index":1.50,"type":"reasoning.encrypted"}]`, `"extra_content":{"google":{"thought_signature":"c2ln"}}`, `"reasoning":"I have it."`)
}

// OpenAI answers 400 to reasoning without the item that followed it, to two items of one id, and to the id of a call whose reasoning is gone.
func TestReasoningNeedsItsFollower(t *testing.T) {
	in := inputOf(logOf(
		`{"role":"user","content":"Look."}`,
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}`,
		`{"role":"user","content":"Stop."}`,
		`{"type":"function_call","id":"fc_0","call_id":"c0","name":"ls","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"c0","output":"bin"}`,
		`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gB"}`,
		`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gB"}`,
		`{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"c1","output":"bin"}`,
		`{"type":"function_call","id":"fc_1","call_id":"c2","name":"ls","arguments":"{\"half\":\"\\ud83d\"}"}`,
		`{"type":"function_call_output","call_id":"c2","output":"bin"}`,
	), 8000)
	b := mustCompile(t, in)
	data := string(natives(t, b, logsOf(&in), in.Budget, "")[native.Responses].data)
	for text, n := range map[string]int{`"rs_1"`: 0, `"rs_2"`: 1, `"fc_0"`: 0, `"fc_1"`: 1, `"call_id":"c2"`: 2, `ud83d`: 0} {
		if strings.Count(data, text) != n {
			t.Errorf("%s is there %d times, want %d\n%s", text, strings.Count(data, text), n, data)
		}
	}
	for _, want := range []string{"omitted a reasoning item that nothing follows", "omitted a repeated reasoning item", "removed the id of an item that an earlier item has", "replaced half of a surrogate pair"} {
		if !strings.Contains(string(b.JSON()), want) {
			t.Errorf("no repair %q: %v", want, parseJSON(t, b).Repairs)
		}
	}
}

// Gemini 3 answers 400 when the first call of a step lacks its signature.
func TestThoughtSignatureIsReturned(t *testing.T) {
	rendersAll(t, native.Gemini, []string{
		`{"role":"user","content":"List the root."}`,
		`{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"text","text":"Now.","thoughtSignature":"dGV4dA=="},{"type":"tool_use","id":"c1","name":"ls","input":{},"thoughtSignature":"c2lnMQ=="},{"type":"tool_use","id":"c2","name":"ls","input":{}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"bin"},{"type":"tool_result","tool_use_id":"c2","content":"etc"}]}`,
		`{"role":"assistant","tool_calls":[{"id":"c3","type":"function","function":{"name":"cat","arguments":"{}"}},{"id":"c4","type":"function","function":{"name":"cat","arguments":"{}"}}]}`,
		`{"role":"tool","tool_call_id":"c3","content":"a"}`,
		`{"role":"tool","tool_call_id":"c4","content":"b"}`,
	}, `{"text":"I look."},{"text":"Now.","thoughtSignature":"dGV4dA=="},{"functionCall":{"args":{},"name":"ls"},"thoughtSignature":"c2lnMQ=="},{"functionCall":{"args":{},"name":"ls"}}]`,
		`{"functionCall":{"args":{},"name":"cat"},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"args":{},"name":"cat"}}]`)
}
