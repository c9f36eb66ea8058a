package runs

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/notes"
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
	maxName    = 160      // bytes
	maxArgs    = 120      // bytes
	maxSaid    = 50       // tokens of a reason
	maxFields  = 200      // bytes of the fields of a result
	maxWords   = 4        // words of a plain text in JSON
	maxMessage = 200      // bytes of what was read that may be an error message
	maxRead    = 32 << 10 // bytes of JSON that is read
	maxPlaces  = 16       // failures in a row whose positions are kept
)

// run is the last result of one command, or of the calls of a tool for one object. It does not
// change once it is in a State.
type run struct {
	key string // equal for runs of one command or one object
	dir string // the directory of a command

	checks []string // commands of a script, as [script] has them
	name   string
	args   string // arguments of a tool that are not part of the name

	at      int
	outcome outcome
	exit    string
	said    string
	fails   []int // positions of its failures since the last success

	failedAt int // the failure before this result; 0 if there is none
	why      string

	external bool // a tool that changes something outside of the workspace
	makes    bool // a tool that makes something new: an earlier success stays
	lookUp   bool // a tool that only queries something; listed after all other runs
	quiet    bool // it is listed only if it failed
}

// runOf returns the run of a call, or nil if the call is none.
func runOf(d *toolcall.Done) *run {
	status := toolcall.StatusOf(d)
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
	r.name = compress.Clip(strings.Join(strings.Fields(r.name), " "), maxName)
	if status == toolcall.Stopped {
		r.outcome = unfinished
	}
	if r.outcome == failed {
		r.fails = []int{d.At}
	}
	return r
}

// saidBy returns the part of an output that the line of a run quotes: what a runner says (quote), the
// fields of JSON, the reason of a failure, or the last line.
func saidBy(o outcome, output string, lines []string, quote string) string {
	head, fields := result.FieldsIn(output)
	switch {
	case quote != "" && (o == passed || o == failed):
		return quote
	case head == "" && len(fields) > 0:
		fields = slices.DeleteFunc(fields, func(f result.Field) bool {
			return f.Class() >= result.ClassText && strings.Count(f.Value, " ") >= maxWords
		})
		return result.JoinFields("", fields, func(line string) bool { return len(line) <= maxFields })
	case o == failed:
		return result.Fold(output, result.Hint{Tool: "bash"}, len(output), maxSaid)
	case o == answered:
		return compress.Clip(strings.Join(strings.Fields(output), " "), maxFields)
	}
	return lastLine(lines)
}

// toolRun returns the run of a call of a tool that is not a shell, or nil if the tool belongs to the
// agent itself.
func toolRun(d *toolcall.Done, status toolcall.Status) *run {
	if notes.KeepsList(d.Tool) || compress.IsSubAgent(d.Tool) {
		return nil
	}
	kind := compress.KindOf(d.Tool)
	uses := toolcall.FileUses(d.Tool, d.Arguments)
	text := toolcall.Body(d)
	r := &run{outcome: answered, exit: toolcall.ExitOf(d), makes: kind == compress.MakingTool}
	r.quiet = len(uses) > 0 || kind == compress.MatchTool || kind == compress.ListTool
	r.lookUp = !r.quiet && (kind == compress.QueryTool || kind == compress.ReadingTool)
	code := kind == compress.CodeTool || kind == compress.ShellTool
	r.external = !r.quiet && !r.lookUp && !code
	r.nameBy(d, uses)

	says, quote := silent, ""
	lines := informative(text)
	if code {
		says, quote = judge(lines, "")
		r.outcome = ended
	}
	fails, isObject := toolcall.ObjectFails(text)
	message := !isObject && toolcall.TellsFailure(text) && (r.external || code || len(text) <= maxMessage)
	switch {
	case status == toolcall.Failed, d.Result.Failed, fails, message, says >= errs:
		r.outcome = failed
	case says == passes && !d.Result.Cut:
		r.outcome = passed
	}

	r.said = saidBy(r.outcome, text, lines, quote)
	if r.lookUp {
		head, fields := result.FieldsIn(text)
		r.quiet = head != "" || len(fields) == 0
	}
	return r
}

// nameBy sets the name and the key by the file of a call and what the call does to it, or by the arguments that identify its
// object, or by all arguments if there are none.
func (r *run) nameBy(d *toolcall.Done, uses []toolcall.FileUse) {
	if len(uses) > 0 {
		act := uses[0].Act
		if act == toolcall.Changes || act == toolcall.Undoes {
			act = toolcall.Writes
		}
		r.key, r.name = act+"\x00"+uses[0].Path, d.Tool+" "+uses[0].Path
		return
	}
	args, _ := fieldsOf(d.Arguments)
	isID := func(f result.Field) bool { return result.IsID(f.Path) && identifies(&f) }
	byID := !r.lookUp || slices.ContainsFunc(args, isID)
	var ids []string
	rest := slices.DeleteFunc(args, func(f result.Field) bool {
		is := byID && identifies(&f)
		if is {
			ids = append(ids, f.Value)
		}
		return is
	})

	r.key = d.Tool + "\x00" + strings.Join(ids, "\x00")
	r.name = d.Tool + " " + strings.Join(ids, " ")
	r.args = result.JoinFields("", rest, func(line string) bool { return len(line) <= maxArgs })
	if len(ids) == 0 {
		r.key += d.Arguments
		r.name, r.args = r.name+r.args, ""
	}
}

// fieldsOf returns the values of a JSON object in their order; ok is false if text is not one.
func fieldsOf(text string) (fields []result.Field, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxRead || !strings.HasPrefix(text, "{") || !gjson.Valid(text) {
		return nil, false
	}
	_, fields = result.FieldsIn(text)
	return slices.DeleteFunc(fields, func(f result.Field) bool { return !f.Set() }), true
}

// identityNames are names of arguments that identify the object of a call, besides those of ids.
var identityNames = compress.WordSet(`url uri to target host hostname service env environment branch table database namespace
	pod container email account order name title`)

// identifies reports whether an argument identifies the object of a call. Means of payment and ids
// of requests do not.
func identifies(f *result.Field) bool {
	low := strings.ToLower(f.Path)
	for _, word := range []string{"payment", "request", "call", "message"} {
		if strings.Contains(low, word) {
			return false
		}
	}
	return f.Top() && (identityNames[low] && strings.IndexFunc(f.Value, unicode.IsLetter) >= 0 || result.IsID(f.Path))
}

// state returns the outcome and the address of the result.
func (r *run) state(where func(at int) string) string {
	text := map[outcome]string{ended: "ended", exitZero: "exit 0", passed: "passed", answered: "result", failed: "failed",
		unfinished: "unfinished"}[r.outcome] + " at " + where(r.at)
	if r.exit != "" && r.exit != "0" {
		text += ", exit " + r.exit
	}
	if n := len(r.fails); n > 1 {
		text += ", " + strconv.Itoa(n) + " times"
	}
	return text
}

// line returns the run in one line.
func (r *run) line(where func(at int) string) string {
	text := r.name + ": "
	if r.failedAt > 0 {
		text += strings.TrimSuffix("failed at "+where(r.failedAt)+": "+r.why, ": ") + "; "
	}
	text += r.state(where)
	switch {
	case r.said != "":
		text += ": " + r.said
	case r.outcome == ended || r.outcome == exitZero:
		text += ", no output"
	}
	if r.args != "" {
		text += " (arguments: " + r.args + ")"
	}
	return text
}
