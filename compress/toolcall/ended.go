package toolcall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// nearTheEnds is the size in bytes of the head and the tail of an output in which a tool's frame,
// such as the exit status, may be located.
const nearTheEnds = 400

// ObjectFails reports whether a result that is a JSON object says that its call failed: it has an
// error, or a status that is negative. isObject is false for another text.
func ObjectFails(text string) (fails, isObject bool) {
	v := gjson.Parse(text)
	if !v.IsObject() || !gjson.Valid(text) {
		return false, false
	}
	for _, name := range []string{"success", "ok", "status"} {
		field := v.Get(name)
		fails = fails || field.Type == gjson.False || field.Str == "error"
	}
	err := v.Get("error")
	set := err.IsObject() || err.IsArray() || err.Type == gjson.True || err.Type == gjson.Number && err.Num != 0
	return fails || set || err.Str != "" && err.Str != "false" && err.Str != "none", true
}

// TellsFailure reports whether an output shows that its call failed: it states an exit status other
// than 0, or its first or last line is an error message.
func TellsFailure(output string) bool {
	if exit := statedExit(&Done{Result: Result{Text: output}}); exit != "" && exit != "0" {
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

// Error messages in the first and the last line of an output.
var (
	failsFirst = lazy.Regexp(`(?i)^\W*(?:error|fatal|panic|exception|traceback|failed|failure|invalid|permission denied|no such file|command not found)\b`)
	failsLast  = lazy.Regexp(`^(?:FAIL|FAILED|ERROR|error|Error)\b|^make: \*\*\* |^[A-Z]\w*(?:Error|Exception): `)
)

// Lines that a tool adds to an output. The groups of exitLine are the mark of a frame, the words
// before the exit status, and the exit status.
var (
	exitLine = lazy.Regexp(`(?i)^([\[<]|(?:error )?(?:the )?(?:command|process|script) )?` +
		`(?:the )?(?:(?:command|process|script) )?` +
		`(?:(?:completed|finished|failed|exited|terminated) )?(?:with )?` +
		`(exit(?:[ _]?(?:code|status))?|return ?code|code)\W{1,2}(-?\d{1,3})(?:\W*|</\w+>)$`)
	frameLine = lazy.Regexp(`^(?:Chunk ID|Wall time|Original token count|Signal|` +
		`Background PIDs|Process Group PGID): .{0,80}$` +
		`|^\[(?:Current working directory|Python interpreter): [^\]]*\]$|^Output:$|^</?output>$`)
)

// unframed returns the output of a call without the lines that a tool adds at its ends, and the exit
// status in them, or "". Other lines may mention the exit status of another program, and a line that
// the arguments of the call contain is output: echo "exit code: $?". "exit status 1" is a frame of
// some tools, and what go prints if its program failed. Another line without a mark belongs to a frame
// only next to a line of it, in front of the output, or in a result whose error flag is set. If the
// call only shows text, an exit status other than 0 needs another line of a frame or the flag.
func unframed(d *Done) (output, exit string) {
	text := d.Result.Text
	beside, certain := d.Result.Failed, d.Result.Failed
	isFrame := func(line string, beside bool) bool {
		in, framed := exitIn(line, d.Arguments, beside)
		certain = certain || frameLine().MatchString(strings.TrimSpace(line))
		exit = cmp.Or(exit, in)
		return framed
	}
	output = text
	for len(text)-len(output) < nearTheEnds {
		line, rest, more := strings.Cut(output, "\n")
		if !more || !isFrame(line, beside || strings.TrimSpace(rest) != "") {
			break
		}
		output, beside = rest, true
	}
	for size := len(output); size-len(output) < nearTheEnds; {
		last := strings.LastIndexByte(output, '\n')
		line, before := output[last+1:], output[:max(0, last)]
		if !isFrame(line, beside || strings.HasSuffix(before, "\n")) {
			break
		}
		beside = beside || strings.TrimSpace(line) != ""
		if output = before; last < 0 {
			break
		}
	}
	if !certain && exit != "" && exit != "0" && showsText(d) {
		return text, ""
	}
	return output, exit
}

// shows are programs that print text of files, and those that run beside them.
var shows = compress.WordSet(`cat tac zcat head tail less more bat nl sed grep egrep fgrep zgrep rg awk jq
	cut sort uniq wc tr column cd ls find echo printf true journalctl`)

// showsText reports whether a call only shows text, which may contain any message.
func showsText(d *Done) bool {
	script, ok := Script(d.Tool, d.Arguments)
	if !ok {
		return false
	}
	steps := Steps(script)
	return len(steps) > 0 && !slices.ContainsFunc(steps, func(s Step) bool {
		return len(s.Commands) == 0 || slices.ContainsFunc(s.Commands, func(words []string) bool {
			return len(words) == 0 || !shows[words[0][strings.LastIndexByte(words[0], '/')+1:]]
		})
	})
}

// statedExit returns the exit status that an output states, or "".
func statedExit(d *Done) string {
	if text := strings.TrimSpace(d.Result.Text); strings.HasPrefix(text, `{"`) {
		for _, name := range []string{"exit_code", "exitCode", "returncode", "metadata.exit_code"} {
			if v := gjson.Get(text, name); v.Type == gjson.Number {
				return v.Raw
			}
		}
		return ""
	}
	_, exit := unframed(d)
	return exit
}

// Body returns what a command put out, without what tools write around it: exit codes, times, a JSON
// object with a field output.
func Body(d *Done) string {
	text := d.Result.Text
	if strings.HasPrefix(text, `{"`) && gjson.Valid(text) {
		for _, key := range []string{"output", "stdout"} {
			if v := gjson.Get(text, key); v.Type == gjson.String && key == "stdout" {
				return v.Str + gjson.Get(text, "stderr").String()
			} else if v.Type == gjson.String {
				return v.Str
			}
		}
	}
	output, _ := unframed(d)
	return output
}

// exitIn returns the exit status in a frame line, or "". framed is true if the line is blank or
// belongs to a frame, and false if it is output. beside reports that its place is one of a frame.
func exitIn(line, arguments string, beside bool) (exit string, framed bool) {
	line = strings.TrimSpace(line)
	low := strings.ToLower(line)
	if len(line) < 60 && (strings.Contains(low, "exit") || strings.Contains(low, "returncode")) {
		if m := exitLine().FindStringSubmatchIndex(line); m != nil {
			marked, word := m[2] >= 0, low[m[4]:m[5]]
			printed := strings.Contains(strings.ToLower(arguments), low[:m[5]])
			if plain := !marked && word != "exit status"; printed || plain && (!beside || word == "exit" || word == "code") {
				return "", false
			}
			return line[m[6]:m[7]], true
		}
	}
	return "", line == "" || frameLine().MatchString(line)
}

// Status is the outcome of a call.
type Status uint8

const (
	Unknown   Status = iota // no exit status is stated
	Succeeded               // the exit status is 0
	Failed                  // the exit status is not 0, or a field of the result reports a failure
	Stopped                 // aborted, timed out, or moved to the background
	NotRun                  // refused before it started
)

// Messages of agents about calls that did not complete.
var (
	stopped = lazy.Regexp(`(?i)\b(?:command aborted|timed out|timeout (?:reached|exceeded|expired)` +
		`|was interrupted|interrupted by` +
		`|still running|moved to the background|running in (?:the )?background|no new output after|^\^C)`)
	refused = lazy.Regexp(`(?i)(?:user (?:rejected|denied|declined)|rejected by (?:the )?user|denied by (?:the )?user` +
		`|does(?:n't| not) want to (?:proceed|take this action)|requires approval|not (?:been )?approved` +
		`|blocked by (?:policy|hook)|permission to use .* has been denied)`)
	refusedFirst = lazy.Regexp(`(?i)^\W*(?:the )?user (?:rejected|denied|declined|does(?:n't| not) want)` +
		`|^permission to use .* has been denied|^please always provide exactly one action`)
)

// ExitOf returns the exit status of a call from a field of its result or else from a frame of a tool
// around the output, or "" if neither states one. Text that the call itself prints states none.
func ExitOf(d *Done) string {
	return cmp.Or(d.Result.Exit, statedExit(d))
}

// StatusOf derives the outcome of a call from the fields of its result and from frames within the
// first and last 400 bytes of the text.
func StatusOf(d *Done) Status {
	r := &d.Result
	head, tail := r.Text[:min(len(r.Text), nearTheEnds)], r.Text[max(0, len(r.Text)-nearTheEnds):]
	exit := ExitOf(d)
	switch {
	case r.Failed && refused().MatchString(head), refusedFirst().MatchString(head):
		return NotRun
	case exit == "" || exit == "-1":
		if stopped().MatchString(tail) || r.Failed && stopped().MatchString(head) {
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
