package runs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/compress/toolcall"
)

// outcome is how a run ended, as far as its status or its output says so.
type outcome uint8

const (
	ended      outcome = iota // nothing says how
	exitZero                  // its exit status is 0; its output says nothing
	passed                    // a runner or a compiler says that it succeeded
	answered                  // a tool returned a result that is no error
	failed                    // a status or the output says so
	unfinished                // it was stopped, or it runs in the background
)

// Bounds of a run.
const (
	maxName   = 160 // bytes
	maxArgs   = 120
	maxPlaces = 16 // failures in a row whose positions are kept
)

// run is the last result of one command, or of the calls of a tool for one object. It does not
// change once it is in a State.
type run struct {
	key    string
	object string // the tool and what identifies the object; a success ends all failures of an object
	name   string
	args   string // other arguments of a tool
	command

	at      int
	outcome outcome
	exit    string
	said    string
	fails   []int // positions of its failures since the last success

	failedAt int // the failure before this result; 0 for none
	why      string

	by   string // name of the run that ended the failure
	byAt int

	external bool // a tool that acts outside of the workspace
	quiet    bool // it counts only if it fails
	reading  bool // quiet, and the lines do not list it
	lookUp   bool // the tool only queries something; listed after all other runs
}

// open reports whether the run is a failure that nothing made up for.
func (r *run) open() bool { return r.outcome == failed && r.byAt == 0 }

// runOf returns the run of a call, or nil if the call is none.
func runOf(d *toolcall.Done) *run {
	status := toolcall.StatusOf(d.Result)
	if status == toolcall.NotRun || d.Tool == "" {
		return nil
	}
	var r *run
	if script, ok := toolcall.Script(d.Tool, d.Arguments); ok {
		r = shellRun(d, script, status)
	} else {
		r = toolRun(d, status)
	}
	if r == nil {
		return nil
	}

	r.at = d.At
	r.name = compress.Clip(oneLine(r.name), maxName)
	if status == toolcall.Stopped {
		r.outcome = unfinished
		r.said = cmp.Or(r.said, lastWords(toolcall.Body(d.Result.Text)))
	}
	if status != toolcall.Failed || r.outcome != failed {
		r.exit = ""
	}
	if r.outcome == failed {
		r.fails = []int{d.At}
	}
	return r
}

// shellRun returns the run of a shell script.
func shellRun(d *toolcall.Done, script string, status toolcall.Status) *run {
	l, ok := lineOf(script)
	if !ok {
		return nil
	}
	r := &run{key: "$" + l.key, name: l.text, command: l.command, quiet: l.class != acts, reading: l.class == reads}
	output := toolcall.Body(d.Result.Text)
	exit := toolcall.ExitOf(d.Result)
	v := verdict{}
	if !r.quiet {
		v = judge(output, l.text)
	}

	byStatus := status == toolcall.Failed && !l.answersNo(exit, output) && (l.trusted || r.quiet && !l.piped)
	switch {
	case byStatus, v.failed && v.runner, v.failed && !(status == toolcall.Succeeded && l.trusted):
		r.outcome = failed
		r.nameFailure(&l, v, script, byStatus)
	case v.passed && !d.Result.Cut && (l.several == "" || isTest(l.command.words)):
		r.outcome = passed
	case status == toolcall.Succeeded && l.trusted:
		r.outcome = exitZero
	}

	if l.trusted || !strings.Contains(r.name, gap) {
		r.exit = exit
	}

	r.said = r.textOf(v, output, l.mixed)
	if l.inline && r.outcome <= exitZero && r.said == "" {
		r.quiet, r.reading = true, true // files lists what it may have changed
	}
	return r
}

// nameFailure names a failed run after several commands or the whole script if any of them may
// have failed. byStatus is true if the exit status reports the failure.
func (r *run) nameFailure(l *commandLine, v verdict, script string, byStatus bool) {
	name := ""
	switch {
	case byStatus && !v.failed && (l.strict || r.quiet && !l.trusted):
		name = oneLine(script)
	case !byStatus && !v.runner && l.several != "":
		name = l.several
	default:
		return
	}
	r.key, r.name = "$"+name, name
}

// answersNo reports whether an exit status is the answer of a command and no failure.
func (l *commandLine) answersNo(exit, output string) bool {
	return l.asks && (exit == "1" || exit == "" && strings.TrimSpace(output) == "")
}

// textOf returns the part of an output that the run's line quotes. If mixed is true, other commands
// may have written to the output, so textOf labels its last line as output of the script.
func (r *run) textOf(v verdict, output string, mixed bool) string {
	if v.said != "" {
		return v.said
	}
	if r.outcome == failed {
		return compress.Clip(cmp.Or(firstTelling(informative(output)), lastWords(output)), maxSaid)
	}
	if fields, ok := fieldsOf(output); ok {
		return shown(fields, r.name, maxSaid)
	}
	if lines := informative(output); mixed && len(lines) > 0 {
		return "last line of the script: " + compress.Clip(lines[len(lines)-1], maxPart)
	}
	return lastWords(output)
}

// toolRun returns the run of a call of a tool that is not a shell.
func toolRun(d *toolcall.Done, status toolcall.Status) *run {
	args, _ := fieldsOf(d.Arguments)
	text := toolcall.Body(d.Result.Text)
	fields, isObject := fieldsOf(text)
	verbs := verbsOf(d.Tool)

	named := nameOf(d, args)
	r, plain := &named, compress.PlainName(d.Tool)
	r.exit = toolcall.ExitOf(d.Result)
	told := status == toolcall.Failed || d.Result.Failed
	told = told || isObject && r.external && tellsError(fields)
	told = told || saysError(text) && !(r.quiet && len(text) > maxSaid)
	checks := !r.quiet && slices.ContainsFunc(verbs, func(w string) bool { return checkingVerbs[w] })
	checks = checks || compress.IsShellTool(plain) || compress.IsCodeTool(plain)
	v := verdict{}
	if checks && !isObject {
		r.external = false
		v = judge(text, d.Tool)
	}
	switch {
	case told || v.failed:
		r.outcome = failed
	case v.passed && !d.Result.Cut:
		r.outcome = passed
	case checks && !isObject:
		r.outcome = ended
	default:
		r.outcome = answered
	}

	switch {
	case isObject:
		r.said = shown(fields, r.name, maxSaid)
	case checks:
		r.said = cmp.Or(v.said, lastWords(text))
	default:
		r.said = compress.Clip(oneLine(text), maxSaid)
	}
	if r.lookUp && r.outcome == answered {
		line := found(text, r.name, maxSaid, d.Result.Cut)
		r.quiet, r.said = line == "", cmp.Or(line, r.said)
	}
	if r.outcome != failed && !r.lookUp {
		r.key += madeBy(verbs, d.Arguments, fields)
	}
	return r
}

// nameOf returns a run with the name and the key of a call, without its result.
func nameOf(d *toolcall.Done, args []result.Field) run {
	if file := fileOf(d.Tool, d.Arguments); file != "" {
		return run{key: "\x00" + file, object: "\x00" + file, name: d.Tool + " " + file, quiet: true, reading: true}
	}
	r := run{external: !isReading(d.Tool)}
	r.quiet = !r.external
	r.lookUp = r.quiet && isLookUp(d.Tool)
	r.reading = r.quiet && !r.lookUp

	var ids []string
	if !r.lookUp || slices.ContainsFunc(args,
		func(f result.Field) bool { return result.IsID(f.Path) && identifies(&f) }) {
		for i := range args {
			if identifies(&args[i]) {
				ids = append(ids, args[i].Value)
			}
		}
	}
	r.object = d.Tool + "\x00" + strings.Join(ids, "\x00")
	r.name = strings.TrimSpace(d.Tool + " " + strings.Join(ids, " "))
	r.args = arguments(args, func(f *result.Field) bool { return len(ids) == 0 || !identifies(f) }, maxArgs)
	if len(ids) == 0 && !r.reading {
		r.object += oneLine(d.Arguments)
		if !r.lookUp {
			r.args = compress.Clip(r.args, maxArgs/2)
		}
		r.name, r.args = strings.TrimSpace(d.Tool+" "+r.args), ""
	}
	r.key = r.object
	return r
}

// madeBy returns what distinguishes the results of a tool that makes something new with each call.
func madeBy(verbs []string, arguments string, fields []result.Field) string {
	if !slices.ContainsFunc(verbs, func(w string) bool { return makingVerbs[w] }) {
		return ""
	}
	key := "\x00" + oneLine(arguments)
	for i := range fields {
		if f := &fields[i]; f.Top() && result.IsID(f.Path) && !strings.Contains(arguments, f.Value) {
			return key + "\x00" + f.Value
		}
	}
	return key
}
