package journal

import (
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Failed attempts are calls of tools that failed and that nothing made up for since: no other try that succeeded with the same, or
// with all of it, and no check that they are a part of. The goal names those of the last turns, so that an agent does not try again
// what it does not see any more. Recall does not repeat what was mended.
const (
	attemptWindow = 256 // records that are looked at
	AttemptTurns  = 3   // requests of the user, of which the last begins the turn that goes on: what failed before them does not count
	PlainSight    = 8   // of these the newest, which every agent still sees
	maxAttempts   = 5
	maxFailing    = 64       // failures that are remembered at a time
	attemptCall   = 100      // bytes of what was called
	attemptText   = 24       // tokens of how it failed
	AttemptRead   = 16 << 10 // bytes at each end of a result
)

// Attempt is how one call of a tool ended.
type Attempt struct {
	What   uint64 // the tool and its arguments, in full
	Deed   derived.Action
	Failed bool
	line   string // what the goal says of it, without where
}

// failure is an attempt that failed.
type failure struct {
	Attempt
	places []int
}

// Attempts returns a line for each failed attempt that still counts, the newest first.
func (mm *Memo) Attempts(m record.Records, n int) (lines []string) {
	from := max(1, n-attemptWindow+1)
	for at, turns := n, 0; at > from && turns < AttemptTurns; at-- {
		if record.IsUser(m.At(at)) {
			if turns++; turns == AttemptTurns {
				from = at
			}
		}
	}
	var o Outcomes
	mm.TryAll(&o, m, from, n)
	mm.forgetTried(n)
	for _, f := range slices.Backward(o.failing) {
		last := f.places[len(f.places)-1]
		if last > n-PlainSight || len(lines) == maxAttempts {
			continue
		}
		line := f.line + " (" + record.AddressOf(m, last).Source()
		switch all := len(f.places); {
		case all == 2:
			line += ", twice"
		case all > 2:
			line += fmt.Sprintf(", %d times", all)
		}
		lines = append(lines, line+")")
	}
	return lines
}

// Outcomes are how calls ended, taken in their order.
type Outcomes struct {
	failing []failure    // that still count, in the order of the last tries
	Mended  map[int]bool // places of results whose failure was made up for, or of which there was another one since
}

func (o *Outcomes) Add(at int, a Attempt) {
	over := func(is func(f *failure) bool) {
		o.failing = slices.DeleteFunc(o.failing, func(f failure) bool {
			if !is(&f) {
				return false
			}
			if o.Mended == nil {
				o.Mended = map[int]bool{}
			}
			for _, at := range f.places {
				o.Mended[at] = true
			}
			return true
		})
	}
	if !a.Failed {
		over(func(f *failure) bool { return a.Deed.Mends(f.Deed) })
		return
	}
	again := failure{Attempt: a}
	over(func(f *failure) bool {
		if f.What == a.What {
			again.places = f.places
		}
		return f.What == a.What || a.Deed.Repeats(f.Deed)
	})
	again.places = append(slices.Clone(again.places), at)
	if o.failing = append(o.failing, again); len(o.failing) > maxFailing {
		o.failing = slices.Delete(o.failing, 0, 1)
	}
}

// Clone returns a copy that Add may change without changing o.
func (o *Outcomes) Clone() Outcomes {
	return Outcomes{slices.Clone(o.failing), maps.Clone(o.Mended)}
}

// TryAll adds what the results between two places say.
func (mm *Memo) TryAll(o *Outcomes, m record.Records, from, n int) {
	for at := from; at <= n; at++ {
		if !record.IsResult(m.At(at)) {
			continue
		}
		list, ok := mm.tried[at]
		if !ok {
			var err error
			if list, err = attemptsAt(m, at); err != nil {
				continue // the next build tries again
			}
			mm.tried[at] = list
		}
		for _, a := range list {
			o.Add(at, a)
		}
	}
}

// forgetTried drops what is out of every window of a history of n records.
func (mm *Memo) forgetTried(n int) {
	if len(mm.tried) > 2*RecallRecords {
		maps.DeleteFunc(mm.tried, func(at int, _ []Attempt) bool { return at <= n-RecallRecords || at > n })
	}
}

// attemptsAt reads the results in the record at a place; most have none.
func attemptsAt(m record.Records, at int) (list []Attempt, err error) {
	e := m.At(at)
	if !record.IsResult(e) {
		return nil, nil
	}
	a, log := record.AddressOf(m, at), m
	if t, ok := m.(*record.Merged); ok {
		log = t.Log(a)
	}
	raw, err := log.Record(a.Line)
	if err != nil {
		return nil, err
	}
	call := int(log.At(a.Line).CallOf)
	if a.Event {
		ev, _ := ctxabi.DecodeToolEvent(raw)
		asked := ctxabi.ToolEvent{Name: ev.Name}
		if call > 0 {
			if asked, err = record.EventCall(log, call); err != nil {
				return nil, err
			}
		}
		return []Attempt{attemptOf(asked.Name, asked.Arguments, ev.Text, ev.ExitCode, ev.Failed)}, nil
	}
	msg := ctxabi.DecodeMessage(raw)
	results := msg.Results
	if len(results) == 0 {
		results = []ctxabi.Result{{CallID: msg.CallID, Text: msg.Text}}
	}
	var calls record.Answers
	if call > 0 {
		if calls, err = record.CallsAt(log, call); err != nil {
			return nil, err
		}
	}
	for _, r := range results {
		name, arguments := calls.Name(r.CallID), calls.Arguments(r.CallID)
		if name == "" {
			name = msg.Name
		}
		list = append(list, attemptOf(name, arguments, r.Text, "", r.IsError))
	}
	return list, nil
}

func attemptOf(name, arguments, output, exit string, failed bool) Attempt {
	output, _ = BothEnds(output, AttemptRead)
	a := Attempt{What: WhatOf(name, arguments), Deed: derived.ActionOf(name, arguments)}
	if a.Failed = name != "" && toolcall.HowEnded(output, exit, failed).Failed(a.Deed); a.Failed {
		a.line = AttemptLine(name, arguments, output)
	}
	return a
}

// WhatOf names a call.
func WhatOf(name, arguments string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, name+"\x00"+strings.Join(strings.Fields(arguments), " "))
	return h.Sum64()
}

// AttemptLine is what the goal says of a failed attempt: the command or the call, and how it failed.
func AttemptLine(name, arguments, output string) string {
	what := record.OneLine(name)
	if args := gjson.Parse(arguments); args.IsObject() {
		keys, only := 0, ""
		args.ForEach(func(_, v gjson.Result) bool {
			keys++
			only = v.Str
			return true
		})
		for _, key := range []string{"command", "cmd", "script"} {
			if v := args.Get(key); v.Type == gjson.String && v.Str != "" {
				what, keys, only = "", 1, v.Str
			}
		}
		if keys == 1 && only != "" {
			what += " " + only
		} else if keys > 0 {
			what += " " + args.Raw
		}
	} else if arguments != "" {
		what += " " + arguments
	}
	line := compress.Clip(record.OneLine(strings.Join(strings.Fields(what), " ")), attemptCall)
	if said := record.OneLine(compress.Fold(output, attemptText)); said != "" {
		line += ": " + said
	}
	return line
}

// BothEnds returns n bytes of each end of a text, or all of it; it keeps nothing else alive.
func BothEnds(text string, n int) (short string, whole bool) {
	if len(text) <= 2*n {
		return strings.Clone(text), true
	}
	return strings.ToValidUTF8(text[:n], "") + "\n" + strings.ToValidUTF8(text[len(text)-n:], ""), false
}

const RecallRecords = 2048 // that are looked at
