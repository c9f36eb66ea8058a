package pack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/native"
)

// anyItem are items of all types, some of them with less than their provider wants.
var anyItem = []string{
	`{"type":"reasoning","id":"rs_ID","summary":[{"type":"summary_text","text":"I should look."}],"encrypted_content":"gAAA","content":null,"ts":5}`,
	`{"type":"reasoning","id":"rs_ID","content":[{"type":"input_text","text":"hm"}],"rawContent":[{"type":"reasoning_text","text":"raw"}],"providerData":{"encrypted_content":"gAAA"}}`,
	`{"type":"reasoning"}`,
	`{"type":"compaction","encrypted_content":"gAAA"}`,
	`{"type":"unknown","providerData":{}}`,
	`{"type":"function_call","id":"fc_ID","call_id":"ID","name":"ls","arguments":"{\"dir\": \"/\"}","status":"completed","ts":"now"}`,
	`{"type":"function_call","callId":"ID","name":"l s","arguments":"{"}`,
	`{"type":"function_call_output","call_id":"ID","output":"bin\netc"}`,
	`{"type":"function_call_output","call_id":"ID","output":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}],"status":"completed"}`,
	`{"type":"function_call_output","call_id":"ID","output":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="}]}`,
	`{"type":"function_call_output","call_id":"ID","output":""}`,
	`{"type":"function_call_result","callId":"ID","name":"ls","status":"completed","output":{"type":"text","text":"a.go"}}`,
	`{"type":"custom_tool_call","id":"ctc_ID","call_id":"ID","name":"apply_patch","input":"*** Begin Patch\n*** End Patch"}`,
	`{"type":"custom_tool_call_output","call_id":"ID","output":"Done."}`,
	`{"type":"computer_call","id":"cu_ID","call_id":"ID","action":{"type":"wait"},"pending_safety_checks":[],"status":"completed"}`,
	`{"type":"computer_call_output","call_id":"ID","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="}}`,
	`{"type":"computer_call_result","callId":"ID","output":{"type":"computer_screenshot","data":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="}}`,
	`{"type":"local_shell_call","id":"lsh_ID","call_id":"ID","action":{"type":"exec","command":["ls"],"env":{}},"status":"completed"}`,
	`{"type":"local_shell_call_output","id":"ID","output":"x"}`,
	`{"type":"shell_call","call_id":"ID","action":{"commands":["ls"]},"status":"completed"}`,
	`{"type":"shell_call_output","call_id":"ID","output":[{"stdout":"a\n","stderr":"","outcome":{"type":"exit","exit_code":0}}]}`,
	`{"type":"apply_patch_call","call_id":"ID","operation":{"type":"delete_file","path":"a"},"status":"completed"}`,
	`{"type":"apply_patch_call_output","call_id":"ID","status":"completed"}`,
	`{"type":"tool_search_call","call_id":null,"arguments":{"q":1}}`,
	`{"type":"tool_search_output","tools":[]}`,
	`{"type":"program","id":"p_ID","call_id":"ID","code":"1+1","fingerprint":"f"}`,
	`{"type":"program_output","id":"o_ID","call_id":"ID","result":"2","status":"completed"}`,
	`{"type":"mcp_approval_request","id":"ID","name":"rm","arguments":"{}","server_label":"s"}`,
	`{"type":"mcp_approval_response","approval_request_id":"ID","approve":false,"reason":"no"}`,
	`{"type":"web_search_call","id":"ws_ID","status":"completed","action":{"type":"search","query":"q"}}`,
	`{"type":"web_search_call","id":"ws_ID"}`,
	`{"type":"file_search_call","id":"fs_ID","status":"completed","queries":["q"],"results":[{"file_id":"f","text":"found"}]}`,
	`{"type":"code_interpreter_call","id":"ci_ID","code":"print(1)","container_id":"c","status":"completed","outputs":[{"type":"logs","logs":"1\n"}]}`,
	`{"type":"image_generation_call","id":"ig_ID","status":"completed","result":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==","revised_prompt":"a cat"}`,
	`{"type":"mcp_list_tools","id":"ml_ID","server_label":"s","tools":[{"name":"f","input_schema":{}}]}`,
	`{"type":"mcp_call","id":"mc_ID","name":"f","arguments":"{}","server_label":"s","output":"fine"}`,
	`{"type":"mcp_call","id":"mc_ID","name":"f","arguments":"{}","server_label":"s","error":{"type":"http_error","code":500,"message":"gone"}}`,
	`{"type":"hosted_tool_call","id":"h_ID","name":"web_search_call","status":"completed","output":"found","providerData":{"type":"web_search"}}`,
	`{"type":"message","role":"assistant","id":"msg_ID","status":"completed","content":[{"type":"output_text","text":"So.","annotations":[]}]}`,
	`{"type":"widget","id":"ID"}`,
}

func TestEveryTypeOfItemIsDrawn(t *testing.T) {
	for _, typ := range ctxabi.ItemTypes() {
		if !slices.ContainsFunc(anyItem, func(s string) bool { return strings.Contains(s, `{"type":"`+typ+`"`) }) {
			t.Errorf("no item of type %s", typ)
		}
	}
}

// itemsOfResponses are the items of a body, as JSON with sorted keys, without messages of others than the assistant.
func itemsOfResponses(t *testing.T, data []byte) (items []string) {
	t.Helper()
	var body struct{ Input []map[string]any }
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	for _, m := range body.Input {
		if role := m["role"]; role == nil || role == "assistant" {
			line, _ := json.Marshal(m)
			items = append(items, string(line))
		}
	}
	return items
}

// What the Responses API said goes back to it as it came, in its order; others get it in their own form.
func TestItemsGoBackAsTheyCame(t *testing.T) {
	conversation := []string{
		`{"encrypted_content":"gAAA","id":"rs_1","summary":[{"text":"I should look.","type":"summary_text"}],"type":"reasoning"}`,
		`{"arguments":"{\"dir\": \"/\"}","call_id":"call_1","id":"fc_1","name":"ls","status":"completed","type":"function_call"}`,
		`{"encrypted_content":"gBBB","id":"rs_2","summary":[],"type":"reasoning"}`,
		`{"call_id":"call_2","id":"ctc_2","input":"*** Begin Patch\n*** End Patch","name":"apply_patch","type":"custom_tool_call"}`,
		`{"action":{"query":"retry","type":"search"},"id":"ws_1","status":"completed","type":"web_search_call"}`,
		`{"call_id":"call_1","output":"bin\netc","type":"function_call_output"}`,
		`{"call_id":"call_2","output":"Done.","type":"custom_tool_call_output"}`,
		`{"action":{"commands":["make"]},"call_id":"call_3","type":"shell_call"}`,
		`{"call_id":"call_3","output":[{"outcome":{"exit_code":0,"type":"exit"},"stderr":"","stdout":"ok\n"}],"type":"shell_call_output"}`,
		`{"arguments":"{}","id":"mcp_1","name":"f","output":"fine","server_label":"s","type":"mcp_call"}`,
	}
	records := slices.Concat([]string{`{"role":"user","content":"Look."}`}, conversation, []string{`{"role":"user","content":"And now?"}`})
	in := inputOf(logOf(records...), 8000)
	got := natives(t, mustCompile(t, in), logsOf(&in), in.Budget, "")
	if items := itemsOfResponses(t, got[native.Responses].data); !slices.Equal(items, conversation) {
		t.Errorf("the items are\n%s\nwant\n%s", strings.Join(items, "\n"), strings.Join(conversation, "\n"))
	}
	for f, n := range got {
		for _, said := range []string{"bin\\netc", "apply_patch", "Done.", "web_search", "retry", "make", "fine"} {
			if !strings.Contains(string(n.data), said) {
				t.Errorf("%s lacks %q:\n%s", f, said, n.data)
			}
		}
		for _, lost := range []string{native.NoResult, "a call that is not shown", "[Another result"} {
			if strings.Contains(string(n.data), lost) {
				t.Errorf("%s has torn a call from its output:\n%s", f, n.data)
			}
		}
	}
	if b := mustCompile(t, in); strings.Contains(string(b.JSON()), `"repairs":[{`) {
		t.Errorf("what was repaired of a valid conversation: %s", b.JSON())
	}
}

// What the Agents SDK for JavaScript keeps is sent to the API under the API's names.
func TestItemsOfTheAgentsSDKGoToTheAPI(t *testing.T) {
	in := inputOf(logOf(`{"role":"user","content":"Look."}`,
		`{"type":"reasoning","id":"rs_1","content":[{"type":"input_text","text":"hm"}],"providerData":{"encrypted_content":"gAAA"}}`,
		`{"type":"function_call","id":"fc_1","callId":"call_1","name":"ls","arguments":"{}","status":"completed","providerData":{}}`,
		`{"type":"function_call_result","callId":"call_1","name":"ls","status":"completed","output":{"type":"text","text":"a.go"}}`,
		`{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"There is a.go."}]}`,
		`{"role":"user","content":"And now?"}`), 8000)
	got := natives(t, mustCompile(t, in), logsOf(&in), in.Budget, "")
	want := []string{
		`{"encrypted_content":"gAAA","id":"rs_1","summary":[{"text":"hm","type":"summary_text"}],"type":"reasoning"}`,
		`{"arguments":"{}","call_id":"call_1","id":"fc_1","name":"ls","status":"completed","type":"function_call"}`,
		`{"call_id":"call_1","output":"a.go","type":"function_call_output"}`,
		`{"content":"There is a.go.","role":"assistant","type":"message"}`,
	}
	if items := itemsOfResponses(t, got[native.Responses].data); !slices.Equal(items, want) {
		t.Errorf("the items are\n%s", strings.Join(items, "\n"))
	}
}
