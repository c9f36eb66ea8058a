package ledger

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// after returns the state after a call.
func (s State) after(d *toolcall.Done) State {
	if toolcall.StatusOf(d.Result) == toolcall.NotRun {
		return s
	}
	r := newRun(s, d)
	r.follow(d)
	if r.written || len(r.files) > MaxFiles {
		r.bound()
	}
	return r.State
}

// follow follows a call by its tool and its arguments.
func (r *run) follow(d *toolcall.Done) {
	r.by = d.Tool
	r.dir = cwd{r.canonical(""), true} // tools for files know no other
	if strings.Contains(compress.PlainName(d.Tool), "patch") && strings.Contains(d.Arguments, "*** ") {
		text := d.Arguments
		for _, key := range []string{"input", "patch", "patchText", "diff"} {
			if v := gjson.Get(text, key); v.Type == gjson.String {
				text = v.Str
			}
		}
		if !strings.HasPrefix(text, "{") && !r.refusedEdit(d) {
			r.patched(text)
			return
		}
	}
	if script, ok := toolcall.Script(d.Tool, d.Arguments); ok {
		if argv := gjson.Get(d.Arguments, "command"); argv.IsArray() {
			script = scriptOf(argv.Array(), script)
		}
		if !r.agentCommand(d, script) {
			r.shell(d, script)
		}
		return
	}
	args := gjson.Parse(d.Arguments)
	if !args.IsObject() {
		return
	}
	r.fileTool(d, args)
}

// scriptOf returns the script that words are which stand in a list, or the one that is among them if they call
// a shell.
func scriptOf(list []gjson.Result, script string) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = w.String()
	}
	if toolcall.ShellScript(words) != "" {
		return script
	}
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// first returns the first of the fields that is a string.
func first(args gjson.Result, keys ...string) (text string, ok bool) {
	for _, key := range keys {
		if v := args.Get(key); v.Type == gjson.String {
			return v.Str, true
		}
	}
	return "", false
}

var (
	oldKeys = []string{"old_string", "oldText", "old_str", "oldString", "old_text", "search", "old_content", "old"}
	newKeys = []string{"new_string", "newText", "new_str", "newString", "new_text", "replace", "replacement", "new_content", "new"}
	allKeys = []string{"content", "file_text", "contents", "text", "code", "body", "data"}
)

// fileTool follows a call of a tool that reads or changes a file.
func (r *run) fileTool(d *toolcall.Done, args gjson.Result) {
	name := lastName(d.Tool)
	act := toolcall.FileAct(name)
	if command, ok := first(args, "command"); ok { // one tool for all
		name = command
		if act = toolcall.FileAct(command); command == "undo_edit" {
			act = toolcall.Changes
		}
	}
	if r.moveTool(d, args, name) {
		return
	}
	file, ok := first(args, compress.PathKeys...)
	if !ok {
		return
	}
	file = strings.TrimPrefix(file, "file://")
	if file == "" || strings.Contains(file, "://") || strings.ContainsAny(file, "\n\x00") || strings.HasPrefix(file, "/dev/") {
		return
	}
	p := r.resolve(file)
	if (strings.Contains(name, "create") || strings.Contains(name, "make") || strings.Contains(name, "mk")) && strings.Contains(name, "dir") {
		if !r.refusedEdit(d) {
			r.directory(p)
		}
		return
	}
	_, hasOld := first(args, oldKeys...)
	_, hasNew := first(args, newKeys...)
	if act != toolcall.Reads && (hasOld && hasNew || args.Get("edits").IsArray()) {
		act = toolcall.Changes
	}
	r.actTool(d, args, p, act)
}

// moveTool follows a call that moves or copies a file; it reports whether it is one.
func (r *run) moveTool(d *toolcall.Done, args gjson.Result, name string) bool {
	from, moves := first(args, "source", "old_path", "from", "source_path", "src")
	to, moved := first(args, "destination", "new_path", "to", "destination_path", "dest", "dst")
	copies := strings.Contains(name, "copy")
	if !moves || !moved || !copies && !strings.Contains(name, "move") && !strings.Contains(name, "rename") {
		return false
	}
	if a, b := r.resolve(from), r.resolve(to); r.refusedEdit(d) {
		return true
	} else if copies {
		r.copyTo(a, b, true)
	} else {
		r.move(a, b)
	}
	return true
}

// actTool follows what a call does to a file.
func (r *run) actTool(d *toolcall.Done, args gjson.Result, p, act string) {
	if act == toolcall.Reads {
		r.readTool(d, args, p)
		return
	}
	if act == "" {
		return
	}
	if args.Get("dryRun").Bool() || args.Get("dry_run").Bool() || r.refusedEdit(d) {
		return
	}
	switch act {
	case toolcall.Removes:
		r.remove(p, true)
	case toolcall.Writes:
		text, ok := first(args, allKeys...)
		switch {
		case ok:
			r.write(p, &text, false)
		default:
			r.write(p, nil, false)
		}
	case toolcall.Changes:
		r.editTool(args, p)
	}
}

// lastName returns the name of a tool without those of servers before it, in small letters.
func lastName(tool string) string {
	name := strings.ToLower(tool)
	if i := strings.LastIndexAny(name, "./:"); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.LastIndex(name, "__"); i >= 0 { // mcp__server__tool
		name = name[i+2:]
	}
	return name
}

// replacement is one edit of a call.
type replacement struct {
	old, text string
	all       bool
}

// editTool follows a call that replaces parts of a file.
func (r *run) editTool(args gjson.Result, p string) {
	var list []replacement
	add := func(v gjson.Result) {
		old, ok := first(v, oldKeys...)
		text, _ := first(v, newKeys...)
		if ok {
			list = append(list, replacement{old, text, v.Get("replace_all").Bool() || v.Get("replaceAll").Bool() || v.Get("expected_replacements").Int() > 1})
		}
	}
	if edits := args.Get("edits"); edits.IsArray() {
		for _, v := range edits.Array() {
			add(v)
		}
	} else {
		add(args)
	}
	if len(list) == 1 && list[0].old == "" { // which makes a file
		r.write(p, &list[0].text, false)
		return
	}
	if len(list) > 0 {
		last := list[len(list)-1]
		r.change(p, newChange(last.old, last.text, r.at), func(t *Text) (string, bool) { return replaced(t.Body, list) })
		return
	}
	if line := args.Get("insert_line"); line.Type == gjson.Number {
		text, _ := first(args, "insert_text", "new_str", "text")
		r.change(p, newChange("", text, r.at), func(t *Text) (string, bool) { return "", false })
		return
	}
	text, ok := first(args, "code_edit", "diff", "patch", "replacement_text", "code", "content", "new_source")
	if ok {
		r.change(p, newChange("", text, r.at), nil)
		return
	}
	r.spoil(p)
}

// replaced returns a text after replacements; ok is false if it is not plain what they do.
func replaced(body string, list []replacement) (string, bool) {
	for _, e := range list {
		switch n := strings.Count(body, e.old); {
		case e.old == "" || n == 0 || n > 1 && !e.all:
			return "", false
		case e.all:
			body = strings.ReplaceAll(body, e.old, e.text)
		default:
			body = strings.Replace(body, e.old, e.text, 1)
		}
		if len(body) > 4*maxText {
			return "", false
		}
	}
	return body, true
}

// notDone matches the beginning of results of edits that did nothing.
var notDone = lazy.Regexp(`(?i)^\W*(?:error|failed|failure|exception|invalid|fatal|permission denied|cannot|can't|could ?n[o']t|no replacement|no changes?\b|no match|string to replace|old_?(?:string|str|text)\b|tool .* not found|unknown tool|\S+ not found|file (?:does not exist|not found|has not been read|already exists)|<tool_use_error>|you must|missing|traceback)|no replacement was performed|string(?: to replace)? (?:was )?not found|not found in (?:the )?file|old_?(?:string|str|text) (?:was )?not found|must (?:be unique|match exactly)|could not find the (?:exact )?(?:text|string)|multiple (?:occurrences|matches)|has not been read|no such file|does not exist|introduced new syntax error|is not a valid`)

// refusedEdit reports whether a call that changes a file did not, by its result. What may have been done is
// unsure from here on.
func (r *run) refusedEdit(d *toolcall.Done) bool {
	if d.Open || r.unsure {
		r.unsure = true
		return false
	}
	text := toolcall.Body(d.Result.Text)
	return toolcall.StatusOf(d.Result) == toolcall.Failed || notDone().MatchString(text[:min(len(text), 300)])
}

// readTool follows a call that shows a file.
func (r *run) readTool(d *toolcall.Done, args gjson.Result, p string) {
	text := toolcall.Body(d.Result.Text)
	if r.unsure || d.Result.Failed || len(text) < 400 && notDone().MatchString(text) || toolcall.StatusOf(d.Result) == toolcall.Failed && len(text) < 400 {
		return
	}
	for _, key := range []string{"offset", "limit", "view_range", "start_line", "end_line", "head", "tail", "line", "start", "end", "range", "lines", "start_line_one_indexed", "pages"} {
		if v := args.Get(key); v.Exists() && v.Type != gjson.Null && !(key == "offset" && v.Int() <= 1 && !args.Get("limit").Exists()) {
			r.seen(p)
			return
		}
	}
	body, ok := shownText(text)
	if !ok || r.uncertain || strings.Contains(text[:min(len(text), 200)], "files and directories") || r.isDirectory(p) == Present {
		if i, known := r.find(p); !known || r.files[i].Kind != Directory {
			r.seen(p)
		}
		return
	}
	r.shown(p, body, true)
}

var (
	numbered = lazy.Regexp(`^ *(\d+)(?:→|\t|\| |: ?)`)
	wrapping = lazy.Regexp(`^(?:Here's the result of running ` + "`cat -n`" + ` on [^\n]*:|<file>|<content>|<path>[^\n]*|\[File: [^\n]*)\n`)
	cutMarks = lazy.Regexp(`(?i)more lines? (?:not shown|below|above)|\[?\.\.\.? ?(?:\(?\d+ |truncated|omitted)|truncated|<response clipped>|lines? (?:omitted|elided|skipped)|use offset=|output (?:was )?too (?:long|large)|characters? (?:omitted|elided)|\[\d+ lines|…[^\n]{0,20}(?:omitted|more)|showing lines`)
)

// shortened reports whether a result says that parts of it are left out. Words of files that stand in it
// may say so, too; no harm comes from that.
func shortened(text string) bool {
	if len(text) < 64 {
		return false
	}
	ends := strings.ToLower(text[:min(len(text), 300)] + "\n" + text[max(0, len(text)-300):])
	for _, word := range []string{"...", "…", "more line", "truncated", "clipped", "omitted", "elided", "skipped", "use offset=", "too l", "lines"} {
		if strings.Contains(ends, word) && cutMarks().MatchString(ends) {
			return true
		}
	}
	for _, word := range []string{"more lines", "truncated", "omitted", "clipped", "elided", "skipped"} {
		for rest := text; ; {
			i := strings.Index(rest, word)
			if i < 0 {
				break
			}
			if cutMarks().MatchString(rest[max(0, i-30):min(len(rest), i+40)]) {
				return true
			}
			rest = rest[i+len(word):]
		}
	}
	return false
}

// shownText returns the file that a result shows, without the numbers of its lines; ok is false if that may
// not be all of it.
func shownText(text string) (body string, ok bool) {
	if loc := wrapping().FindStringIndex(text); loc != nil {
		text = text[loc[1]:]
	}
	text, _, _ = strings.Cut(text, "\n\n<system-reminder>")
	text, _, _ = strings.Cut(text, "\n<system-reminder>")
	text = strings.TrimSuffix(strings.TrimRight(text, "\n"), "</file>")
	lines := strings.SplitAfter(text, "\n")
	m := numbered().FindStringSubmatch(lines[0])
	if m == nil {
		return text, true
	}
	if m[1] != "1" {
		return "", false
	}
	var b strings.Builder
	for i, line := range lines {
		m := numbered().FindStringSubmatch(line)
		if m == nil {
			return text, strings.TrimSpace(line) != "" || i < len(lines)-1 || b.Len() == 0
		}
		if n, err := strconv.Atoi(m[1]); err != nil || n != i+1 {
			return "", false
		}
		b.WriteString(line[len(m[0]):])
	}
	return b.String(), true
}
