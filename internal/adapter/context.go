package adapter

import (
	"io"

	"github.com/tidwall/gjson"
)

// Told is a text that the model of a transcript has before it.
type Told struct {
	Text string
	Hook bool // a hook of the program put it there
}

// EachObject calls do with each line that is a JSON object; it returns the error of reading them.
func EachObject(lines *Lines, do func(gjson.Result)) error {
	for {
		l, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if l.Problem != "" || !gjson.ValidBytes(l.Bytes) {
			continue
		}
		if o := gjson.ParseBytes(l.Bytes); o.IsObject() {
			do(o)
		}
	}
}

// Texts appends the strings in a value, in their order.
func Texts(told []Told, v gjson.Result, hook bool) []Told {
	if v.Type == gjson.String {
		return append(told, Told{v.Str, hook})
	}
	if v.IsArray() || v.IsObject() {
		v.ForEach(func(_, child gjson.Result) bool {
			told = Texts(told, child, hook)
			return true
		})
	}
	return told
}
