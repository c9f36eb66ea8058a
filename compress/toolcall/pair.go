package toolcall

import (
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/coder"
)

// Record is what one record has of calls and of results. Most have neither.
type Record struct {
	At      int // its place in the history; places only grow
	Calls   []ctxabi.Call
	Results []Result
}

// Result is what a record says to one call.
type Result struct {
	Call   string // the call's id; "" answers the oldest call that is open
	Tool   string // the tool's name, if the record has it
	Text   string // the output
	Exit   string // the exit status where a field has it; "" for none
	Failed bool   // a field says that the call failed
	Cut    bool   // Text is not the whole output
}

// Done is a call with its result.
type Done struct {
	At        int // the place of the result; of a call without one that of the call
	Called    int // the place of the call; 0 if it is not known
	Tool      string
	Arguments string
	Result    Result
	Open      bool // no result is known: the call may have run or not, or in part
}

// maxOpen is how many calls are open at a time.
const maxOpen = 64

// Open are the calls that have no result yet. The zero Open has none. It is a value: Next leaves
// the receiver as it is.
type Open struct{ calls []openCall }

type openCall struct {
	at       int
	call     ctxabi.Call
	reported bool
}

// Next takes a record. It returns the calls that the record's results answer, in their order, and
// before these, as Open, the calls of earlier records that have no result when the record makes calls
// of its own, each once. A result that answers no known call has a Done without arguments.
func (o Open) Next(r Record) (Open, []Done) {
	if len(r.Calls) == 0 && len(r.Results) == 0 {
		return o, nil
	}
	var done []Done
	next := Open{slices.Clone(o.calls)}
	for _, res := range r.Results {
		d := Done{At: r.At, Tool: res.Tool, Result: res}
		if i := slices.IndexFunc(next.calls, func(c openCall) bool { return res.Call == "" || c.call.ID == res.Call }); i >= 0 {
			c := next.calls[i]
			d.Called, d.Tool, d.Arguments = c.at, c.call.Name, c.call.Arguments
			next.calls = slices.Delete(next.calls, i, i+1)
		}
		done = append(done, d)
	}
	if len(r.Calls) == 0 {
		return next, done
	}
	for i := range next.calls {
		if c := &next.calls[i]; !c.reported {
			c.reported = true
			done = append(done, Done{At: c.at, Called: c.at, Tool: c.call.Name, Arguments: c.call.Arguments, Open: true})
		}
	}
	for _, c := range r.Calls {
		next.calls = append(next.calls, openCall{at: r.At, call: c})
	}
	if over := len(next.calls) - maxOpen; over > 0 {
		for _, c := range next.calls[:over] {
			if !c.reported {
				done = append(done, Done{At: c.at, Called: c.at, Tool: c.call.Name, Arguments: c.call.Arguments, Open: true})
			}
		}
		next.calls = slices.Delete(next.calls, 0, over)
	}
	return next, done
}

// Waiting returns the calls that have no result, as Open, oldest first.
func (o Open) Waiting() (done []Done) {
	for _, c := range o.calls {
		done = append(done, Done{At: c.at, Called: c.at, Tool: c.call.Name, Arguments: c.call.Arguments, Open: true})
	}
	return done
}

// Code writes o, or reads what was written.
func (o *Open) Code(c *coder.Coder) {
	coder.List(c, &o.calls, func(one *openCall) {
		coder.Number(c, &one.at)
		coder.Text(c, &one.call.ID, &one.call.Name, &one.call.Arguments)
		c.Flag(&one.reported)
	})
}
