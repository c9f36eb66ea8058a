package native

import (
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/pack/record"
)

// itemShape is how Responses takes the items of a type: its fields with the kinds of their values, s for a string, l for a list, o for an
// object, b for true or false, * for any. An item with another value in a field that it must have is written as a call of a function,
// or its output.
type itemShape struct {
	must, may map[string]byte
	status    []string // that it may have
	output    string   // the type of the only items that may hold its result; "": any
	own       bool     // its result stands in it
	idPrefix  string   // of its own id, where that may be left out
}

var (
	someStatus = []string{"in_progress", "completed", "incomplete"}
	codeStatus = []string{"in_progress", "completed", "incomplete", "interpreting", "failed"}
	findStatus = []string{"in_progress", "searching", "completed", "incomplete", "failed"}
	mcpStatus  = []string{"in_progress", "completed", "incomplete", "calling", "failed"}
)

// itemShapes are the items that stand as they are. The values are as in ResponseInputItem of openai 7.57 for JavaScript.
var itemShapes = map[string]itemShape{
	"function_call":        {must: fields("call_id:s name:s arguments:s"), may: fields("id:s status:s namespace:s async:b caller:o"), status: someStatus, idPrefix: "fc"},
	"function_call_output": {must: fields("call_id:s output:*"), may: fields("id:s status:s name:s namespace:s caller:o"), status: someStatus, idPrefix: "fc"},
	"custom_tool_call": {must: fields("call_id:s name:s input:s"), may: fields("id:s namespace:s async:b caller:o"), idPrefix: "ctc",
		output: "custom_tool_call_output"},
	"custom_tool_call_output": {must: fields("call_id:s output:*"), may: fields("id:s caller:o"), idPrefix: "ctc"},
	"local_shell_call":        {must: fields("id:s call_id:s action:o status:s"), status: someStatus, output: "local_shell_call_output"},
	"local_shell_call_output": {must: fields("id:s output:s"), may: fields("status:s"), status: someStatus},
	"shell_call":              {must: fields("call_id:s action:o"), may: fields("id:s status:s environment:o caller:o"), status: someStatus, output: "shell_call_output"},
	"shell_call_output":       {must: fields("call_id:s output:l"), may: fields("id:s status:s max_output_length:* caller:o"), status: someStatus},
	"apply_patch_call":        {must: fields("call_id:s operation:o status:s"), may: fields("id:s caller:o"), status: someStatus[:2], output: "apply_patch_call_output"},
	"apply_patch_call_output": {must: fields("call_id:s status:s"), may: fields("id:s output:s caller:o"), status: []string{"completed", "failed"}},
	"program":                 {must: fields("id:s call_id:s code:s fingerprint:s"), output: "program_output"},
	"program_output":          {must: fields("id:s call_id:s result:s status:s"), status: someStatus[1:]},
	"mcp_approval_request":    {must: fields("id:s arguments:s name:s server_label:s"), output: "mcp_approval_response"},
	"mcp_approval_response":   {must: fields("approval_request_id:s approve:b"), may: fields("id:s reason:s")},

	"web_search_call":       {own: true, must: fields("id:s action:o status:s"), status: findStatus},
	"file_search_call":      {own: true, must: fields("id:s queries:l status:s"), may: fields("results:l"), status: findStatus},
	"code_interpreter_call": {own: true, must: fields("id:s code:s container_id:s outputs:l status:s"), status: codeStatus},
	"mcp_list_tools":        {own: true, must: fields("id:s server_label:s tools:l"), may: fields("error:s")},
	"mcp_call":              {own: true, must: fields("id:s arguments:s name:s server_label:s"), may: fields("approval_request_id:s error:* output:s status:s"), status: mcpStatus},

	"reasoning":  {must: fields("id:s summary:l"), may: fields("content:l encrypted_content:s status:s"), status: someStatus},
	"compaction": {must: fields("encrypted_content:s"), may: fields("id:s"), idPrefix: "cmp"},
}

func fields(list string) map[string]byte {
	m := map[string]byte{}
	for _, f := range strings.Fields(list) {
		name, kind, _ := strings.Cut(f, ":")
		m[name] = kind[0]
	}
	return m
}

// isOf reports whether a value is of a kind of [itemShape].
func isOf(v any, kind byte) bool {
	switch v := v.(type) {
	case string:
		return kind == '*' || kind == 's' && v != ""
	case []any:
		return kind == '*' || kind == 'l'
	case object:
		return kind == '*' || kind == 'o'
	case bool:
		return kind == '*' || kind == 'b'
	}
	return kind == '*' && v != nil
}

// item returns an item as Responses takes it, nil where it would be refused. What the API does not know of it is left out.
func item(raw []byte) object {
	v, ok := record.ReadJSON(string(raw))
	o, is := v.(object)
	if !ok || !is {
		return nil
	}
	kind, _ := o["type"].(string)
	shape, known := itemShapes[kind]
	if !known {
		return nil
	}
	fromAgents(o)
	out := object{"type": kind}
	for name, of := range shape.must {
		if !isOf(o[name], of) || name == "status" && !slices.Contains(shape.status, o[name].(string)) {
			return nil
		}
		out[name] = o[name]
	}
	for name, of := range shape.may {
		v := o[name]
		switch text, _ := v.(string); {
		case !isOf(v, of), name == "status" && !slices.Contains(shape.status, text), name == "id" && !strings.HasPrefix(text, shape.idPrefix):
			continue
		}
		out[name] = v
	}
	if output, has := out["output"].([]any); has && strings.HasPrefix(kind, "function_") && !saysTexts(output) {
		return nil
	}
	return out
}

// fromAgents renames the fields that the Agents SDK for JavaScript calls otherwise.
func fromAgents(o object) {
	if _, has := o["call_id"]; !has && o["callId"] != nil {
		o["call_id"] = o["callId"]
	}
	if o["type"] != "reasoning" || o["summary"] != nil {
		return
	}
	list := []any{}
	texts, _ := o["content"].([]any)
	for _, part := range texts {
		if p, _ := part.(object); isOf(p["text"], 's') {
			list = append(list, object{"type": "summary_text", "text": p["text"]})
		}
	}
	data, _ := o["providerData"].(object)
	o["summary"], o["encrypted_content"] = list, data["encrypted_content"]
	delete(o, "content")
	if raw, has := o["rawContent"].([]any); has {
		o["content"] = raw
	}
}

// saysTexts reports whether the parts of an output are texts that say something.
func saysTexts(output []any) bool {
	for _, part := range output {
		p, _ := part.(object)
		text, _ := p["text"].(string)
		if len(p) != 2 || p["type"] != "input_text" || strings.TrimSpace(text) == "" {
			return false
		}
	}
	return len(output) > 0
}

// itemsOf are the calls of a turn that stand as items, by the id of the call, and their results that do.
type itemsOf struct {
	calls, results map[string]object
}

// itemsAt finds the items of turn i.
func (d *Dialogue) itemsAt(i int) (x itemsOf) {
	if !slices.ContainsFunc(d.turns[i].parts, func(p filled) bool { return p.kind == record.CallPortion && p.raw != nil }) {
		return x
	}
	x = itemsOf{map[string]object{}, map[string]object{}}
	results := map[string]*filled{}
	for k := i + 1; k < len(d.turns) && d.turns[k].by == byTools; k++ {
		for n := range d.turns[k].parts {
			results[d.turns[k].parts[n].id] = &d.turns[k].parts[n]
		}
	}
	for _, p := range d.turns[i].parts {
		if p.kind == record.CallPortion && p.raw != nil {
			x.pair(p, results[p.id])
		}
	}
	return x
}

// pair adds a call and its result, which is nil or a text where none has come.
func (x *itemsOf) pair(p filled, result *filled) {
	call := item(p.raw)
	if call == nil {
		return
	}
	shape := itemShapes[call["type"].(string)]
	var out object
	if result != nil && result.raw != nil {
		out = item(result.raw)
	}
	switch {
	case shape.own:
		if result != nil && result.raw != nil {
			x.calls[p.id], x.results[p.id] = call, object{}
		}
	case call["type"] == "function_call":
		if rawArguments(p.text) != p.text {
			return
		}
		if x.calls[p.id] = call; out != nil && out["type"] == "function_call_output" {
			x.results[p.id] = out
		}
	case call["type"] == "custom_tool_call":
		if x.calls[p.id] = call; out == nil || out["type"] != shape.output {
			out = object{"type": shape.output, "call_id": p.id, "output": NoResult}
			if result != nil {
				out["output"] = result.content()
			}
		}
		x.results[p.id] = out
	case out != nil && out["type"] == shape.output:
		x.calls[p.id], x.results[p.id] = call, out
	}
}

// add adds the items of another turn.
func (x *itemsOf) add(more itemsOf) {
	if x.results == nil {
		x.results = map[string]object{}
	}
	maps.Copy(x.results, more.results)
}
