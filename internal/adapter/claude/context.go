package claude

import (
	"io"
	"slices"

	"github.com/ctxfs/ctxfs/internal/adapter"

	"github.com/tidwall/gjson"
)

// claudeContext follows the conversation from its last record to its root, which a compaction makes anew.
func claudeContext(r io.Reader) (told []adapter.Told, err error) {
	type node struct {
		parent string
		told   []adapter.Told
		passed bool
	}
	nodes := map[string]*node{}
	last := ""
	err = adapter.EachObject(adapter.NewLines(r), func(o gjson.Result) {
		id := o.Get("uuid").Str
		if id == "" || o.Get("isSidechain").Bool() {
			return
		}
		n := &node{parent: o.Get("parentUuid").Str}
		switch a := o.Get("attachment"); {
		case a.Get("type").Str == "hook_additional_context":
			n.told = adapter.Texts(nil, a.Get("content"), true)
		case !a.Exists():
			n.told = adapter.Texts(nil, o.Get("message.content"), false)
		}
		nodes[id], last = n, id
	})
	for n := nodes[last]; n != nil && !n.passed; n = nodes[n.parent] {
		n.passed = true // a damaged transcript may go in a circle
		slices.Reverse(n.told)
		told = append(told, n.told...)
	}
	slices.Reverse(told)
	return told, err
}
