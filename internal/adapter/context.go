package adapter

import (
	"io"
	"slices"

	"github.com/tidwall/gjson"
)

// Told is a text that the model of a transcript has before it.
type Told struct {
	Text string
	Hook bool // a hook of the program put it there
}

// eachObject calls do with each line that is a JSON object.
func eachObject(lines *Lines, do func(gjson.Result)) error {
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

// texts appends the strings in a value, in their order.
func texts(told []Told, v gjson.Result, hook bool) []Told {
	if v.Type == gjson.String {
		return append(told, Told{v.Str, hook})
	}
	if v.IsArray() || v.IsObject() {
		v.ForEach(func(_, child gjson.Result) bool {
			told = texts(told, child, hook)
			return true
		})
	}
	return told
}

// claudeContext follows the conversation from its last record to its root, which a compaction makes anew.
func claudeContext(r io.Reader) (told []Told, err error) {
	type node struct {
		parent string
		told   []Told
		passed bool
	}
	nodes := map[string]*node{}
	last := ""
	err = eachObject(NewLines(r), func(o gjson.Result) {
		id := o.Get("uuid").Str
		if id == "" || o.Get("isSidechain").Bool() {
			return
		}
		n := &node{parent: o.Get("parentUuid").Str}
		switch a := o.Get("attachment"); {
		case a.Get("type").Str == "hook_additional_context":
			n.told = texts(nil, a.Get("content"), true)
		case !a.Exists():
			n.told = texts(nil, o.Get("message.content"), false)
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
