package ledger

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"mvdan.cc/sh/v3/syntax"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

var (
	// freshShells are tools each of whose calls begins where the session did, by [compress.PlainName].
	freshShells = compress.WordSet("shell localshell localshellcall shellcommand execcommand runshellcommand containerexec runcommand")
	// keptShells are tools, by their own names, whose calls begin where the last one ended.
	keptShells = map[string]bool{"Bash": true, "execute_bash": true}
)

// namesStatus matches the results of tools that name the exit status of a command that failed.
var namesStatus = lazy.Regexp(`^Exit code [1-9]\d*\b|(?:Command exited with code|completed with exit code) [1-9]\d*\W*$`)

// dirKeys are arguments that name the directory that a script runs in.
var dirKeys = []string{"workdir", "cwd", "working_directory", "workingDirectory", "directory", "dir"}

// shell follows a call that runs a script.
func (r *run) shell(d *toolcall.Done, text string) {
	must := maybe
	switch status := toolcall.StatusOf(d.Result); {
	case d.Open:
	case status == toolcall.Succeeded:
		must = yes
	case status == toolcall.Failed:
		must = no
		if !slices.Contains(r.statuses, d.Tool) && d.Result.Exit == "" && (d.Result.Failed || namesStatus().MatchString(d.Result.Text)) {
			r.statuses = append(slices.Clone(r.statuses), d.Tool)
		}
	case status == toolcall.Unknown && slices.Contains(r.statuses, d.Tool):
		must = yes
	}
	r.output = toolcall.Body(d.Result.Text)
	at := r.start(d, text)
	r.dir = at
	only := r.onlyCat(text)
	r.script(text, must)
	if r.steps >= maxSteps { // what was not followed came later than what was
		r.opaque("a long script", false)
	}
	for _, end := range r.atEnd {
		r.alive = yes
		r.unsurely(func() {
			if strings.Contains(end, unknown) {
				r.opaque("trap", false)
			} else {
				r.script(end, maybe)
			}
		})
	}
	if only != "" && must != no && !r.uncertain && !r.unsure && !d.Result.Failed && !strings.Contains(r.output, "cat: ") {
		if p, ok := r.target(arg{text: only}); ok {
			r.by = "cat"
			r.shown(p, r.output, true)
		}
	}
	if strings.TrimSpace(text) == "pwd" && must != no && !r.unsure {
		r.isIn(strings.TrimSpace(r.output), at)
	}
	r.finish(d, at)
}

// onlyCat returns the file of a script that only shows it: "cat a", "cd b && cat a"; "" for another one.
func (r *run) onlyCat(text string) string {
	if len(text) > 1<<10 || !strings.Contains(text, "cat ") {
		return ""
	}
	list, err := parse(text)
	if err != nil || len(list) == 0 {
		return ""
	}
	last := list[len(list)-1]
	for _, s := range list[:len(list)-1] {
		if !changesDir(s) {
			return ""
		}
	}
	if b, ok := last.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.AndStmt && len(last.Redirs) == 0 && changesDir(b.X) {
		last = b.Y
	}
	c, ok := last.Cmd.(*syntax.CallExpr)
	if !ok || len(last.Redirs) > 0 || last.Background || last.Negated || len(c.Args) != 2 || len(c.Assigns) > 0 || c.Args[0].Lit() != "cat" {
		return ""
	}
	if f := r.fields(c.Args[1]); len(f) == 1 && f[0].plain() && !strings.HasPrefix(f[0].text, "-") {
		return f[0].text
	}
	return ""
}

// changesDir reports whether a statement only changes the directory.
func changesDir(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(s.Redirs) == 0 && !s.Background && !s.Negated && len(c.Args) == 2 && c.Args[0].Lit() == "cd"
}

// start returns where a script begins.
func (r *run) start(d *toolcall.Done, text string) cwd {
	home := cwd{r.canonical(""), true}
	args := gjson.Parse(d.Arguments)
	if args.IsObject() {
		for _, key := range dirKeys {
			if v := args.Get(key); v.Type == gjson.String && v.Str != "" {
				r.dir = home
				return cwd{r.resolve(v.Str), true}
			}
		}
	}
	if freshShells[compress.PlainName(d.Tool)] {
		return home
	}
	i := slices.IndexFunc(r.dirs, func(s shellDir) bool { return s.tool == d.Tool })
	if i < 0 {
		return home
	}
	s := r.dirs[i]
	if s.fresh {
		return home
	}
	if keptShells[d.Tool] || s.at == home {
		return s.at
	}
	// A second cd to the same place cannot be one from there.
	if to := firstCd(text); to != "" && to == s.repeats && strings.Contains(to, "/") && !strings.Contains(to, "..") && !strings.Contains(r.output, "cd: ") && toolcall.StatusOf(d.Result) != toolcall.Stopped {
		r.dirs = slices.Clone(r.dirs)
		r.dirs[i].fresh = true
		return home
	}
	return cwd{}
}

// firstCd returns the relative directory that a script goes to first; "" if it begins with something else.
func firstCd(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "cd ")
	if !ok {
		return ""
	}
	to := strings.TrimSpace(rest)
	if i := strings.IndexAny(to, " \t\n;&|"); i >= 0 {
		to = to[:i]
	}
	if to == "" || rooted(to) || strings.ContainsAny(to, "$`'\"\\*?<>()") {
		return ""
	}
	return to
}

// finish notes where the shell is after a script.
func (r *run) finish(d *toolcall.Done, at cwd) {
	if freshShells[compress.PlainName(d.Tool)] || r.unsure && r.dir == at {
		return
	}
	i := slices.IndexFunc(r.dirs, func(s shellDir) bool { return s.tool == d.Tool })
	if i < 0 && r.dir == at {
		return
	}
	r.dirs = slices.Clone(r.dirs)
	if i < 0 {
		r.dirs = append(r.dirs, shellDir{tool: d.Tool})
		i = len(r.dirs) - 1
	}
	s := &r.dirs[i]
	s.at = r.dir
	if r.dir.known {
		s.at.path = r.canonical(r.dir.path)
	}
	if s.repeats = ""; !strings.Contains(r.output, "cd: ") {
		args, _ := toolcall.Script(d.Tool, d.Arguments)
		s.repeats = firstCd(args)
	}
	if len(r.dirs) > maxOlder {
		r.dirs = r.dirs[1:]
	}
}

// isIn notes that the shell printed its directory.
func (r *run) isIn(printed string, at cwd) {
	if !strings.HasPrefix(printed, "/") || strings.ContainsAny(printed, "\n\t") {
		return
	}
	switch {
	case !at.known:
		r.dir = cwd{clean(printed), true}
	case r.base == "" && at.path == "":
		r.learnBase(clean(printed))
		r.written = true
		r.dir = cwd{clean(printed), true}
	case r.base == "" && !rooted(at.path) && !strings.HasPrefix(at.path, "..") && strings.HasSuffix(printed, "/"+at.path):
		r.learnBase(clean(strings.TrimSuffix(printed, "/"+at.path)))
		r.written = true
		r.dir = cwd{clean(printed), true}
	}
}
