package toolcall

import (
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/coder"
)

// Record holds the calls and results of one record of the history.
type Record struct {
	At      int // position in the history; must increase with each record
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

// Limits of Open.
const (
	maxOpen     = 64 // calls without a result
	maxEarly    = 16 // results without a call
	maxEarlyAge = 8  // positions that a result stays without a call
)

// Open pairs calls with results. It holds calls without a result and, since some programs record a
// result before its call, results without a call. The zero value is empty. Open is immutable.
type Open struct {
	calls []openCall
	early []Done
}

type openCall struct {
	at       int
	call     ctxabi.Call
	reported bool // Next has returned it as open
}

func (c *openCall) done() Done {
	return Done{At: c.at, Called: c.at, Tool: c.call.Name, Arguments: c.call.Arguments, Open: true}
}

// Next adds the next record and returns the updated state and the calls to report, in this order:
// calls that the record answers; if it makes calls itself, earlier calls without a result, with
// Open set and only once each; calls of the record that an earlier result answers; results without
// a call beyond maxEarly or maxEarlyAge, without arguments; unreported calls beyond maxOpen.
func (o Open) Next(r Record) (Open, []Done) {
	if len(r.Calls) == 0 && len(r.Results) == 0 {
		return o, nil
	}
	var done []Done
	next := Open{slices.Clone(o.calls), slices.Clone(o.early)}
	for _, res := range r.Results {
		d := Done{At: r.At, Tool: res.Tool, Result: res}
		i := slices.IndexFunc(next.calls, func(c openCall) bool { return res.Call == "" || c.call.ID == res.Call })
		if i < 0 && res.Call != "" {
			next.early = append(next.early, d)
			continue
		}
		if i >= 0 {
			c := next.calls[i]
			d.Called, d.Tool, d.Arguments = c.at, c.call.Name, c.call.Arguments
			next.calls = slices.Delete(next.calls, i, i+1)
		}
		done = append(done, d)
	}

	for i := range next.calls {
		if c := &next.calls[i]; len(r.Calls) > 0 && !c.reported {
			c.reported = true
			done = append(done, c.done())
		}
	}
	for _, c := range r.Calls {
		i := slices.IndexFunc(next.early, func(d Done) bool { return d.Result.Call == c.ID })
		if i < 0 {
			next.calls = append(next.calls, openCall{at: r.At, call: c})
			continue
		}
		d := next.early[i]
		d.Called, d.Tool, d.Arguments = r.At, c.Name, c.Arguments
		done = append(done, d)
		next.early = slices.Delete(next.early, i, i+1)
	}
	for len(next.early) > 0 && (len(next.early) > maxEarly || next.early[0].At < r.At-maxEarlyAge) {
		done = append(done, next.early[0])
		next.early = next.early[1:]
	}
	if over := len(next.calls) - maxOpen; over > 0 {
		for _, c := range next.calls[:over] {
			if !c.reported {
				done = append(done, c.done())
			}
		}
		next.calls = slices.Delete(next.calls, 0, over)
	}
	return next, done
}

// Code encodes or decodes o.
func (o *Open) Code(c *coder.Coder) {
	coder.List(c, &o.calls, func(one *openCall) {
		coder.Number(c, &one.at)
		coder.Text(c, &one.call.ID, &one.call.Name, &one.call.Arguments)
		c.Flag(&one.reported)
	})
	coder.List(c, &o.early, func(d *Done) {
		coder.Number(c, &d.At)
		coder.Text(c, &d.Tool, &d.Result.Call, &d.Result.Tool, &d.Result.Text, &d.Result.Exit)
		c.Flag(&d.Result.Failed, &d.Result.Cut)
	})
}
