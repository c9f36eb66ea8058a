package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/views/overview"
)

// item is a session of the list, whether or not it is on the screen.
type item struct {
	overview.Entry
	agent, name, owner string // harmless
	folded             string // the same in small letters, for the filter
	widths             [2]int // cells of the name, and of the agent with its owner
}

// newItem names a session.
func newItem(e overview.Entry) *item {
	x := &item{Entry: e}
	x.agent, x.name, x.owner = overview.Named(e.Ref)
	x.agent, x.name, x.owner = harmless(x.agent), harmless(x.name), harmless(x.owner)
	x.widths = [2]int{width(x.name), width(x.whose())}
	x.folded = strings.ToLower(x.agent + "/" + x.name + " " + x.owner)
	return x
}

// whose is the agent, and the owner where that is not the caller.
func (x *item) whose() string {
	if x.owner != "" {
		return x.agent + " · " + x.owner
	}
	return x.agent
}

// widest returns how wide the names and the agents of items are at most.
func widest(items []*item) (w [2]int) {
	for _, x := range items {
		w[0], w[1] = max(w[0], x.widths[0]), max(w[1], x.widths[1])
	}
	return w
}

// Order is by what the list is sorted.
type Order string

// The orders, as --sort and the title name them.
const (
	ByActivity Order = "activity"
	ByTokens   Order = "tokens"
	ByMessages Order = "messages"
	ByName     Order = "name"
)

// Orders are all of them: each follows the one before it when a key asks for the next one.
var Orders = []Order{ByActivity, ByTokens, ByMessages, ByName}

// words is the order in words of the title.
func (o Order) words() string {
	if o == ByActivity {
		return "last activity"
	}
	return string(o)
}

// needsRows reports whether the order depends on more than the names and the times of sessions.
func (o Order) needsRows() bool { return o == ByTokens || o == ByMessages }

// sorted sorts items. Those whose row is not there yet stand at the end.
func (o Order) sorted(items []*item, rows map[string]*overview.Row) {
	number := func(x *item) int {
		r := rows[x.Ref]
		switch {
		case r == nil:
			return -1
		case o == ByTokens:
			return r.Packs.Tokens
		}
		return r.Messages
	}
	slices.SortStableFunc(items, func(a, b *item) int {
		switch {
		case o == ByName:
			return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.name, b.name), cmp.Compare(a.Ref, b.Ref))
		case o.needsRows():
			if c := cmp.Compare(number(b), number(a)); c != 0 {
				return c
			}
		}
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.Ref, b.Ref))
	})
}

// filtered returns the items that have each word of a filter.
func filtered(items []*item, filter string) (list []*item) {
	words := strings.Fields(strings.ToLower(filter))
	for _, x := range items {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(x.folded, w) }) {
			list = append(list, x)
		}
	}
	return list
}
