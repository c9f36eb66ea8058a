package toolcall

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

const nearTheEnds = 400 // bytes in which an exit code is looked for

// TellsFailure reports whether an output says that its call failed: by an exit status other than 0, or
// by its first or last line.
func TellsFailure(output string) bool {
	if exitStatus(output) != "" {
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
	exitCode   = lazy.Regexp(`(?i)\b(?:exit(?:ed)?(?: with)?(?: code| status)?|returned(?: code)?|exit_code"?)[:= ]+([1-9]\d{0,2})\b`)
	failsFirst = lazy.Regexp(`(?i)^(?:error|fatal|panic|exception|traceback|failed|failure|permission denied|command not found)\b`)
	failsLast  = lazy.Regexp(`^(?:FAIL|FAILED|ERROR|error|Error)\b|^make: \*\*\* |^[A-Z]\w*(?:Error|Exception): `)
)

// exitStatus is the status other than 0 that an output names near one of its ends; "" for none.
func exitStatus(output string) string {
	for k, part := range [2]string{output[:min(len(output), nearTheEnds)], output[max(0, len(output)-nearTheEnds):]} {
		if k == 1 && len(output) <= nearTheEnds {
			break // it was looked at
		}
		if low := strings.ToLower(part); !strings.Contains(low, "exit") && !strings.Contains(low, "returned") {
			continue
		}
		if m := exitCode().FindStringSubmatch(part); m != nil {
			return m[1]
		}
	}
	return ""
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
	zeroFirst  = lazy.Regexp(`^(?:\s*(?i:exit code|exit status|exit_code|returncode): ?0\b|<returncode>0</returncode>|<exit_code>0</exit_code>)`)
	otherFirst = lazy.Regexp(`^\s*<(?:returncode|exit_code)>-?[1-9]`)
	zeroLast   = lazy.Regexp(`(?i)(?:"exit_?code": ?0[,}][^"]*["}\]\d\s:.a-z_]*$|\[(?:the command )?completed with exit code 0\.?\](?:\n\[[^\n]*)*\s*$|\[command finished with exit code 0\]\s*$|\[exit(?: code| status)?:? 0\]\s*$|<exit_code>0</exit_code>\s*$|<returncode>0</returncode>\s*$)`)
	stopped    = lazy.Regexp(`(?i)\b(?:command aborted|timed out|timeout (?:reached|exceeded|expired)|was interrupted|interrupted by|still running|moved to the background|running in (?:the )?background|no new output after|^\^C)`)
	refused    = lazy.Regexp(`(?i)(?:user (?:rejected|denied|declined)|rejected by (?:the )?user|denied by (?:the )?user|does(?:n't| not) want to (?:proceed|take this action)|requires approval|not (?:been )?approved|blocked by (?:policy|hook)|permission to use .* has been denied)`)
)

// ExitOf returns the exit status of a call that names another one than 0; "" for none.
func ExitOf(r Result) string {
	if r.Exit != "" && r.Exit != "0" {
		return r.Exit
	}
	return exitStatus(r.Text)
}

// StatusOf returns how far the call that r answers ran, by its fields and by what frames of tools
// say at the ends of its text.
func StatusOf(r Result) Status {
	head, tail := r.Text[:min(len(r.Text), nearTheEnds)], r.Text[max(0, len(r.Text)-nearTheEnds):]
	switch {
	case r.Failed && refused().MatchString(head):
		return NotRun
	case mayBeStopped(tail) && stopped().MatchString(tail), r.Failed && stopped().MatchString(head):
		return Stopped
	case r.Exit == "0":
		return Succeeded
	case r.Exit != "", r.Failed, exitStatus(r.Text) != "":
		return Failed
	case strings.Contains(tail, "0") && (strings.Contains(strings.ToLower(tail), "code") || strings.Contains(tail, "[exit")) && zeroLast().MatchString(tail):
		return Succeeded
	case otherFirst().MatchString(head):
		return Failed
	case zeroFirst().MatchString(head):
		return Succeeded
	}
	return Unknown
}

// mayBeStopped reports whether a text has a word of those that stopped looks for, which takes less time.
func mayBeStopped(text string) bool {
	low := strings.ToLower(text)
	for _, word := range []string{"abort", "time", "interrupt", "running", "background", "no new output", "^c"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}
