package ctxabi

import (
	"bytes"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Role is who speaks in a message.
type Role uint8

// The roles. An Event is a record of events.jsonl.
const (
	RoleUnknown Role = iota
	System
	Developer
	User
	Assistant
	Tool
	Event
)

var roleNames = [...]string{"unknown", "system", "developer", "user", "assistant", "tool", "event"}

func (r Role) String() string { return roleNames[r] }

// ParseRole gives RoleUnknown for a role that is not one of the five.
func ParseRole(s string) Role {
	for r := System; r <= Tool; r++ {
		if roleNames[r] == s {
			return r
		}
	}
	return RoleUnknown
}

// CheckMessage says whether line, without its newline, may enter messages.jsonl:
// a JSON object with a known string role and a content (string, null or list
// of parts) and/or tool_calls. The error names the reason and is ErrMalformed
// or ErrTooLarge.
func CheckMessage(line []byte) error {
	if err := checkObject(MessagesFile, line); err != nil {
		return err
	}
	bad := func(format string, args ...any) error {
		return E("append", MessagesFile, ErrMalformed, format, args...)
	}
	var role, content, calls gjson.Result
	gjson.ParseBytes(line).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "role":
			role = v
		case "content":
			content = v
		case "tool_calls":
			calls = v
		}
		return true
	})
	switch {
	case !role.Exists():
		return bad(`the record has no "role"; give one of system, developer, user, assistant, tool`)
	case role.Type != gjson.String || ParseRole(role.Str) == RoleUnknown:
		return bad("role is %.60s; it must be one of system, developer, user, assistant, tool", role.Raw)
	case !content.Exists() && !calls.Exists():
		return bad(`the record has neither "content" nor "tool_calls"`)
	case content.Exists() && content.Type != gjson.String && content.Type != gjson.Null && !content.IsArray():
		return bad("content is %.60s; it must be a string, null or a list of parts", content.Raw)
	case calls.Exists() && calls.Type != gjson.Null && !calls.IsArray():
		return bad("tool_calls is %.60s; it must be a list", calls.Raw)
	}
	return nil
}

// CheckEvent says whether line, without its newline, may enter events.jsonl: a
// JSON object with a string type.
func CheckEvent(line []byte) error {
	if err := checkObject(EventsFile, line); err != nil {
		return err
	}
	var typ gjson.Result
	gjson.ParseBytes(line).ForEach(func(k, v gjson.Result) bool {
		if k.Str == "type" {
			typ = v
		}
		return true
	})
	if typ.Type != gjson.String || typ.Str == "" {
		return E("append", EventsFile, ErrMalformed, `the event has no string "type"`)
	}
	return nil
}

func checkObject(file string, line []byte) error {
	bad := func(format string, args ...any) error {
		return E("append", file, ErrMalformed, format, args...)
	}
	trimmed := bytes.TrimSpace(line)
	switch {
	case len(line) > MaxRecord:
		return E("append", file, ErrTooLarge, "the record has %d bytes, the limit is %d", len(line), MaxRecord)
	case len(trimmed) == 0:
		return bad("a blank line is not a record")
	case bytes.IndexByte(line, 0) >= 0:
		return bad("the record holds a NUL byte")
	case !utf8.Valid(line):
		return bad("the record is not valid UTF-8")
	case trimmed[0] != '{':
		return bad("a record is one JSON object on one line, this begins with %.20q", trimmed)
	case depth(trimmed) > MaxDepth:
		return bad("the record is nested deeper than %d", MaxDepth)
	case !gjson.ValidBytes(trimmed):
		return bad("the record is not valid JSON")
	}
	return nil
}

// depth is the deepest nesting of [ and { outside strings. It runs before the
// recursive parsers, which a line of a million brackets would send too deep.
func depth(b []byte) (deepest int) {
	level, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if level++; level > deepest {
				deepest = level
			}
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// Call is one call of a tool by an assistant.
type Call struct {
	ID        string
	Name      string
	Arguments string // as the model wrote them, byte for byte
}

// Result is one tool result carried as a part inside a message (Anthropic's form).
type Result struct {
	CallID  string
	Text    string
	IsError bool
}

// Message is a record of messages.jsonl in one normal form, whichever of the
// accepted forms it was written in.
type Message struct {
	Role    Role
	ID, TS  string   // the record's own fields, often empty
	Name    string   // the tool's or author's name
	Text    string   // all text of the content, parts joined by a newline
	Calls   []Call   // what an assistant calls
	CallID  string   // the call that a tool record answers
	Results []Result // tool results carried as parts
	Images  int      // image parts; their data is not in Text
}

// DecodeMessage reads a record of messages.jsonl. It never fails: what it does
// not understand is carried as text, in the extreme the whole line.
func DecodeMessage(line []byte) Message {
	if depth(line) > MaxDepth || !gjson.ValidBytes(line) {
		return Message{Text: string(bytes.ToValidUTF8(line, []byte("\uFFFD")))}
	}
	var m Message
	var texts []string
	gjson.ParseBytes(line).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "role":
			m.Role = ParseRole(v.Str)
		case "id":
			m.ID = v.String()
		case "ts":
			m.TS = v.String()
		case "name":
			m.Name = v.String()
		case "tool_call_id":
			m.CallID = v.String()
		case "tool_calls":
			m.Calls = append(m.Calls, decodeCalls(v)...)
		case "content":
			texts = nil
			switch {
			case v.Type == gjson.String:
				texts = append(texts, v.Str)
			case v.IsArray():
				v.ForEach(func(_, part gjson.Result) bool {
					if t, ok := m.decodePart(part); ok {
						texts = append(texts, t)
					}
					return true
				})
			case v.Type != gjson.Null:
				texts = append(texts, v.Raw)
			}
		}
		return true
	})
	m.Text = joinLines(texts)
	return m
}

func joinLines(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var b bytes.Buffer
	for i, t := range texts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(t)
	}
	return b.String()
}

func decodeCalls(v gjson.Result) (calls []Call) {
	v.ForEach(func(_, c gjson.Result) bool {
		f := c
		if nested := c.Get("function"); nested.IsObject() {
			f = nested
		}
		calls = append(calls, Call{ID: c.Get("id").String(), Name: f.Get("name").String(), Arguments: arguments(f)})
		return true
	})
	return calls
}

// arguments gives a call's arguments as they were written: the text of a
// string, the raw bytes of any other value.
func arguments(f gjson.Result) string {
	a := f.Get("arguments")
	if !a.Exists() {
		a = f.Get("input")
	}
	if a.Type == gjson.String {
		return a.Str
	}
	return a.Raw
}

// decodePart reads one part of a content list; ok is false when the part adds
// no text (a call, a result, an image).
func (m *Message) decodePart(p gjson.Result) (text string, ok bool) {
	if p.Type == gjson.String {
		return p.Str, true
	}
	switch p.Get("type").Str {
	case "text", "input_text", "output_text":
		return p.Get("text").String(), true
	case "tool_use":
		m.Calls = append(m.Calls, Call{ID: p.Get("id").String(), Name: p.Get("name").String(), Arguments: arguments(p)})
		return "", false
	case "tool_result":
		var r Message
		content := p.Get("content")
		if content.Type == gjson.String {
			r.Text = content.Str
		} else {
			var texts []string
			content.ForEach(func(_, part gjson.Result) bool {
				if t, ok := r.decodePart(part); ok {
					texts = append(texts, t)
				}
				return true
			})
			r.Text = joinLines(texts)
		}
		m.Images += r.Images
		m.Results = append(m.Results, Result{CallID: p.Get("tool_use_id").String(), Text: r.Text, IsError: p.Get("is_error").Bool()})
		return "", false
	case "image", "image_url", "input_image":
		m.Images++
		return "", false
	case "thinking", "redacted_thinking":
		return "", false
	}
	return p.Raw, true
}
