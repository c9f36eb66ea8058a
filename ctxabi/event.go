package ctxabi

import (
	"bytes"
	"unicode/utf8"
)

// ToolEvent is a tool_call or tool_result event of events.jsonl in one normal
// form. All its strings are valid UTF-8.
type ToolEvent struct {
	IsResult  bool   // a tool_result; else a tool_call
	CallID    string // tool_call_id, call_id, tool_use_id or, where there is none of these, id
	Name      string // name or tool
	Arguments string // arguments, args or input: a string's text, of anything else its bytes
	Text      string // of a result: content, output, result or text; of what is not understood the whole line
	Failed    bool   // is_error, or an error that says something
	ExitCode  string // exit_code as it was written, "" without one
	Images    int    // parts of the content whose data is not text
}

// DecodeToolEvent reads a record of events.jsonl; ok is false when it is not
// a valid event of type tool_call or tool_result. Beyond that it never fails:
// an event that says nothing in a field that is known is carried as text. Of
// a key that comes twice the last one counts.
func DecodeToolEvent(line []byte) (e ToolEvent, ok bool) {
	if !utf8.Valid(line) || bytes.IndexByte(line, '\n') >= 0 || len(line) > MaxRecord {
		return e, false
	}
	var values [len(eventKeys)][]byte
	problem := scanObject(line, func(key, value []byte) {
		for i, name := range eventKeys {
			if isKey(key, name) {
				values[i] = value
				return
			}
		}
	})
	if problem != "" || !isString(values[0]) {
		return e, false
	}
	switch textOf(values[0]) {
	case "tool_call":
	case "tool_result":
		e.IsResult = true
	default:
		return e, false
	}
	first := func(from, to int) string {
		for _, v := range values[from:to] {
			if text := textOf(v); text != "" {
				return text
			}
		}
		return ""
	}
	e.CallID, e.Name, e.Arguments = first(1, 5), first(5, 7), first(7, 10)
	isError, problemText := string(values[10]), values[11]
	e.ExitCode = textOf(values[12])
	e.Failed = isError == "true"
	said := false
	if e.IsResult {
		var p parts
		for _, v := range values[13:] {
			if said = said || v != nil; v != nil && e.Text == "" && p.images == 0 {
				e.Text = string(appendTexts(nil, p.content(nil, v, true)))
			}
		}
		e.Images = p.images
	}
	said = e.addError(textOf(problemText)) || said
	if !said && e.ExitCode == "" && (e.IsResult || e.Name == "" && e.Arguments == "") {
		e.Text = string(bytes.TrimRight(line, "\r"))
	}
	return e, true
}

// addError takes over the text of a field error, and reports whether it says something.
func (e *ToolEvent) addError(text string) bool {
	switch text {
	case "", "false", "0", "{}", "[]":
		return false
	case "true":
		e.Failed = true
		return false
	}
	e.Failed = true
	if e.Text != "" {
		e.Text += "\n"
	}
	e.Text += text
	return true
}

// eventKeys are the fields of a tool event that are read, in the order in
// which fields that mean the same are asked.
var eventKeys = [...]string{"type",
	"tool_call_id", "call_id", "tool_use_id", "id",
	"name", "tool",
	"arguments", "args", "input",
	"is_error", "error", "exit_code",
	"content", "output", "result", "text"}

// Weight estimates the tokens of what a pack shows of e in full, its heading included.
func (e *ToolEvent) Weight() int {
	w := recordFraming + partFraming + Weight(e.Text) + e.Images*imageFraming
	if !e.IsResult {
		w += Weight(e.Name) + Weight(e.Arguments)
	}
	return w
}
