package journal

import (
	"cmp"
	"slices"

	"github.com/ctxfs/ctxfs/compress/acts"
	"github.com/ctxfs/ctxfs/compress/ledger"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/compress/verdicts"
	"github.com/ctxfs/ctxfs/pack/record"
)

// stateWindow is how many records the ledger of files and the verdicts of runs look back at least; it is less than twice as many.
const stateWindow = 1024

// keptStates is how many states a memo keeps.
const keptStates = 32

// state is what the records of an interval say of files, of runs and of acts.
type state struct {
	from, to int // after the place from, up to to
	files    ledger.State
	runs     verdicts.State
	acts     acts.State
}

// with returns the state after the next record.
func (s state) with(r toolcall.Record) state {
	return state{s.from, r.At, s.files.Apply(r), s.runs.Apply(r), s.acts.Apply(r)}
}

// states are those that one build may reuse of those before it.
type states []state

// stateFrom returns the place behind which states of the generations begin whose major compaction a record brought.
func stateFrom(major int) int { return max(0, major/stateWindow-1) * stateWindow }

// at returns the state of the records behind a place up to another one. It returns ctxabi.ErrIO when a record cannot be read. The state
// that begins one window later goes along, some records at a time, so that none has to be made anew when a compaction goes over to it.
func (s *states) at(m record.Records, from, to int) (state, error) {
	best, next := s.newest(from, to), s.newest(from+stateWindow, to)
	begun := best.to
	along := next.to == begun || to-begun <= ReadAhead
	for best.to < to {
		r, err := callsAndResults(m, best.to+1)
		if err != nil {
			return best, err
		}
		if along && next.to == best.to {
			next = next.with(r)
		}
		best = best.with(r)
	}
	if begun == to {
		return best, nil
	}
	for range ReadAhead {
		if next.to >= to {
			break
		}
		r, err := callsAndResults(m, next.to+1)
		if err != nil {
			return best, err
		}
		next = next.with(r)
	}
	s.keep(next)
	s.keep(best)
	return best, nil
}

// prepare goes through some of the records behind a place up to another one, as far as nobody did yet.
func (s *states) prepare(m record.Records, from, to int) {
	if known := s.newest(from, to); known.to < to {
		s.at(m, from, min(to, known.to+ReadAhead)) // what cannot be read is read by whoever needs it
	}
}

// newest returns the longest known state of the records behind a place that goes no further than another one.
func (s *states) newest(from, to int) state {
	best := state{from: from, to: from}
	for _, known := range *s {
		if known.from == from && known.to <= to && known.to >= best.to {
			best = known
		}
	}
	return best
}

// keep keeps a state that is of some records, in place of the oldest if there are too many.
func (s *states) keep(one state) {
	if one.to == one.from {
		return
	}
	*s = append(slices.DeleteFunc(*s, func(known state) bool { return known.from < one.from-2*stateWindow }), one)
	if over := len(*s) - keptStates; over > 0 {
		*s = slices.Delete(*s, 0, over)
	}
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
