package ctxabi

import (
	"bytes"
	"unicode/utf8"
)

// CheckMessage reports whether line, without its newline, may enter messages.jsonl:
// a JSON object with a known string role and a content (string, null or list
// of parts) and/or a list of tool_calls, or one without a role whose type is one
// of [ItemTypes]. Of a key that comes twice the last one counts, as with most
// JSON readers. The error names the reason and is ErrMalformed or ErrTooLarge.
func CheckMessage(line []byte) error {
	var role, content, calls, typ []byte
	err := checkObject(MessagesFile, line, func(key, value []byte) {
		switch {
		case isKey(key, "role"):
			role = value
		case isKey(key, "content"):
			content = value
		case isKey(key, "tool_calls"):
			calls = value
		case isKey(key, "type"):
			typ = value
		}
	})
	if err != nil {
		return err
	}
	if role == nil && typ != nil {
		return checkItem(line, typ)
	}
	bad := func(format string, args ...any) error {
		return E("append", MessagesFile, ErrMalformed, format, args...)
	}
	switch {
	case role == nil:
		return bad(`the record has no "role"; use one of system, developer, user, assistant, tool`)
	case !knownRole(role):
		return bad("role is %.60s; it must be one of system, developer, user, assistant, tool", role)
	}
	switch wrong := wrongValue(content, calls); wrong {
	case "":
		return nil
	case "content":
		return bad("content is %.60s; it must be a string, null or a list of parts", content)
	case "tool_calls":
		return bad("tool_calls is %.60s; it must be a list", calls)
	}
	return bad(`the record has neither "content" nor a list of "tool_calls"`)
}

// checkItem reports whether a record without a role is an item that messages.jsonl takes.
func checkItem(line, typ []byte) error {
	bad := func(format string, args ...any) error {
		return E("append", MessagesFile, ErrMalformed, format, args...)
	}
	it := readItem(line, typ)
	if it == nil {
		if why, is := orders[textOf(typ)]; is && isString(typ) {
			return bad(`the record has no "role", and an item of type %.60s has no place in messages.jsonl: %s`, typ, why)
		}
		return bad(`the record has no "role", and %.60s is no type of an item that messages.jsonl takes`, typ)
	}
	if problem := it.problem(); problem != "" {
		return bad("the item of type %s %s", textOf(typ), problem)
	}
	return nil
}

// wrongValue names the field of a message that does not hold what it must, or "both".
func wrongValue(content, calls []byte) string {
	switch {
	case content == nil && !isList(calls):
		return "both"
	case content != nil && content[0] != '"' && content[0] != '[' && content[0] != 'n':
		return "content"
	case calls != nil && calls[0] != '[' && calls[0] != 'n':
		return "tool_calls"
	}
	return ""
}

// CheckEvent returns nil if line, without its newline, may enter events.jsonl: a
// JSON object with a string type that is not empty. Else it returns ErrMalformed or ErrTooLarge with the reason.
func CheckEvent(line []byte) error {
	var typ []byte
	err := checkObject(EventsFile, line, func(key, value []byte) {
		if isKey(key, "type") {
			typ = value
		}
	})
	if err != nil {
		return err
	}
	if len(typ) <= len(`""`) || typ[0] != '"' {
		return E("append", EventsFile, ErrMalformed, `the event has no string "type"`)
	}
	return nil
}

// checkObject is what both logs ask of a record.
func checkObject(file string, line []byte, field func(key, value []byte)) error {
	bad := func(format string, args ...any) error {
		return E("append", file, ErrMalformed, format, args...)
	}
	if len(line) > MaxRecord {
		return E("append", file, ErrTooLarge, "the record has %d bytes, the limit is %d", len(line), MaxRecord)
	}
	if !utf8.Valid(line) {
		return bad("the record is not valid UTF-8")
	}
	problem := scanObject(line, field)
	trimmed := bytes.TrimLeft(line, " \t\r")
	switch {
	case bytes.IndexByte(line, '\n') >= 0:
		return bad("a record is one line, this has several")
	case problem == "":
		return nil
	case len(trimmed) == 0:
		return bad("a blank line is not a record")
	case bytes.IndexByte(line, 0) >= 0:
		return bad("the record contains a NUL byte")
	case trimmed[0] != '{':
		return bad("a record is one JSON object on one line, this begins with %.20q", trimmed)
	}
	return bad("the record %s", problem)
}

// isKey compares a key, as it stands in a record, with a name.
func isKey(quoted []byte, name string) bool {
	if len(quoted) == len(name)+2 {
		return string(quoted[1:len(quoted)-1]) == name
	}
	return bytes.IndexByte(quoted, '\\') >= 0 && textOf(quoted) == name
}

// knownRole reports whether a JSON value is the string of one of the five roles.
func knownRole(value []byte) bool {
	return value[0] == '"' && parseRoleValue(value) != RoleUnknown
}

func parseRoleValue(value []byte) Role {
	for r := System; r <= Tool; r++ {
		if string(value[1:len(value)-1]) == roleNames[r] {
			return r
		}
	}
	return ParseRole(textOf(value))
}
