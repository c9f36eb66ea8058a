package codex

import (
	"slices"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/tidwall/gjson"
)

// codexContext is what the items say behind the last compaction, which says itself what it leaves of those before it.
func codexContext(file adapter.File) (told []adapter.Told, err error) {
	err = adapter.EachObjectBack(file, func(o gjson.Result) bool {
		payload := o.Get("payload")
		var texts []adapter.Told
		kind := o.Get("type").Str
		switch kind {
		case codexCompacted:
			texts = adapter.Texts(nil, payload.Get("replacement_history"), false)
		case ItemLine:
			hook := payload.Get("role").Str == "developer"
			for _, key := range []string{"content", "arguments", "input", "output"} {
				texts = adapter.Texts(texts, payload.Get(key), hook)
			}
		}
		slices.Reverse(texts)
		told = append(told, texts...)
		return kind != codexCompacted
	})
	slices.Reverse(told)
	return told, err
}
