package journal

import (
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/pack/record"
)

// ItemsNewest is how many records, or twice as many, a pack looks at for what is to do at this moment.
const ItemsNewest = 512

// items are what is derived of the newest records for what is to do.
type items struct {
	first, n int                        // places that are folded
	found    map[int][]compress.Finding // by place
	fold     compress.Notes
}

// DerivedItems are the items of the list that is derived of the newest of n records.
func (mm *Memo) DerivedItems(m record.Records, n int) []compress.TodoItem {
	first := max(1, (n/ItemsNewest-1)*ItemsNewest+1)
	w := mm.items
	if w == nil || w.first != first || w.n > n {
		known := map[int][]compress.Finding{}
		if w != nil {
			known = w.found
			maps.DeleteFunc(known, func(at int, _ []compress.Finding) bool { return at < first || at > n })
		}
		w = &items{first: first, n: first - 1, found: known}
		mm.items = w
	}
	for w.n < n {
		at := w.n + 1
		found, ok := w.found[at]
		if !ok {
			s, err := saidTo(m, at)
			if err != nil {
				return nil // the pack can do without, and the next build tries again
			}
			found = slices.DeleteFunc(compress.Find(s), func(f compress.Finding) bool { return f.Kind != compress.FoundTodo && f.Kind != compress.FoundAsked })
			w.found[at] = slices.Clip(found)
		}
		a := record.AddressOf(m, at)
		w.fold.Add(compress.Place{Event: a.Event, Line: a.Line}, saysAs(m, at), found)
		w.n = at
	}
	return w.fold.Items()
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
