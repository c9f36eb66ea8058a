package record

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// ReadJSON returns a value with its numbers as they were written; ok is false for what is not one JSON value.
func ReadJSON(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, errors.Is(err, io.EOF)
}
