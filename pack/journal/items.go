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

// itemKinds lists the findings that describe tasks, requests, changed statements, and writes of files.
var itemKinds = []derived.FindingKind{
	derived.FoundTodo, derived.FoundRequest, derived.FoundReply, derived.FoundFile, derived.FoundFailure,
	derived.FoundStatement, derived.FoundProposal, derived.FoundAcceptance,
}

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

// Replaced reports whether all that the calls of the record at a place wrote to files, or read from
// them, was replaced by later calls that wrote these files whole, as of n records. Shell commands
// neither replace nor are replaced. It returns false if the record cannot be read.
func (mm *Memo) Replaced(m record.Records, at, n int) bool {
	mm.DerivedItems(m, n)
	paths := mm.pathsAt(m, at)
	for _, path := range paths {
		p := mm.items.fold.WrittenAt(path)
		if record.PositionIn(m, record.Address{Line: p.Line, Event: p.Event}) <= at {
			return false
		}
	}
	return len(paths) > 0
}

// filesUsed are the files that the calls of a record read and write; none if one of them does
// something else.
type filesUsed struct {
	paths []string
	calls int
}

// pathsAt returns the files that the calls of the record at a place read and write, or those that it
// answers; none if one of them does something else. It reads a record once, and no answer to a
// single call.
func (mm *Memo) pathsAt(m record.Records, at int) []string {
	known, ok := mm.paths[at]
	if ok {
		return known.paths
	}
	if call := callBefore(m, at); call > 0 {
		if paths := mm.pathsAt(m, call); mm.paths[call].calls == 1 {
			return paths
		}
	}
	r, err := record.ExcerptOf(m, at)
	if err != nil {
		return nil
	}

	calls := r.Calls
	if r.Result {
		calls = callsOf(m, at, r)
	}
	known.calls = len(calls)
	for _, c := range calls {
		path, use := derived.FileOf(derived.Call{Name: c.Name, Arguments: c.Arguments})
		if use != derived.FileReads && use != derived.FileWrites && use != derived.FileChanges {
			known.paths = nil
			break
		}
		known.paths = append(known.paths, path)
	}
	if !record.IsUnread(m, at) {
		mm.paths[at] = known
	}
	return known.paths
}

// callBefore returns the place of the record whose calls the one at a place answers; 0: it is not
// known.
func callBefore(m record.Records, at int) int {
	a, log := record.AddressOf(m, at), m
	if t, ok := m.(*record.Merged); ok {
		log = t.Log(a)
	}
	if e := log.At(a.Line); record.IsResult(e) && e.CallOf > 0 && int(e.CallOf) < a.Line {
		return record.PositionIn(m, record.Address{Event: a.Event, Line: int(e.CallOf)})
	}
	return 0
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
