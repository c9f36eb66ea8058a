package ctxabi

import (
	"bytes"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// DecodeMessage reads a record of messages.jsonl. It never fails: what it does
// not understand is carried as text, in the extreme the whole line. Of a key
// that comes twice the last one counts.
//
// Text is the content's text parts; a model's thinking is not part of it, and
// neither are calls, results and images, which have fields of their own.
func DecodeMessage(line []byte) Message {
	var p parts
	return p.decode(line)
}

func (p *parts) decode(line []byte) Message {
	var f messageFields
	if !f.read(line) {
		return Message{Text: wholeText(line)}
	}
	p.read(&f)
	m := Message{Item: f.itemType(), Role: f.role, ID: textOf(f.id), TS: textOf(f.ts), Name: textOf(f.name), CallID: textOf(f.callID),
		Text: string(appendTexts(nil, p.text)), Images: p.images}
	for _, c := range p.calls {
		m.Calls = append(m.Calls, Call{ID: textOf(c.id), Name: textOf(c.name), Arguments: textOf(c.arguments)})
	}
	for _, r := range p.results {
		m.Results = append(m.Results, Result{CallID: textOf(r.callID), Text: string(appendTexts(nil, p.inner[r.from:r.to])),
			IsError: gjson.ParseBytes(r.isError).Bool()})
	}
	return m
}

// wholeText is the text of a line that is carried as it stands.
func wholeText(line []byte) string {
	return string(bytes.ToValidUTF8(bytes.TrimRight(line, "\r\n"), []byte("\uFFFD")))
}

// messageFields are the values of a message that are looked at, as they stand in the record.
type messageFields struct {
	role                                                    Role
	roleValue, content, calls, legacy, id, ts, name, callID []byte
	typ                                                     []byte
	item                                                    *item  // without a role
	problem                                                 string // why the line is no JSON object
}

// read returns false for a line that is not a message and is carried as text.
func (f *messageFields) read(line []byte) bool {
	if !utf8.Valid(line) {
		f.problem = "is not valid UTF-8"
		return false
	}
	f.problem = scanObject(line, func(key, value []byte) {
		switch {
		case isKey(key, "role"):
			f.roleValue = value
		case isKey(key, "content"):
			f.content = value
		case isKey(key, "tool_calls"):
			f.calls = value
		case isKey(key, "function_call"):
			f.legacy = value
		case isKey(key, "id"):
			f.id = value
		case isKey(key, "ts"):
			f.ts = value
		case isKey(key, "name"):
			f.name = value
		case isKey(key, "tool_call_id"):
			f.callID = value
		case isKey(key, "type"):
			f.typ = value
		}
	})
	if f.roleValue == nil && f.problem == "" {
		return f.readItem(line)
	}
	if isString(f.roleValue) {
		f.role = parseRoleValue(f.roleValue)
	}
	return f.problem == "" && f.role != RoleUnknown && (f.content != nil || f.calls != nil)
}

// readItem is read for a record without a role.
func (f *messageFields) readItem(line []byte) bool {
	if f.item = readItem(line, f.typ); f.item == nil || f.item.problem() != "" {
		return false
	}
	f.role, f.callID = f.item.role, nil
	if f.role == Tool {
		f.callID = f.item.callID
	} else {
		f.name = nil // that of a tool that is called
	}
	return true
}

// itemType is the type of an item, "" for a record that has a role.
func (f *messageFields) itemType() string {
	if f.item == nil {
		return ""
	}
	return textOf(f.typ)
}

// wrong is wrongValue for the record.
func (f *messageFields) wrong() string {
	if f.item != nil {
		return ""
	}
	return wrongValue(f.content, f.calls)
}

// read notes the pieces of a record.
func (p *parts) read(f *messageFields) {
	if f.item != nil {
		p.item(f.item)
		return
	}
	p.message(f.content, f.calls, f.legacy)
}
