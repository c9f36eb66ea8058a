package adapter

import (
	"io"

	"github.com/tidwall/gjson"
)

// codexContext is what the items say behind the last compaction, which says itself what it leaves of those before it.
func codexContext(r io.Reader) (told []Told, err error) {
	err = eachObject(NewLines(r), func(o gjson.Result) {
		payload := o.Get("payload")
		switch o.Get("type").Str {
		case codexCompacted:
			told = texts(nil, payload.Get("replacement_history"), false)
		case codexItemLine:
			hook := payload.Get("role").Str == "developer"
			for _, key := range []string{"content", "arguments", "input", "output"} {
				told = texts(told, payload.Get(key), hook)
			}
		}
	})
	return told, err
}
