package claude

import (
	"slices"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/tidwall/gjson"
)

// claudeContext follows the conversation from its last record to its root, which a compaction makes anew.
func claudeContext(file adapter.File) (told []adapter.Told, err error) {
	type node struct {
		parent string
		told   []adapter.Told
		passed bool
	}
	nodes := map[string]*node{}
	next := ""
	err = adapter.EachObjectBack(file, func(o gjson.Result) bool {
		id := o.Get("uuid").Str
		if id == "" || o.Get("isSidechain").Bool() || nodes[id] != nil {
			return true
		}
		n := &node{parent: o.Get("parentUuid").Str}
		switch a := o.Get("attachment"); {
		case a.Get("type").Str == "hook_additional_context":
			n.told = adapter.Texts(nil, a.Get("content"), true)
		case !a.Exists():
			n.told = adapter.Texts(nil, o.Get("message.content"), false)
		}
		if len(nodes) == 0 {
			next = id
		}
		nodes[id] = n
		for n := nodes[next]; n != nil && !n.passed; n = nodes[next] {
			n.passed = true // a damaged transcript may go in a circle
			slices.Reverse(n.told)
			told = append(told, n.told...)
			next = n.parent
		}
		return next != ""
	})
	slices.Reverse(told)
	return told, err
}
