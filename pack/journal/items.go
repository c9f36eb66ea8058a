package journal

import (
	"maps"
	"slices"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/pack/finds"
	"github.com/ctxfs/ctxfs/pack/record"
)

// ItemsNewest is how many records, or twice as many, a pack looks at for what is to do at this moment.
const ItemsNewest = 512

// itemKinds lists the findings that describe tasks, requests, and changes of the user's statements.
var itemKinds = []derived.FindingKind{derived.FoundTodo, derived.FoundRequest, derived.FoundReply,
	derived.FoundStatement, derived.FoundProposal, derived.FoundAcceptance}

// items are what is derived of the newest records for what is to do.
type items struct {
	first, n int                       // places that are folded
	found    map[int][]derived.Finding // by place
	fold     derived.State
}

// DerivedItems are the items of the list that is derived of the newest of n records.
func (mm *Memo) DerivedItems(m record.Records, n int) []derived.Item {
	first := max(1, (n/ItemsNewest-1)*ItemsNewest+1)
	w := mm.items
	if w == nil || w.first != first || w.n > n {
		known := map[int][]derived.Finding{}
		if w != nil {
			known = w.found
			maps.DeleteFunc(known, func(at int, _ []derived.Finding) bool { return at < first || at > n })
		}
		w = &items{first: first, n: first - 1, found: known}
		mm.items = w
	}
	for w.n < n {
		at := w.n + 1
		found, ok := w.found[at]
		if !ok {
			s, err := finds.SaidTo(m, at)
			if err != nil {
				return nil // the pack can do without, and the next build tries again
			}
			found = slices.DeleteFunc(derived.Find(s), func(f derived.Finding) bool { return !slices.Contains(itemKinds, f.Kind) })
			w.found[at] = slices.Clip(found)
		}
		a := record.AddressOf(m, at)
		w.fold.Add(derived.Position{Event: a.Event, Line: a.Line}, finds.SaysAs(m, at), found)
		w.n = at
	}
	return w.fold.Items()
}

// Replies returns the user's replies to question tools in the newest of n records, oldest first.
func (mm *Memo) Replies(m record.Records, n int) []derived.Replied {
	mm.DerivedItems(m, n)
	return mm.items.fold.Replies()
}

func (w *items) size() (n int) {
	for _, found := range w.found {
		n += 48
		for i := range found {
			n += 160 + len(found[i].Text)
		}
	}
	return n
}
