package ctxabi

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Each type of item, in the form that messages have.
var items = []struct {
	line string
	want Message
}{
	{`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]}`, Message{Role: Assistant, ID: "rs_1"}},
	{`{"type":"compaction","encrypted_content":"gAAA"}`, Message{Role: Assistant}},
	{`{"type":"unknown","providerData":{"type":"new"}}`, Message{Role: Assistant}},
	{`{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{\"dir\":\"/\"}","ts":"now"}`,
		Message{Role: Assistant, ID: "fc_1", TS: "now", Calls: []Call{{"c1", "ls", `{"dir":"/"}`}}}},
	{`{"type":"function_call","callId":"c1","name":"ls","arguments":""}`, Message{Role: Assistant, Calls: []Call{{"c1", "ls", ""}}}},
	{`{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin"}`, Message{Role: Assistant, Calls: []Call{{"c1", "apply_patch", "*** Begin"}}}},
	{`{"type":"computer_call","id":"cu","call_id":"c1","action":{"type":"wait"}}`, Message{Role: Assistant, ID: "cu", Calls: []Call{{"c1", "computer", `{"type":"wait"}`}}}},
	{`{"type":"local_shell_call","call_id":"c1","action":{"command":["ls"]}}`, Message{Role: Assistant, Calls: []Call{{"c1", "local_shell", `{"command":["ls"]}`}}}},
	{`{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}}`, Message{Role: Assistant, Calls: []Call{{"c1", "shell", `{"commands":["ls"]}`}}}},
	{`{"type":"apply_patch_call","call_id":"c1","operation":{"type":"delete_file","path":"a"}}`,
		Message{Role: Assistant, Calls: []Call{{"c1", "apply_patch", `{"type":"delete_file","path":"a"}`}}}},
	{`{"type":"tool_search_call","call_id":null,"arguments":{"q":1}}`, Message{Role: Assistant, Calls: []Call{{"", "tool_search", `{"q":1}`}}}},
	{`{"type":"program","id":"p","call_id":"c1","code":"1+1"}`, Message{Role: Assistant, ID: "p", Calls: []Call{{"c1", "program", "1+1"}}}},
	{`{"type":"mcp_approval_request","id":"a1","name":"rm"}`,
		Message{Role: Assistant, ID: "a1", Calls: []Call{{"a1", "mcp_approval_request", `{"type":"mcp_approval_request","id":"a1","name":"rm"}`}}}},

	{`{"type":"function_call_output","call_id":"c1","output":"bin\netc"}`, Message{Role: Tool, CallID: "c1", Text: "bin\netc"}},
	{`{"type":"function_call_output","call_id":"c1","output":""}`, Message{Role: Tool, CallID: "c1"}},
	{`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,YWJj"}]}`,
		Message{Role: Tool, CallID: "c1", Text: "a", Images: 1}},
	{`{"type":"function_call_result","callId":"c1","name":"ls","output":{"type":"text","text":"a.go"}}`, Message{Role: Tool, CallID: "c1", Name: "ls", Text: "a.go"}},
	{`{"type":"custom_tool_call_output","call_id":"c1","output":"Done."}`, Message{Role: Tool, CallID: "c1", Text: "Done."}},
	{`{"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,YWJj"}}`, Message{Role: Tool, CallID: "c1", Images: 1}},
	{`{"type":"computer_call_result","callId":"c1","output":{"type":"computer_screenshot","data":"data:image/png;base64,YWJj"}}`, Message{Role: Tool, CallID: "c1", Images: 1}},
	{`{"type":"local_shell_call_output","id":"c1","output":"x"}`, Message{Role: Tool, ID: "c1", CallID: "c1", Text: "x"}},
	{`{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"a\n","stderr":"","outcome":{"type":"exit","exit_code":0}},{"stdout":"","stderr":"b","outcome":{"type":"timeout"}}]}`,
		Message{Role: Tool, CallID: "c1", Text: "a\n\n{\"type\":\"exit\",\"exit_code\":0}\nb\n{\"type\":\"timeout\"}"}},
	{`{"type":"apply_patch_call_output","call_id":"c1","status":"completed"}`, Message{Role: Tool, CallID: "c1", Text: "completed"}},
	{`{"type":"tool_search_output","call_id":"c1","tools":[{"type":"function","name":"f"}]}`, Message{Role: Tool, CallID: "c1", Text: `{"type":"function","name":"f"}`}},
	{`{"type":"program_output","id":"o","call_id":"c1","result":"2"}`, Message{Role: Tool, ID: "o", CallID: "c1", Text: "2"}},
	{`{"type":"mcp_approval_response","approval_request_id":"a1","approve":false,"reason":"no"}`, Message{Role: Tool, CallID: "a1", Text: "refused\nno"}},
	{`{"type":"mcp_approval_response","approval_request_id":"a1","approve":true}`, Message{Role: Tool, CallID: "a1", Text: "approved"}},

	{`{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}}`,
		Message{Role: Assistant, ID: "ws", Calls: []Call{{"ws", "web_search", `{"type":"search","query":"q"}`}}, Results: []Result{{"ws", "completed", false}}}},
	{`{"type":"file_search_call","id":"fs","status":"failed","queries":["q"],"results":null}`,
		Message{Role: Assistant, ID: "fs", Calls: []Call{{"fs", "file_search", `["q"]`}}, Results: []Result{{"fs", "failed", true}}}},
	{`{"type":"file_search_call","id":"fs","status":"completed","queries":["q"],"results":[{"file_id":"f","text":"8443\n","filename":"a.toml","score":1}]}`,
		Message{Role: Assistant, ID: "fs", Calls: []Call{{"fs", "file_search", `["q"]`}}, Results: []Result{{"fs", "a.toml\n8443\n", false}}}},
	{`{"type":"code_interpreter_call","id":"ci","code":"print(1)","outputs":[{"type":"logs","logs":"1\n"}]}`,
		Message{Role: Assistant, ID: "ci", Calls: []Call{{"ci", "code_interpreter", "print(1)"}}, Results: []Result{{"ci", "1\n", false}}}},
	{`{"type":"image_generation_call","id":"ig","result":"YWJj","output_format":"webp","revised_prompt":"a cat"}`,
		Message{Role: Assistant, ID: "ig", Calls: []Call{{"ig", "image_generation", ""}}, Results: []Result{{"ig", "a cat", false}}, Images: 1}},
	{`{"type":"mcp_list_tools","id":"ml","server_label":"s","tools":[{"name":"f"}]}`,
		Message{Role: Assistant, ID: "ml", Calls: []Call{{"ml", "mcp_list_tools", ""}}, Results: []Result{{"ml", `{"name":"f"}`, false}}}},
	{`{"type":"mcp_call","id":"mc","name":"f","arguments":"{}","output":null,"error":"gone"}`,
		Message{Role: Assistant, ID: "mc", Calls: []Call{{"mc", "f", "{}"}}, Results: []Result{{"mc", "gone", true}}}},
	{`{"type":"hosted_tool_call","id":"h","name":"web","status":"completed","output":"found"}`,
		Message{Role: Assistant, ID: "h", Calls: []Call{{"h", "web", ""}}, Results: []Result{{"h", "found", false}}}},
}

func TestItemsOfResponsesAreMessages(t *testing.T) {
	seen := map[string]bool{}
	var outliner Outliner
	for _, c := range items {
		got := DecodeMessage([]byte(c.line))
		seen[got.Item], c.want.Item = true, got.Item
		if err := CheckMessage([]byte(c.line)); err != nil || !strings.Contains(c.line, `"type":"`+got.Item+`"`) {
			t.Errorf("%s: type %q, %v", c.line, got.Item, err)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\n got %+v\nwant %+v", c.line, got, c.want)
		}
		o := outliner.Message([]byte(c.line))
		if o.Role != got.Role || o.Weight != got.Weight() || o.Answers != got.CallID || len(o.Calls) != len(got.Calls) || o.Images != got.Images || o.HasResults {
			t.Errorf("%s: the outline is %+v, of %+v", c.line, o, got)
		}
		_, parts := DecodeParts([]byte(c.line))
		if len(parts) == 0 {
			t.Errorf("%s has no parts", c.line)
		}
		if images := len(Payloads([]byte(c.line))); images != got.Images {
			t.Errorf("%s: %d payloads of %d images", c.line, images, got.Images)
		}
	}
	for _, typ := range ItemTypes() {
		if !seen[typ] {
			t.Errorf("no test has an item of type %s", typ)
		}
	}
}

func TestWhatIsNoItemIsRefusedWithTheReason(t *testing.T) {
	var outliner Outliner
	for line, why := range map[string]string{
		`{"type":"widget"}`:                                       `"widget" is no type of an item`,
		`{"type":5}`:                                              `5 is no type of an item`,
		`{"type":"message","content":"x"}`:                        `a message has a "role"`,
		`{"type":"item_reference","id":"rs_1"}`:                   "append the item itself",
		`{"type":"configuration_update"}`:                         "no history",
		`{"type":"function_call","call_id":"c1","arguments":""}`:  `has no "name"`,
		`{"type":"mcp_call","id":"c1","name":7}`:                  `has no "name"`,
		`{"type":"function_call_output","call_id":"c1"}`:          `has no "output"`,
		`{"type":"function_call_output","output":null}`:           `has no "output"`,
		`{"type":"reasoning","role":"robot"}`:                     "role is",
		`{"type":"function_call","name":"f","role":null}`:         "role is null",
		`{"type":"function_call","type":"no","name":"f"}`:         `"no" is no type`,
		`{"content":"x"}`:                                         `has no "role"; use one of`,
		`{"type":"function_call_output","call_id":"c","role":""}`: "role is",
	} {
		err := CheckMessage([]byte(line))
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", line, err, why)
		}
		if m, o := DecodeMessage([]byte(line)), outliner.Message([]byte(line)); m.Role != RoleUnknown || m.Text != line || m.Item != "" || o.Role != RoleUnknown || o.Weight != m.Weight() {
			t.Errorf("%s is read as %+v, outlined as %+v", line, m, o)
		}
	}
}

func TestTheDocumentHasEveryTypeOfItem(t *testing.T) {
	doc, err := os.ReadFile("../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	_, doc, _ = bytes.Cut(doc, []byte("### Items of Responses"))
	doc, _, _ = bytes.Cut(doc, []byte("\n### "))
	table, rest, _ := bytes.Cut(doc, []byte("```json"))
	_, rest, _ = bytes.Cut(rest, []byte("The list is closed."))
	listed := map[string]bool{}
	for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllSubmatch(table, -1) {
		listed[string(name[1])] = true
	}
	for _, typ := range ItemTypes() {
		if !listed[typ] {
			t.Errorf("docs/abi.md does not list %s", typ)
		}
	}
	for typ := range orders {
		if typ != "message" && !bytes.Contains(rest, []byte("`"+typ+"`")) {
			t.Errorf("docs/abi.md does not say that %s is refused", typ)
		}
	}
}

// Whatever stands in an item, the check, the normal form and the outline agree, and each line is read to its end.
func TestItemsAreReadAlike(t *testing.T) {
	keys := []string{"id", "call_id", "callId", "name", "arguments", "input", "action", "actions", "operation", "code", "queries", "output", "outputs", "result", "results",
		"revised_prompt", "error", "status", "approve", "approval_request_id", "reason", "tools", "content", "summary", "ts", "role"}
	values := []string{`null`, `""`, `"a"`, `"failed"`, `"\ud800\n"`, `true`, `1.5`, `{}`, `[]`, `["a",{"type":"text","text":"b"},5]`, `{"type":"input_image","image_url":"x"}`,
		`[{"type":"logs","logs":"c"},{"stdout":"d","stderr":1,"outcome":{}},{"filename":"f","text":"g"},{"type":"input_file","filename":"f","file_data":"data:a/b;base64,YWJj"}]`,
		`[{"type":"tool_use","id":"t","name":"n"},{"type":"tool_result","tool_use_id":"t","content":"r"}]`}
	var outliner Outliner
	rapid.Check(t, func(t *rapid.T) {
		line := `{"type":"` + rapid.SampledFrom(ItemTypes()).Draw(t, "type") + `"`
		for range rapid.IntRange(0, 8).Draw(t, "fields") {
			line += `,"` + rapid.SampledFrom(keys).Draw(t, "key") + `":` + rapid.SampledFrom(values).Draw(t, "value")
		}
		line += "}"
		err, m, o := CheckMessage([]byte(line)), DecodeMessage([]byte(line)), outliner.Message([]byte(line))
		if (err == nil) != (o.Role != RoleUnknown) || err == nil && m.Role != o.Role || o.Weight != m.Weight() || err == nil && (len(o.Calls) != len(m.Calls) || o.Images != m.Images) {
			t.Fatalf("%s: %v\n%+v\n%+v", line, err, m, o)
		}
		said, parts := DecodeParts([]byte(line))
		if !reflect.DeepEqual(said, m) || m.Role == Assistant && m.Item != "" && len(parts) == 0 || !utf8.ValidString(m.Text) {
			t.Fatalf("%s: %+v\n%+v", line, said, parts)
		}
	})
}
