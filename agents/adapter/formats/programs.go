package formats

import "github.com/ctxfs/ctxfs/agents/adapter"

// program describes a program with conversation files that no format supports.
type program struct {
	what string // "a data export of ChatGPT"
	hint string // what can be imported instead
	has  []string
	says map[string][]string // values at paths, one of which must be there

	whatever bool // its files look like those of a format, which would read them wrong
}

// programs lists the unsupported programs. A file belongs to a program if it has all its paths and,
// at each path of says, one of the values.
var programs = []program{
	{what: "a data export of ChatGPT", has: []string{"$[].mapping", "$[].current_node"}},
	{what: "a conversation of a data export of ChatGPT", has: []string{"$.mapping", "$.current_node"}},
	{what: "a data export of Claude", has: []string{"$[].chat_messages["}},
	{what: "a ShareGPT data set", has: []string{"$[].conversations[].from", "$[].conversations[].value"}},
	{what: "a ShareGPT data set", has: []string{"$.conversations[].from", "$.conversations[].value"}},
	{what: "a list of messages of Pydantic AI", has: []string{"$[].parts[].part_kind", "$[].kind"}},
	{what: "a list of messages of AutoGen", has: []string{"$[].source", "$[].content"}, says: map[string][]string{
		"$[].type": {"TextMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent", "ToolCallSummaryMessage",
			"MultiModalMessage", "HandoffMessage"}}},
	{what: "a checkpoint of Gemini CLI (/chat save)", has: []string{"$.history[].parts["}},
	{what: "the ui_messages.json of Cline", hint: "; import the api_conversation_history.json of the task",
		has:  []string{"$[].ts", "$[].say"},
		says: map[string][]string{"$[].type": {"say", "ask"}}},
	{what: "a list of messages of OpenAI's Assistants",
		says: map[string][]string{"$.data[].object": {"thread.message"}}},
	{what: "a list of messages of OpenAI's Assistants", says: map[string][]string{"$[].object": {"thread.message"}}},
	{what: "a session of Continue", has: []string{"$.history[].message", "$.sessionId"}},
	{what: "a session of Qwen Code", whatever: true, has: []string{"$.message.parts[", "$.parentUuid", "$.sessionId"}},
	{what: "the stream of Gemini CLI (--output-format stream-json)", whatever: true,
		has: []string{"$.session_id", "$.role", "$.content"}, says: map[string][]string{
			"$.type": {"init"}}},
	{what: "a chat of the Grok CLI", has: []string{"$.prompt_index"},
		says: map[string][]string{"$.type": {"user", "assistant"}}},
	{what: "the stream of Droid", whatever: true, has: []string{"$.session_id", "$.role", "$.text"},
		says: map[string][]string{"$.type": {"message"}}},
	{what: "a chat of Copilot in VS Code", has: []string{"$.requests[].message", "$.requests[].response"}},
	{what: "a session of Copilot CLI", whatever: true, has: []string{"$.data.sessionId"},
		says: map[string][]string{"$.type": {"session.start"}}},
	{what: "a transcript of Cursor", has: []string{"$.role", "$.message.content["}},
	{what: "a session of Kimi Code",
		says: map[string][]string{"$.type": {"context.append_message", "context.append_loop_event"}}},
	{what: "a conversation of Antigravity", has: []string{"$.step_index", "$.source"},
		says: map[string][]string{"$.type": {"USER_INPUT"}}},
}

// Unreadable returns the last part of an error about a transcript that no format reads. It names
// the program that wrote the transcript; "" if the program is unknown.
func Unreadable(head []byte) string {
	p := programOf(adapter.Decode(head), false)
	if p == nil {
		return ""
	}
	return p.what + "; ctxfs cannot read it yet" + p.hint
}

// programOf returns the program that wrote a transcript; nil if it is unknown. If whatever is true,
// programOf considers only programs with files that a format would accept by mistake.
func programOf(head []byte, whatever bool) *program {
	s := adapter.ShapeOf(head)
next:
	for i := range programs {
		p := &programs[i]
		if whatever && !p.whatever {
			continue
		}
		for _, path := range p.has {
			if !s.Has(path) {
				continue next
			}
		}
		for path, words := range p.says {
			if !s.Says(path, words...) {
				continue next
			}
		}
		return p
	}
	return nil
}
