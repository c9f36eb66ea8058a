package ledger

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
)

// Bounds of a script. What is beyond them may do anything.
const (
	maxScript = 128 << 10 // bytes
	maxNested = 100       // brackets in brackets
	maxSteps  = 1000      // commands
	maxDepth  = 4         // scripts and functions in scripts
)

const (
	no    tri = -1
	maybe tri = 0
	yes   tri = 1
)

// sink is where an output goes.
type sink uint8

const (
	toScreen sink = iota // into the result of the call
	toPipe
	toNull
	toFile
)

// io is what a part of a script reads and writes.
type io struct {
	hidden bool    // its errors do not show in the result of the call
	out    sink    // where its output goes
	in     *string // what it reads; nil if that is not known
}

// run follows a script as a shell would run it, as far as its text and its result show what it did.
type run struct {
	desk
	io
	output    string // the result of the call
	uncertain bool   // the result does not show all
	dir       cwd
	vars      map[string]string
	funcs     map[string]*syntax.Stmt
	alive     tri // whether the shell still runs
	errexit   bool
	oddWords  bool // words do not become what they become in most scripts
	killed    bool // the command may be stopped on its way
	testing   int  // the status of commands is looked at
	behind    bool // it runs in the background
	depth     int
	steps     int
	mentioned []string // paths that commands before a pipe's last one name
	listing   bool     // mentioned are noted
	atEnd     []string // scripts that run when the shell ends
}

// script follows a script. must is whether it succeeded, if that is known.
func (r *run) script(text string, must tri) res {
	if len(text) > maxScript || nested(text) > maxNested || r.depth > maxDepth {
		r.opaque(label(text), false)
		return ended(must)
	}
	r.depth++
	defer func() { r.depth-- }()
	list, err := parse(text)
	if err != nil {
		var out res
		r.unsurely(func() { out = r.stmts(list, maybe) })
		r.opaque(label(text), false)
		return ended(out.ok)
	}
	if leaves(list) {
		must = maybe
	}
	return r.stmts(list, must)
}

// parse returns the statements of a script, up to where an error is.
func parse(text string) (list []*syntax.Stmt, err error) {
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(strings.ToValidUTF8(text, "\uFFFD"))) {
		if err != nil {
			return list, err
		}
		list = append(list, s)
	}
	return list, nil
}

// nested returns how deep brackets stand in brackets, quotes or not.
func nested(text string) (deepest int) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', '}':
			depth = max(0, depth-1)
		}
	}
	return deepest
}

// leaving are commands after which the rest of a script may not run, so that its status says nothing of it.
var leaving = compress.WordSet("exit return exec trap kill break continue logout pkill killall")

// leaves reports whether a script may end before its end.
func leaves(list []*syntax.Stmt) (found bool) {
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && leaving[c.Args[0].Lit()] {
				found = true
			}
			return !found
		})
	}
	return found
}

// inner runs statements in a shell of their own.
func (r *run) inner(list []*syntax.Stmt, with io) (out res) {
	r.subshell(func() {
		was := r.io
		r.io = with
		out = r.stmts(list, maybe)
		r.io = was
	})
	return out
}

// newRun begins to follow what a call did.
func newRun(s State, d *toolcall.Done) *run {
	r := &run{desk: desk{State: s, at: d.At}, output: d.Result.Text, vars: map[string]string{}, funcs: map[string]*syntax.Stmt{}, alive: yes}
	switch toolcall.StatusOf(d.Result) {
	case toolcall.Stopped:
		r.unsure, r.uncertain = true, true
	}
	if d.Open {
		r.unsure, r.uncertain = true, true
	}
	r.uncertain = r.uncertain || d.Result.Cut || shortened(d.Result.Text)
	return r
}
