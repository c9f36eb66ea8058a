package journal

import (
	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
)

// Notes returns what is derived of the first n records: facts, decisions, references, tasks, and
// changed statements. The result is valid until the next call. It is empty if a record cannot be
// read.
func (mm *Memo) Notes(m record.Records, n int) *derived.State {
	s, err := mm.states.At(mm.Context, m, section.From(n), n)
	if err != nil {
		return new(derived.State) // the pack can do without, and the next build tries again
	}
	return mm.states.Notes(s)
}

// Replaced reports whether all that the calls of the record at a place wrote to files, or read from
// them, was replaced by later calls that wrote these files whole, as of n records. Shell commands
// neither replace nor are replaced. It returns false if the record cannot be read.
func (mm *Memo) Replaced(m record.Records, at, n int) bool {
	notes := mm.Notes(m, n)
	paths := mm.pathsAt(m, at)
	for _, path := range paths {
		p := notes.WrittenAt(path)
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
