package ledger

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
)

// words is a command of a script: a program and its arguments.
type words struct {
	name string // the program; with its directory if that is not one of the system's
	args []arg
	must tri
}

// systemDirs are where the programs of the system lie.
var systemDirs = []string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"}

// call follows a simple command.
func (r *run) call(c *syntax.CallExpr, must tri) res {
	if len(c.Args) == 0 {
		r.declare(c.Assigns)
		return silently(maybe).ifQuiet(!substitutes(c))
	}
	for _, a := range c.Assigns {
		if a.Value != nil {
			r.substitutions(a.Value)
		}
	}
	var args []arg
	for _, w := range c.Args {
		args = append(args, r.fields(w)...)
	}
	killed, hidden := r.killed, r.hidden
	defer func() { r.killed, r.hidden = killed, hidden }()
	return r.exec(args, must)
}

// substitutes reports whether an assignment runs a script.
func substitutes(c *syntax.CallExpr) (found bool) {
	syntax.Walk(c, func(n syntax.Node) bool {
		if _, ok := n.(*syntax.CmdSubst); ok {
			found = true
		}
		return !found
	})
	return found
}

// exec follows a command by its words.
func (r *run) exec(args []arg, must tri) res {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
		if i > 0 {
			r.mention(a)
		}
	}
	rest := toolcall.Unwrapped(texts)
	for _, w := range texts[:len(texts)-len(rest)] {
		switch base(w) {
		case "xargs":
			return r.unseen(append(args[len(texts)-len(rest):], arg{text: unknown}), must)
		case "timeout":
			r.killed = true
		case "exec":
			defer r.leave()
		}
	}
	args, texts = args[len(texts)-len(rest):], rest
	if len(args) == 0 || !args[0].plain() {
		r.opaque(label(strings.Join(texts, " ")), false)
		return ended(maybe)
	}
	r.by = label(strings.Join(texts, " "))
	c := &words{name: texts[0], args: args[1:], must: must}
	if slices.ContainsFunc(systemDirs, func(dir string) bool { return strings.HasPrefix(c.name, dir) }) {
		c.name = base(c.name)
	}
	if body := r.funcs[c.name]; body != nil {
		if r.depth++; r.depth <= maxDepth {
			r.forget(body)
			r.unsurely(func() { r.stmt(body, maybe) })
		} else {
			r.opaque(r.by, false)
		}
		r.depth--
		return ended(maybe)
	}
	if script := toolcall.ShellScript(texts); script != "" {
		return r.scriptIn(c, script)
	}
	if follow := commands[c.name]; follow != nil {
		return follow(r, c)
	}
	return r.program(c)
}

// scriptIn follows the script that a shell has as an argument: bash -c '…'.
func (r *run) scriptIn(c *words, script string) (out res) {
	if strings.Contains(script, unknown) || slices.ContainsFunc(c.args, func(a arg) bool { return a.glob }) {
		r.opaque(r.by, false)
		return ended(maybe)
	}
	if c.name == "eval" {
		return r.script(script, c.must)
	}
	r.subshell(func() {
		clear(r.vars)
		r.errexit = slices.ContainsFunc(c.args, func(a arg) bool {
			return strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "e") && len(a.text) < 6
		})
		out = r.script(script, c.must)
	})
	return out
}

// unseen follows a command that gets arguments that do not stand in the script.
func (r *run) unseen(args []arg, must tri) res {
	if len(args) > 1 && args[0].plain() && (readers[base(args[0].text)] || args[0].text == "git") {
		return ended(must)
	}
	r.opaque(label(args[0].text), false)
	return ended(must)
}

// commands are those that are followed, by their names. They are set in init, since scripts are run by
// some of them.
var commands map[string]func(*run, *words) res

func init() {
	commands = map[string]func(*run, *words) res{
		"cd": (*run).cd, "pushd": (*run).cd, "popd": (*run).popd, "pwd": (*run).shows,
		"echo": (*run).echo, "printf": (*run).printf, "cat": (*run).cat, "tee": (*run).tee,
		"cp": (*run).cp, "mv": (*run).mv, "rm": (*run).rm, "unlink": (*run).rm, "rmdir": (*run).rmdir, "mkdir": (*run).mkdir,
		"touch": (*run).touch, "ln": (*run).ln, "truncate": (*run).truncate, "chmod": (*run).chmod, "chown": (*run).chmod,
		"true": (*run).nothing, ":": (*run).nothing, "false": func(*run, *words) res { return silently(no) },
		"set": (*run).set, "shopt": (*run).set, "unset": (*run).unset, "read": (*run).unset, "mapfile": (*run).unset, "readarray": (*run).unset, "getopts": (*run).unset,
		"exit": (*run).exit, "return": (*run).exit, "break": (*run).exit, "continue": (*run).exit, "exec": (*run).exit, "logout": (*run).exit,
		"trap": (*run).trap, "source": (*run).source, ".": (*run).source,
		"git": (*run).git, "sed": (*run).sed, "perl": (*run).perl, "find": (*run).find_, "fd": (*run).find_, "awk": (*run).awk, "gawk": (*run).awk,
		"patch": (*run).patch, "apply_patch": (*run).applyPatch, "applypatch": (*run).applyPatch, "sort": (*run).sort, "dd": (*run).dd,
	}
}

// setting are commands that set variables.
var setting = compress.WordSet("read mapfile readarray getopts printf eval source . unset")
