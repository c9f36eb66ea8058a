package native

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// ToolsText returns tools.json in one form: keys sorted, no blanks, strings in one
// spelling, numbers as they were written, one tool a line where the file is a list
// or an object that holds one. The same tools give the same bytes however their file
// is laid out. An empty file gives "". The error is of kind ctxabi.ErrMalformed.
func ToolsText(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return "", nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows its end")
		}
	}
	if err != nil {
		return "", ctxabi.E("pack", "tools.json", ctxabi.ErrMalformed, "it is not JSON: %v", err)
	}
	var b bytes.Buffer
	switch v := v.(type) {
	case []any:
		writeLines(&b, v)
	case map[string]any:
		writeHolder(&b, v)
	default:
		writeCompact(&b, v)
	}
	b.WriteByte('\n')
	return b.String(), nil
}

// writeHolder writes an object with each item of its lists on a line.
func writeHolder(b *bytes.Buffer, object map[string]any) {
	b.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			b.WriteByte(',')
		}
		writeCompact(b, key)
		b.WriteByte(':')
		switch v := object[key].(type) {
		case []any:
			writeLines(b, v)
		case []map[string]any:
			writeLines(b, v)
		default:
			writeCompact(b, v)
		}
	}
	b.WriteByte('}')
}

// writeLines writes a list with each item that is an object or a list on a line.
func writeLines[T any](b *bytes.Buffer, list []T) {
	b.WriteByte('[')
	broken := false
	for i, item := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		switch any(item).(type) {
		case map[string]any, []any:
			b.WriteByte('\n')
			broken = true
		}
		writeCompact(b, item)
	}
	if broken {
		b.WriteByte('\n')
	}
	b.WriteByte(']')
}

// writeCompact writes a decoded value. Keys are sorted, as encoding/json does, and <, > and & stand as they are.
func writeCompact(b *bytes.Buffer, v any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("a value that was JSON is none: %v", err)) // json.Number is kept as it was read
	}
	b.Truncate(b.Len() - 1) // its newline
}

// object is a JSON object; its keys are written sorted.
type object = map[string]any

// writeBody writes a request's body: its keys sorted, each item of its lists on a line of its own.
func writeBody(body object) []byte {
	var b bytes.Buffer
	writeHolder(&b, body)
	b.WriteByte('\n')
	return b.Bytes()
}
