package ctxabi

import "strings"

// Said is what a person would read of a message: its text, its results, its calls. It ends in a newline where it is not empty.
func (m *Message) Said() []byte {
	size := len(m.Text) + 1
	for _, r := range m.Results {
		size += len(r.Text) + 1
	}
	for _, c := range m.Calls {
		size += len(c.Name) + len(c.Arguments) + 2
	}
	b := appendLine(make([]byte, 0, size), m.Text)
	for _, r := range m.Results {
		b = appendLine(b, r.Text)
	}
	for _, c := range m.Calls {
		b = append(b, c.Name...)
		b = append(b, ' ')
		b = append(b, c.Arguments...)
		if b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
	}
	return b
}

// Said is what a search looks for of a tool event: what its result says, or the name and the arguments of its call.
func (e *ToolEvent) Said() []byte {
	b := appendLine(nil, e.Text)
	if !e.IsResult {
		b = appendLine(b, strings.TrimSpace(e.Name+" "+e.Arguments))
	}
	return b
}

// SaidOfOther is what a search looks for of an event that is not of a tool: its JSON.
func SaidOfOther(event []byte) []byte { return appendLine(nil, string(event)) }

// appendLine appends s, if it is not empty, with a newline at its end.
func appendLine(b []byte, s string) []byte {
	b = append(b, s...)
	if s != "" && s[len(s)-1] != '\n' {
		b = append(b, '\n')
	}
	return b
}
