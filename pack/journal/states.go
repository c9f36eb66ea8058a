package journal

import (
	"cmp"
	"slices"

	"github.com/ctxfs/ctxfs/compress/ledger"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/compress/verdicts"
	"github.com/ctxfs/ctxfs/pack/record"
)

// stateWindow is how many records the ledger of files and the verdicts of runs look back at least; it is less than twice as many.
const stateWindow = 1024

// keptStates is how many states a memo keeps.
const keptStates = 16

// state is what the records of an interval say of files and of runs.
type state struct {
	from, to int // after the place from, up to to
	files    ledger.State
	runs     verdicts.State
}

// states are those that one build may reuse of those before it.
type states []state

// stateFrom returns the place behind which states of the generations begin whose major compaction a record brought.
func stateFrom(major int) int { return max(0, major/stateWindow-1) * stateWindow }

// at returns the state of the records behind a place up to another one. It returns ctxabi.ErrIO when a record cannot be read.
func (s *states) at(m record.Records, from, to int) (state, error) {
	best := state{from: from, to: from}
	for _, known := range *s {
		if known.from == from && known.to <= to && known.to >= best.to {
			best = known
		}
	}
	begun := best.to
	for at := best.to + 1; at <= to; at++ {
		r, err := callsAndResults(m, at)
		if err != nil {
			return best, err
		}
		best.files, best.runs, best.to = best.files.Apply(r), best.runs.Apply(r), at
	}
	if begun != to {
		*s = append(slices.DeleteFunc(*s, func(known state) bool { return known.from < from-stateWindow }), best)
		if over := len(*s) - keptStates; over > 0 {
			*s = slices.Delete(*s, 0, over)
		}
	}
	return best, nil
}

// callsAndResults returns what the record at a place has of calls and of results.
func callsAndResults(m record.Records, at int) (toolcall.Record, error) {
	out := toolcall.Record{At: at}
	e := m.At(at)
	if e.Len == 0 || record.IsUser(e) {
		return out, nil
	}
	r, err := record.ExcerptOf(m, at)
	if err != nil {
		return out, err
	}
	out.Calls = r.Calls
	for _, a := range r.Answers {
		out.Results = append(out.Results, toolcall.Result{Call: a.Call, Tool: cmp.Or(a.Tool, r.Name), Text: a.Text, Exit: r.Exit, Failed: a.Failed, Cut: len(a.Text) >= record.LongText})
	}
	return out, nil
}
