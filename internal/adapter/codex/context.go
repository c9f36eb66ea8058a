package codex

import (
	"io"

	"github.com/ctxfs/ctxfs/internal/adapter"

	"github.com/tidwall/gjson"
)

// codexContext is what the items say behind the last compaction, which says itself what it leaves of those before it.
func codexContext(r io.Reader) (told []adapter.Told, err error) {
	err = adapter.EachObject(adapter.NewLines(r), func(o gjson.Result) {
		payload := o.Get("payload")
		switch o.Get("type").Str {
		case codexCompacted:
			told = adapter.Texts(nil, payload.Get("replacement_history"), false)
		case ItemLine:
			hook := payload.Get("role").Str == "developer"
			for _, key := range []string{"content", "arguments", "input", "output"} {
				told = adapter.Texts(told, payload.Get(key), hook)
			}
		}
	})
	return told, err
}
