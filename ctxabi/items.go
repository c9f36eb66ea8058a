package ctxabi

import (
	"maps"
	"slices"
)

// An item is a record of messages.jsonl without a role: what the Responses API of OpenAI and the Agents SDKs call an item of a
// conversation. Its type says what it is. In the normal form a call is a message of an assistant that calls a tool, an output is a
// message of a tool, and what a provider's own tool did is a message of an assistant that has the call and its result.

// itemKind is how the items of one type are read.
type itemKind struct {
	role Role
	call bool     // it calls a tool
	own  bool     // the result of that call stands in the item
	tool string   // the name of the tool; "": the item has it
	id   []string // the fields that may hold the id of the call: the first one that is not empty counts
	args []string // those that may hold its arguments; nil: the item is the arguments
	out  []string // those that may hold its result
}

var (
	byCallID = []string{"call_id", "callId", "id"}
	byID     = []string{"id", "call_id", "callId"}
	approval = []string{"approval_request_id"}
	output   = []string{"output"}
	none     = []string{}
)

// itemKinds are the types of items that a conversation may have: those of ResponseInputItem and ResponseItem in openai 7.57 for JavaScript,
// without those that only tell a server what to do, and those of AgentInputItem in @openai/agents 0.20.
var itemKinds = map[string]*itemKind{
	"reasoning":  {role: Assistant},
	"compaction": {role: Assistant},
	"unknown":    {role: Assistant},

	"function_call":        {role: Assistant, call: true, id: byCallID, args: []string{"arguments"}},
	"custom_tool_call":     {role: Assistant, call: true, id: byCallID, args: []string{"input"}},
	"computer_call":        {role: Assistant, call: true, tool: "computer", id: byCallID, args: []string{"action", "actions"}},
	"local_shell_call":     {role: Assistant, call: true, tool: "local_shell", id: byCallID, args: []string{"action"}},
	"shell_call":           {role: Assistant, call: true, tool: "shell", id: byCallID, args: []string{"action"}},
	"apply_patch_call":     {role: Assistant, call: true, tool: "apply_patch", id: byCallID, args: []string{"operation"}},
	"tool_search_call":     {role: Assistant, call: true, tool: "tool_search", id: byCallID, args: []string{"arguments"}},
	"program":              {role: Assistant, call: true, tool: "program", id: byCallID, args: []string{"code"}},
	"mcp_approval_request": {role: Assistant, call: true, tool: "mcp_approval_request", id: byID},

	"function_call_output":    {role: Tool, id: byCallID, out: output},
	"function_call_result":    {role: Tool, id: byCallID, out: output},
	"custom_tool_call_output": {role: Tool, id: byCallID, out: output},
	"computer_call_output":    {role: Tool, id: byCallID, out: output},
	"computer_call_result":    {role: Tool, id: byCallID, out: output},
	"local_shell_call_output": {role: Tool, id: byCallID, out: output},
	"shell_call_output":       {role: Tool, id: byCallID, out: output},
	"apply_patch_call_output": {role: Tool, id: byCallID, out: []string{"output", "status"}},
	"tool_search_output":      {role: Tool, id: byCallID, out: []string{"tools"}},
	"program_output":          {role: Tool, id: byCallID, out: []string{"result"}},
	"mcp_approval_response":   {role: Tool, id: approval, out: []string{"approve"}},

	"web_search_call":       {role: Assistant, call: true, own: true, tool: "web_search", id: byID, args: []string{"action"}, out: []string{"status"}},
	"file_search_call":      {role: Assistant, call: true, own: true, tool: "file_search", id: byID, args: []string{"queries"}, out: []string{"results", "status"}},
	"code_interpreter_call": {role: Assistant, call: true, own: true, tool: "code_interpreter", id: byID, args: []string{"code"}, out: []string{"outputs", "status"}},
	"image_generation_call": {role: Assistant, call: true, own: true, tool: "image_generation", id: byID, args: none, out: []string{"revised_prompt", "status"}},
	"mcp_list_tools":        {role: Assistant, call: true, own: true, tool: "mcp_list_tools", id: byID, args: none, out: []string{"tools"}},
	"mcp_call":              {role: Assistant, call: true, own: true, id: byID, args: []string{"arguments"}, out: []string{"output", "error", "status"}},
	"hosted_tool_call":      {role: Assistant, call: true, own: true, id: byID, args: []string{"arguments"}, out: []string{"output", "status"}},
}

// orders are types of items that are no history: they tell a server what to do.
var orders = map[string]string{
	"item_reference":       "it names an item that a server keeps; append the item itself",
	"compaction_trigger":   "it tells a server what to do and is no history",
	"configuration_update": "it tells a server what to do and is no history",
	"additional_tools":     "it defines tools; write them to tools.json",
	"message":              `a message has a "role"`,
}

// ItemTypes returns the types of the items that messages.jsonl takes, sorted.
func ItemTypes() []string { return slices.Sorted(maps.Keys(itemKinds)) }

// item is an item as it stands in the record.
type item struct {
	*itemKind
	typ, raw                     []byte
	callID, name, args, out      []byte
	status, failure, data, words []byte
}

// readItem reads the item that is all of line, whose type is typ. It returns nil where the type is none of [ItemTypes]. line must be valid.
func readItem(line, typ []byte) *item {
	if !isString(typ) {
		return nil
	}
	kind := itemKinds[string(textBytes(typ))]
	if kind == nil {
		return nil
	}
	it := &item{itemKind: kind, typ: typ, raw: line}
	ids, args, outs := make([][]byte, len(kind.id)), make([][]byte, len(kind.args)), make([][]byte, len(kind.out))
	take := func(key, value []byte, names []string, values [][]byte) {
		for i, name := range names {
			if isKey(key, name) {
				values[i] = value
			}
		}
	}
	scanObject(line, func(key, value []byte) {
		take(key, value, kind.id, ids)
		take(key, value, kind.args, args)
		take(key, value, kind.out, outs)
		switch {
		case isKey(key, "name"):
			it.name = value
		case isKey(key, "status"):
			it.status = value
		case isKey(key, "error"):
			it.failure = value
		case isKey(key, "result"):
			it.data = value
		case isKey(key, "reason"):
			it.words = value
		}
	})
	it.callID, it.args, it.out = firstSaid(ids), firstSaid(args), firstSaid(outs)
	if kind.call && kind.args == nil {
		it.args = line
	}
	if kind.tool != "" {
		it.name = []byte(`"` + kind.tool + `"`)
	}
	return it
}

// firstSaid returns the first value that is neither null nor an empty string, nil where there is none.
func firstSaid(values [][]byte) []byte {
	for _, v := range values {
		if len(v) > 0 && v[0] != 'n' && string(v) != `""` {
			return v
		}
	}
	return nil
}

// problem returns what the item lacks, "" for nothing.
func (it *item) problem() string {
	switch {
	case it.call && len(textBytes(it.name)) == 0, it.call && !isString(it.name):
		return `has no "name" of the tool that it calls`
	case it.role == Tool && it.out == nil && !it.hasEmptyOutput():
		return `has no "` + it.itemKind.out[0] + `"`
	}
	return ""
}

// hasEmptyOutput reports whether the output is there and empty.
func (it *item) hasEmptyOutput() (has bool) {
	scanObject(it.raw, func(key, value []byte) {
		if isKey(key, it.itemKind.out[0]) {
			has = string(value) == `""`
		}
	})
	return has
}

// item notes the pieces of an item.
func (p *parts) item(it *item) {
	switch {
	case it.role == Tool:
		p.text = p.output(p.text, it)
	case !it.call:
		p.noteData(PartThinking, it.raw)
	default:
		p.note(PartCall, len(p.calls))
		p.calls = append(p.calls, callParts{id: it.callID, name: it.name, arguments: it.args})
	}
	if !it.own {
		return
	}
	from, outside := len(p.inner), len(p.order)
	p.inner = p.output(p.inner, it)
	r := resultParts{callID: it.callID, from: from, to: len(p.inner)}
	if it.failed() {
		r.isError = []byte("true")
	}
	r.order, p.order = slices.Clone(p.order[outside:]), p.order[:outside]
	p.note(PartResult, len(p.results))
	p.results = append(p.results, r)
}

// failed reports whether the provider's tool failed.
func (it *item) failed() bool {
	return len(it.failure) > 0 && it.failure[0] != 'n' || string(textBytes(it.status)) == "failed"
}

// output notes what a call came to and adds its texts to texts.
func (p *parts) output(texts []piece, it *item) []piece {
	switch string(textBytes(it.typ)) {
	case "mcp_approval_response":
		said := piece{raw: []byte(`"refused"`)}
		if string(it.out) == "true" {
			said.raw = []byte(`"approved"`)
		}
		p.note(PartText, len(texts))
		texts = append(texts, said)
		if isString(it.words) {
			p.note(PartText, len(texts))
			texts = append(texts, piece{raw: it.words})
		}
		return texts
	case "image_generation_call":
		if isString(it.data) && len(it.data) > len(`""`) {
			p.images++
			p.noteData(PartData, it.raw)
		}
	case "computer_call_output", "computer_call_result":
		if isObject(it.out) {
			p.images++
			p.noteData(PartData, it.out)
			return texts
		}
	}
	if isList(it.out) {
		rest := piece{whole: true}
		eachElement(it.out, func(element []byte) {
			if len(texts) >= maxParts {
				rest.raw = through(rest.raw, element)
			} else {
				texts = p.outputPart(texts, element)
			}
		})
		if rest.raw != nil {
			p.note(PartText, len(texts))
			texts = append(texts, rest)
		}
		return texts
	}
	if isObject(it.out) {
		return p.outputPart(texts, it.out)
	}
	return p.content(texts, it.out, true)
}

// outputPart is part for a part of an output; what a shell and an interpreter print, and what stands in a file that was found, is text there.
func (p *parts) outputPart(texts []piece, raw []byte) []piece {
	add := func(t piece) {
		p.note(PartText, len(texts))
		texts = append(texts, t)
	}
	var printed, rest [][]byte
	if isObject(raw) {
		var typ, name, text []byte
		eachField(raw, func(key, value []byte) {
			switch {
			case isKey(key, "logs") && isString(value), isKey(key, "stdout") && isString(value), isKey(key, "stderr") && isString(value):
				printed = append(printed, value)
			case isKey(key, "outcome"):
				rest = append(rest, value)
			case isKey(key, "type"):
				typ = value
			case isKey(key, "filename"):
				name = value
			case isKey(key, "text"):
				text = value
			}
		})
		if typ == nil && isString(name) && isString(text) {
			printed = append(printed, name, text)
		}
	}
	if printed == nil {
		if t, ok := p.part(raw, true); ok {
			add(t)
		}
		return texts
	}
	for _, text := range append(printed, rest...) {
		if string(text) != `""` {
			add(piece{raw: text})
		}
	}
	return texts
}
