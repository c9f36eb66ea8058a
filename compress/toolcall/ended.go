package toolcall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

const nearTheEnds = 400 // bytes at each end of an output in which frames of tools are looked for

// TellsFailure reports whether an output says that its call failed: by an exit status other than 0,
// or by its first or last line.
func TellsFailure(output string) bool {
	if exit := statedExit(output); exit != "" && exit != "0" {
		return true
	}
	first, last := "", ""
	compress.EachLine(output, func(_ int, line string) {
		if first == "" {
			first = line
		}
		last = line
	})
	return failsFirst().MatchString(first) || failsLast().MatchString(last)
}

// How outputs begin and end that tell of a failure, for tools that have no other way to say so.
var (
	failsFirst = lazy.Regexp(`(?i)^(?:error|fatal|panic|exception|traceback|failed|failure|permission denied|command not found)\b`)
	failsLast  = lazy.Regexp(`^(?:FAIL|FAILED|ERROR|error|Error)\b|^make: \*\*\* |^[A-Z]\w*(?:Error|Exception): `)
)

var (
	exitLine  = lazy.Regexp(`(?i)^[\[<]?(?:error )?(?:the )?(?:(?:command|process|script) )?(?:(?:completed|finished|failed|exited|terminated) )?(?:with )?(?:exit(?:[ _]?(?:code|status))?|return ?code|code)\W{1,2}(-?\d{1,3})(?:\W*|</\w+>)$`)
	frameLine = lazy.Regexp(`^(?:Chunk ID|Wall time|Original token count|Signal|Background PIDs|Process Group PGID): .{0,80}$|^\[(?:Current working directory|Python interpreter): [^\]]*\]$`)
	exitField = lazy.Regexp(`"(?:exit_?code|returncode)": ?(-?\d{1,3})[,}][^{}\[\]]*[}\s]*$`)
)

// statedExit returns the exit status that a tool states in a field of a JSON object, or in a line
// of its own at one of the ends, with nothing but other lines of tools before or after it; "" for
// none. All other lines are output, which may mention the status of another program.
func statedExit(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, `{"`) {
		if m := exitField().FindStringSubmatch(text[max(0, len(text)-nearTheEnds):]); m != nil {
			return m[1]
		}
		for _, name := range []string{"exit_code", "exitCode", "returncode", "metadata.exit_code"} {
			if v := gjson.Get(text, name); v.Type == gjson.Number {
				return v.Raw
			}
		}
		return ""
	}

	head := strings.Split(text[:min(len(text), nearTheEnds)], "\n")
	tail := strings.Split(text[max(0, len(text)-nearTheEnds):], "\n")
	slices.Reverse(tail)
	for _, lines := range [][]string{head, tail} {
		for _, line := range lines {
			exit, framed := exitIn(line)
			if exit != "" {
				return exit
			}
			if !framed {
				break
			}
		}
	}
	return ""
}

// exitIn returns the exit status that a line of a tool states; framed is false for a line of
// output.
func exitIn(line string) (exit string, framed bool) {
	line = strings.TrimSpace(line)
	low := strings.ToLower(line)
	if len(line) < 60 && (strings.Contains(low, "exit") || strings.Contains(low, "returncode")) {
		if m := exitLine().FindStringSubmatch(line); m != nil {
			return m[1], true
		}
	}
	return "", line == "" || frameLine().MatchString(line)
}

// Status is how far a call ran.
type Status uint8

const (
	Unknown   Status = iota // it ended; nothing names its exit status
	Succeeded               // its exit status is named and is 0
	Failed                  // its exit status is another one, or its result says that it failed
	Stopped                 // it was stopped on the way
	NotRun                  // it was refused
)

var (
	stopped      = lazy.Regexp(`(?i)\b(?:command aborted|timed out|timeout (?:reached|exceeded|expired)|was interrupted|interrupted by|still running|moved to the background|running in (?:the )?background|no new output after|^\^C)`)
	refused      = lazy.Regexp(`(?i)(?:user (?:rejected|denied|declined)|rejected by (?:the )?user|denied by (?:the )?user|does(?:n't| not) want to (?:proceed|take this action)|requires approval|not (?:been )?approved|blocked by (?:policy|hook)|permission to use .* has been denied)`)
	refusedFirst = lazy.Regexp(`(?i)^\W*(?:the )?user (?:rejected|denied|declined|does(?:n't| not) want)|^permission to use .* has been denied|^please always provide exactly one action`)
)

// ExitOf returns the exit status that a result states, in a field of its record or in its text; ""
// for none.
func ExitOf(r Result) string {
	return cmp.Or(r.Exit, statedExit(r.Text))
}

// StatusOf returns how far the call that r answers ran, by its fields and by what frames of tools
// say at the ends of its text.
func StatusOf(r Result) Status {
	head, tail := r.Text[:min(len(r.Text), nearTheEnds)], r.Text[max(0, len(r.Text)-nearTheEnds):]
	exit := ExitOf(r)
	switch {
	case r.Failed && refused().MatchString(head), refusedFirst().MatchString(head):
		return NotRun
	case exit == "" || exit == "-1":
		if mayBeStopped(tail) && stopped().MatchString(tail) || r.Failed && stopped().MatchString(head) {
			return Stopped
		}
	}
	switch {
	case exit != "" && exit != "0", r.Failed && r.Exit == "":
		return Failed
	case exit == "0":
		return Succeeded
	}
	return Unknown
}

// mayBeStopped reports whether a text has a word of those that stopped looks for, which takes less
// time.
func mayBeStopped(text string) bool {
	low := strings.ToLower(text)
	for _, word := range []string{"abort", "time", "interrupt", "running", "background", "no new output", "^c"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}
