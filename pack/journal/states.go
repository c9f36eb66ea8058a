package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ctxfs/ctxfs/compress/acts"
	"github.com/ctxfs/ctxfs/compress/ledger"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/compress/verdicts"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/record"
)

// stateWindow is how many records the ledger of files and the verdicts of runs look back at least; it is less than twice as many.
const stateWindow = 1024

// maxStates is how many states a memo keeps.
const maxStates = 32

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
	if over := len(*s) - maxStates; over > 0 {
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

// Files and runs are known as of a place before the last build by whoever starts again, so that it reads the records since then alone.

const (
	statesVersion    = 1  // of the form in which states are kept
	statesSavedEvery = 32 // places after which they are kept anew
)

func (s *state) code(c *coder.Coder) {
	coder.Number(c, &s.from, &s.to)
	s.files.Code(c)
	s.runs.Code(c)
	s.acts.Code(c)
}

// keptStates are states of the first places of a history.
type keptStates struct {
	places, tools int
	head          string // of both logs up to there
	states        []state
}

func (k *keptStates) code(c *coder.Coder) {
	coder.Number(c, &k.places, &k.tools)
	coder.Text(c, &k.head)
	coder.List(c, &k.states, func(s *state) { s.code(c) })
}

// readStates reads them. ok is false where data is something else.
func readStates(data []byte) (k keptStates, ok bool) {
	c := &coder.Coder{Data: data, Reads: true}
	k.code(c)
	for i := range k.states {
		s := &k.states[i]
		c.Bad = c.Bad || s.from < 0 || s.to <= s.from || s.to > k.places
	}
	return k, !c.Bad && len(c.Data) == 0
}

// CheckStates returns an error where data is nothing that [Memo.Save] keeps of files and runs.
func CheckStates(data []byte) error {
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	if _, ok := readStates(rest); !ok {
		return errors.New("it tells of no files and runs")
	}
	return nil
}

// statesHead begins what is kept of states. It names all that decides them beside the records.
func (mm *Memo) statesHead() string {
	return fmt.Sprintf("ctxfs states %d renderer %d\n", statesVersion, mm.saved.renderer)
}

// saveStates keeps the newest states of records of m where many came since the last time. It returns an error when they are not kept.
func (mm *Memo) saveStates(m record.Records) error {
	k := keptStates{places: mm.saved.states}
	newest := map[int]int{} // of each place behind which states begin, the last of them in k
	for _, s := range mm.states {
		if i, known := newest[s.from]; s.to > m.Len() || known && s.to <= k.states[i].to {
			continue
		} else if known {
			k.states[i] = s
		} else {
			newest[s.from] = len(k.states)
			k.states = append(k.states, s)
		}
		k.places = max(k.places, s.to)
	}
	if k.places < mm.saved.states+statesSavedEvery || record.UnreadSoFar(m) > 0 {
		return nil
	}
	mm.saved.states = k.places
	slices.SortFunc(k.states, func(a, b state) int { return b.from - a.from })
	k.states = k.states[:min(len(k.states), 2)] // the one in use, and the one that goes along
	var err error
	if k.head, err = mm.saved.statesStore.Head(m, k.places); err != nil {
		return err
	}
	k.tools = record.ToolsUpTo(m, k.places)
	c := &coder.Coder{Data: []byte(mm.statesHead())}
	k.code(c)
	return mm.saved.statesStore.Keep(c.Data)
}

// restoreStates takes the states that are kept, where they are of the beginning of m.
func (mm *Memo) restoreStates(m record.Records) {
	data, head := mm.saved.statesStore.Load(), mm.statesHead()
	if len(data) < len(head) || string(data[:len(head)]) != head {
		return
	}
	k, ok := readStates(data[len(head):])
	if !ok || k.places > m.Len() || record.ToolsUpTo(m, k.places) != k.tools {
		return
	}
	if now, err := mm.saved.statesStore.Head(m, k.places); err != nil || now != k.head {
		return
	}
	mm.states, mm.saved.states = k.states, k.places
}
