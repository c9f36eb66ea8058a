package ctxabi

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// decodeByLibrary is DecodeMessage by way of a JSON library, the oracle: it
// shares nothing with it but the scan of the outermost object.
func decodeByLibrary(line []byte) Message {
	whole := func() Message {
		return Message{Text: string(bytes.ToValidUTF8(bytes.TrimRight(line, "\r\n"), []byte("\uFFFD")))}
	}
	if !utf8.Valid(line) {
		return whole()
	}
	var m decoder
	var content, calls, legacy []byte
	problem := scanObject(line, func(key, value []byte) {
		switch {
		case isKey(key, "role"):
			if m.Role = RoleUnknown; value[0] == '"' {
				m.Role = parseRoleValue(value)
			}
		case isKey(key, "content"):
			content = value
		case isKey(key, "tool_calls"):
			calls = value
		case isKey(key, "function_call"):
			legacy = value
		case isKey(key, "id"):
			m.ID = textOfValue(string(value))
		case isKey(key, "ts"):
			m.TS = textOfValue(string(value))
		case isKey(key, "name"):
			m.Name = textOfValue(string(value))
		case isKey(key, "tool_call_id"):
			m.CallID = textOfValue(string(value))
		}
	})
	if problem != "" || m.Role == RoleUnknown || content == nil && calls == nil {
		return whole()
	}
	m.Text = m.content(string(content))
	if len(calls) > 0 && calls[0] == '[' {
		gjson.ParseBytes(calls).ForEach(func(_, c gjson.Result) bool {
			m.addCall(c)
			return true
		})
	}
	if len(legacy) > 0 && legacy[0] == '{' { // OpenAI's form before tools
		m.addCall(gjson.ParseBytes(legacy))
	}
	return m.Message
}

// decoder is a Message in the making.
type decoder struct {
	Message
	inResult bool               // inside a tool result, where no further one is looked for
	seen     map[[2]string]bool // the calls so far, by id and name
}

// content returns the text of a content and notes its calls, results and images.
func (m *decoder) content(raw string) string {
	if len(raw) == 0 || raw[0] != '[' {
		return textOfValue(raw)
	}
	var texts []string
	gjson.Parse(raw).ForEach(func(_, p gjson.Result) bool {
		if t, ok := m.part(p); ok {
			texts = append(texts, t)
		}
		return true
	})
	return strings.Join(texts, "\n")
}

// part reads one part of a content list; ok is false when the part adds no
// text (a call, a result, an image).
func (m *decoder) part(p gjson.Result) (text string, ok bool) {
	if p.Type == gjson.String {
		return unquoted(p.Raw), true
	}
	if !p.IsObject() {
		return p.Raw, true
	}
	f := fieldsOf(p)
	switch f.text("type") {
	case "text", "input_text", "output_text", "":
		if t := f["text"]; t.Type == gjson.String {
			return unquoted(t.Raw), true
		}
	case "refusal":
		return f.text("refusal"), true
	case "tool_use":
		if m.inResult {
			break
		}
		m.addCall(p)
		return "", false
	case "tool_result":
		if m.inResult { // results within results would cost their depth times their size
			break
		}
		inner := decoder{inResult: true}
		r := Result{CallID: f.text("tool_use_id"), IsError: f["is_error"].Bool()}
		r.Text = inner.content(f["content"].Raw)
		m.Images += inner.Images
		m.Results = append(m.Results, r)
		return "", false
	case "image", "image_url", "input_image", "input_audio", "audio", "input_file", "file", "video":
		m.Images++
		return "", false
	case "document":
		source := fieldsOf(f["source"])
		if source.text("type") == "text" {
			return source.text("data"), true
		}
		m.Images++
		return "", false
	case "thinking", "redacted_thinking":
		return "", false
	}
	return p.Raw, true
}

// addCall notes a call in any of its forms: OpenAI's, nested under "function"
// or "custom", the flat one, and Anthropic's part. A call that stands both as
// a part and in tool_calls is one call.
func (m *decoder) addCall(v gjson.Result) {
	outer := fieldsOf(v)
	if outer == nil { // not an object: carried, without a name
		m.Calls = append(m.Calls, Call{Arguments: textOfValue(v.Raw)})
		return
	}
	inner := outer
	for _, nested := range []string{"function", "custom"} {
		if outer[nested].IsObject() {
			inner = fieldsOf(outer[nested])
		}
	}
	c := Call{ID: outer.text("id"), Name: inner.text("name")}
	if args, ok := inner["arguments"]; ok {
		c.Arguments = textOfValue(args.Raw)
	} else {
		c.Arguments = inner.text("input")
	}
	if c.ID != "" {
		key := [2]string{c.ID, c.Name}
		if m.seen[key] {
			return
		}
		if m.seen == nil {
			m.seen = make(map[[2]string]bool)
		}
		m.seen[key] = true
	}
	m.Calls = append(m.Calls, c)
}

// fields are the values of an object by key, the last of equal keys.
type fields map[string]gjson.Result

func fieldsOf(v gjson.Result) fields {
	if !v.IsObject() {
		return nil
	}
	f := make(fields)
	v.ForEach(func(k, v gjson.Result) bool {
		f[unquoted(k.Raw)] = v
		return true
	})
	return f
}

// text is the field as text: a string's text, nothing when absent or null, else its bytes.
func (f fields) text(key string) string { return textOfValue(f[key].Raw) }

// textOf returns a JSON value as text: a string's text, nothing for null, else its bytes.
func textOfValue(raw string) string {
	switch {
	case raw == "" || raw[0] == 'n':
		return ""
	case raw[0] == '"':
		return unquoted(raw)
	}
	return raw
}

// unquoted returns the text of a valid JSON string.
func unquoted(raw string) string {
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		panic(err)
	}
	return s
}
