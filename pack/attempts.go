package pack

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Failed attempts are calls of tools that failed and did not succeed since. The goal names them, so
// that an agent does not try again what it does not see any more.
const (
	attemptWindow = 256 // records that are looked at
	plainSight    = 8   // of these the newest, which every agent still sees
	maxAttempts   = 5
	attemptCall   = 100      // bytes of what was called
	attemptSaid   = 24       // tokens of how it failed
	attemptRead   = 16 << 10 // bytes at each end of a result
	nearTheEnds   = 400      // bytes in which an exit code is looked for
)

// attempt is how one call of a tool ended.
type attempt struct {
	what   string // the tool and its arguments, in full
	failed bool
	line   string // what the goal says of it, without where
}

// attempts gives a line for each failed attempt, the newest first.
func (mm *memo) attempts(m Records, n int) (lines []string) {
	known := map[int][]attempt{}
	type failure struct {
		line    string
		at, all int
		visible bool
	}
	failures := map[string]*failure{}
	for at := max(1, n-attemptWindow+1); at <= n; at++ {
		list, ok := mm.tried[at]
		if !ok {
			var err error
			if list, err = attemptsAt(m, at); err != nil {
				continue // the next build tries again
			}
		}
		known[at] = list
		for _, a := range list {
			if !a.failed {
				delete(failures, a.what)
				continue
			}
			f := failures[a.what]
			if f == nil {
				f = &failure{}
				failures[a.what] = f
			}
			f.line, f.at, f.all, f.visible = a.line, at, f.all+1, at > n-plainSight
		}
	}
	mm.tried = known
	var newest []*failure
	for _, f := range failures {
		if !f.visible {
			newest = append(newest, f)
		}
	}
	slices.SortFunc(newest, func(a, b *failure) int {
		if a.at != b.at {
			return b.at - a.at
		}
		return strings.Compare(a.line, b.line)
	})
	for _, f := range newest[:min(len(newest), maxAttempts)] {
		line := f.line + " (" + addressOf(m, f.at).source()
		switch {
		case f.all == 2:
			line += ", twice"
		case f.all > 2:
			line += fmt.Sprintf(", %d times", f.all)
		}
		lines = append(lines, line+")")
	}
	return lines
}

// attemptsAt reads the results in the record at a place; most have none.
func attemptsAt(m Records, at int) (list []attempt, err error) {
	e := m.At(at)
	if !isResult(e) {
		return nil, nil
	}
	a, log := addressOf(m, at), m
	if t, ok := m.(*timeline); ok {
		log = t.log(a)
	}
	raw, err := log.Record(a.n)
	if err != nil {
		return nil, err
	}
	call := int(log.At(a.n).CallOf)
	if a.event {
		ev, _ := ctxabi.DecodeToolEvent(raw)
		asked := ctxabi.ToolEvent{Name: ev.Name}
		if call > 0 {
			if asked, err = eventCall(log, call); err != nil {
				return nil, err
			}
		}
		return []attempt{attemptOf(asked.Name, asked.Arguments, ev.Text, ev.Failed || ev.ExitCode != "" && ev.ExitCode != "0")}, nil
	}
	msg := ctxabi.DecodeMessage(raw)
	results := msg.Results
	if len(results) == 0 {
		results = []ctxabi.Result{{CallID: msg.CallID, Text: msg.Text}}
	}
	var calls answers
	if call > 0 {
		if calls, err = callsAt(log, call); err != nil {
			return nil, err
		}
	}
	for _, r := range results {
		name, arguments := calls.name(r.CallID), calls.arguments(r.CallID)
		if name == "" {
			name = msg.Name
		}
		list = append(list, attemptOf(name, arguments, r.Text, r.IsError))
	}
	return list, nil
}

func attemptOf(name, arguments, output string, failed bool) attempt {
	output, _ = bothEnds(output, attemptRead)
	a := attempt{what: name + "\x00" + strings.Join(strings.Fields(arguments), " "), failed: name != "" && (failed || tellsFailure(output))}
	if a.failed {
		a.line = attemptLine(name, arguments, output)
	}
	return a
}

// attemptLine is what the goal says of a failed attempt: the command or the call, and how it failed.
func attemptLine(name, arguments, output string) string {
	what := oneLine(name)
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
	line := compress.Clip(oneLine(strings.Join(strings.Fields(what), " ")), attemptCall)
	if said := oneLine(compress.Fold(output, attemptSaid)); said != "" {
		line += ": " + said
	}
	return line
}

// How outputs begin and end that tell of a failure, for tools that have no other way to say so.
var (
	exitCode   = regexp.MustCompile(`(?i)\b(?:exit(?:ed)?(?: with)?(?: code| status)?|returned(?: code)?|exit_code"?)[:= ]+([1-9]\d{0,2})\b`)
	failsFirst = regexp.MustCompile(`(?i)^(?:error|fatal|panic|exception|traceback|failed|failure|permission denied|command not found)\b`)
	failsLast  = regexp.MustCompile(`^(?:FAIL|FAILED|ERROR|error|Error)\b|^make: \*\*\* |^[A-Z]\w*(?:Error|Exception): `)
)

// tellsFailure says whether a tool's output tells that it failed.
func tellsFailure(output string) bool {
	first, last := "", ""
	compress.EachLine(output, func(_ int, line string) {
		if first == "" {
			first = line
		}
		last = line
	})
	return failsFirst.MatchString(first) || failsLast.MatchString(last) ||
		exitCode.MatchString(output[:min(len(output), nearTheEnds)]) || exitCode.MatchString(output[max(0, len(output)-nearTheEnds):])
}
