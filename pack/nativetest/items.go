package nativetest

import (
	"fmt"
	"strings"
)

// itemKeys are the fields of items of Responses; those that end in "!" must be there.
var itemKeys = map[string]string{
	"custom_tool_call":        "type! call_id! name! input! id namespace async caller",
	"custom_tool_call_output": "type! call_id! output! id caller",
	"local_shell_call":        "type! id! call_id! action! status!",
	"local_shell_call_output": "type! id! output! status",
	"shell_call":              "type! call_id! action! id status environment caller",
	"shell_call_output":       "type! call_id! output! id status max_output_length caller",
	"apply_patch_call":        "type! call_id! operation! status! id caller",
	"apply_patch_call_output": "type! call_id! status! id output caller",
	"program":                 "type! id! call_id! code! fingerprint!",
	"program_output":          "type! id! call_id! result! status!",
	"mcp_approval_request":    "type! id! arguments! name! server_label!",
	"mcp_approval_response":   "type! approval_request_id! approve! id reason",
	"web_search_call":         "type! id! action! status!",
	"file_search_call":        "type! id! queries! status! results",
	"code_interpreter_call":   "type! id! code! container_id! outputs! status!",
	"mcp_list_tools":          "type! id! server_label! tools! error",
	"mcp_call":                "type! id! arguments! name! server_label! approval_request_id error output status",
	"compaction":              "type! encrypted_content! id",
}

// outputOf are the types of calls whose outputs have a type of their own.
var outputOf = map[string]string{
	"custom_tool_call_output": "custom_tool_call", "local_shell_call_output": "local_shell_call", "shell_call_output": "shell_call",
	"apply_patch_call_output": "apply_patch_call", "program_output": "program", "mcp_approval_response": "mcp_approval_request",
}

// ofItem stands before the types of open calls that are no function's.
const ofItem = "item "

// item checks an item that is neither a message, nor of a function, nor a thought. A call that answers itself waits for nothing.
func (c *checker) item(what, kind string, m object) {
	keys, known := itemKeys[kind]
	if !known {
		c.bad("%s: an item of type %q", what, kind)
		return
	}
	c.message()
	c.keys(what, m, strings.Fields(keys)...)
	for key, v := range m {
		if v == nil {
			c.bad("%s: %s is null", what, key)
		}
	}
	id := m["call_id"]
	if id == nil {
		if id = m["id"]; kind == "mcp_approval_response" {
			id = m["approval_request_id"]
		}
	}
	if call, is := outputOf[kind]; is {
		if name, _ := id.(string); c.open[name] != ofItem+call {
			c.bad("%s: an output for %q, which is not an open %s", what, name, call)
		}
		c.answer(fmt.Sprint(id))
		c.unit("tool", m)
		return
	}
	c.unit("assistant", m)
	for _, call := range outputOf {
		if call == kind {
			name, _ := id.(string)
			if name == "" || c.ids[name] {
				c.bad("%s: the id %q is empty or stands twice", what, name)
			}
			c.ids[name], c.open[name] = true, ofItem+kind
			return
		}
	}
}

// output is what a function returned: a text, or parts of it.
func (c *checker) output(what string, v any) {
	if _, is := v.([]any); !is {
		c.text(what, v)
		return
	}
	for _, p := range c.list(what, v) {
		c.keys(what, p, "type!", "text!")
		if p["type"] != "input_text" {
			c.bad("%s: a part of type %v", what, p["type"])
		}
		c.text(what, p["text"])
	}
}
