package ledger

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// stmts follows statements one after another. must is whether the last one succeeded, if that is known.
func (r *run) stmts(list []*syntax.Stmt, must tri) res {
	out := res{ok: yes, out: &empty, quiet: true}
	for i, s := range list {
		if r.alive == no || r.steps >= maxSteps {
			return res{ok: maybe}
		}
		m := maybe
		if i == len(list)-1 || must == yes && r.errexit {
			m = must
		}
		var one res
		if r.alive == maybe {
			r.unsurely(func() { one = r.stmt(s, maybe) })
		} else {
			one = r.stmt(s, m)
		}
		if r.errexit && r.testing == 0 && !s.Negated {
			r.alive = min(r.alive, one.ok)
		}
		out = res{one.ok, joined(out.out, one.out), out.quiet && one.quiet}
	}
	return out
}

// stmt follows a statement.
func (r *run) stmt(s *syntax.Stmt, must tri) (out res) {
	if s == nil || r.spent() {
		return ended(maybe)
	}
	if s.Background || s.Coprocess {
		r.subshell(func() {
			behind := r.behind
			r.behind = true
			r.unsurely(func() { r.redirected(s, maybe) })
			r.behind = behind
		})
		return res{ok: yes, out: nil}
	}
	if s.Negated {
		r.testing++
		out = r.redirected(s, maybe)
		r.testing--
		out.ok = -out.ok
		return out
	}
	return r.redirected(s, must)
}

// spent counts a step. It reports whether the script takes more than are followed: the rest may do anything.
func (r *run) spent() bool {
	if r.steps++; r.steps == maxSteps {
		r.opaque("a long script", false)
	}
	return r.steps >= maxSteps
}

// tested follows a statement whose status is looked at.
func (r *run) tested(s *syntax.Stmt, must tri) res {
	r.testing++
	defer func() { r.testing-- }()
	return r.stmt(s, must)
}

// command follows the command of a statement.
func (r *run) command(cmd syntax.Command, must tri) (out res) {
	switch c := cmd.(type) {
	case nil:
		return res{ok: yes, out: &empty, quiet: true}
	case *syntax.CallExpr:
		return r.call(c, must)
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt, syntax.OrStmt:
			return r.list(c, must)
		}
		return r.pipe(c, must)
	case *syntax.Block:
		return r.stmts(c.Stmts, must)
	case *syntax.Subshell:
		r.subshell(func() { out = r.stmts(c.Stmts, must) })
		return out
	case *syntax.IfClause:
		return r.branch(c)
	case *syntax.WhileClause:
		r.forget(c)
		r.unsurely(func() {
			r.testing++
			r.stmts(c.Cond, maybe)
			r.testing--
			r.stmts(c.Do, maybe)
		})
	case *syntax.ForClause:
		return r.loop(c, must)
	case *syntax.CaseClause:
		r.fields(c.Word)
		r.unsurely(func() {
			for _, item := range c.Items {
				r.stmts(item.Stmts, maybe)
			}
		})
	case *syntax.TimeClause:
		if c.Stmt != nil {
			out = r.stmt(c.Stmt, must)
			out.quiet = false
			return out
		}
	case *syntax.FuncDecl:
		for _, name := range append(c.Names, c.Name) {
			if name != nil {
				r.funcs[name.Value] = c.Body
			}
		}
		return res{ok: yes, out: &empty, quiet: true}
	case *syntax.DeclClause:
		r.declare(c.Args)
		return silently(maybe)
	case *syntax.ArithmCmd, *syntax.LetClause:
		clear(r.vars)
	case *syntax.TestClause:
		r.substitutions(c)
		return silently(maybe)
	case *syntax.CoprocClause:
		r.behind = true
		r.unsurely(func() { r.stmt(c.Stmt, maybe) })
	default:
		r.opaque("a script", false)
	}
	return ended(maybe)
}

// list follows two statements with && or || between them.
func (r *run) list(c *syntax.BinaryCmd, must tri) (out res) {
	and := c.Op == syntax.AndStmt
	first := maybe
	if and && must == yes {
		first = yes
	}
	x := r.tested(c.X, first)
	if r.alive == no {
		return x
	}
	switch {
	case and && x.ok == no:
		return x
	case !and && x.ok == yes:
		return x
	}
	var y res
	if x.ok == maybe || r.alive == maybe {
		r.unsurely(func() { y = r.stmt(c.Y, maybe) })
		if and {
			y.ok = min(y.ok, maybe)
		}
		if !and && y.ok == no {
			y.ok = maybe
		}
		y.out = nil
	} else {
		y = r.stmt(c.Y, must)
	}
	return res{y.ok, joined(x.out, y.out), x.quiet && y.quiet}
}

// pipe follows a pipe. What stands before its last command may be stopped on its way.
func (r *run) pipe(c *syntax.BinaryCmd, must tri) (out res) {
	was, mentioned, listing := r.io, r.mentioned, r.listing
	all := c.Op == syntax.PipeAll
	var x res
	r.subshell(func() {
		r.io = io{hidden: r.hidden || all, out: toPipe, in: was.in}
		r.listing = true
		r.unsurely(func() { x = r.stmt(c.X, maybe) })
		r.listing = listing
	})
	read := r.mentioned
	r.io = was
	r.in = x.out
	if all && !x.quiet {
		r.in = nil
	}
	step := r.step
	r.subshell(func() { out = r.stmt(c.Y, must) })
	r.io, r.mentioned = was, mentioned
	if listing {
		r.mentioned = read
	}
	if !slices.ContainsFunc(read, func(p string) bool { i, ok := r.find(p); return ok && r.files[i].step > step }) {
		if must != yes && x.ok != yes { // with pipefail its failure is the pipe's
			out.ok = min(out.ok, maybe)
		}
		return out
	}
	for _, p := range read {
		if i, ok := r.find(p); ok && r.files[i].step > step {
			r.blur(r.edit(p), Changed)
		}
	}
	return ended(maybe)
}

// branch follows an if.
func (r *run) branch(c *syntax.IfClause) (out res) {
	for ; c != nil; c = c.Else {
		cond := yes
		if len(c.Cond) > 0 {
			r.testing++
			cond = r.stmts(c.Cond, maybe).ok
			r.testing--
		}
		switch cond {
		case yes:
			out := r.stmts(c.Then, maybe)
			return out
		case maybe:
			r.unsurely(func() { r.stmts(c.Then, maybe) })
			r.unsurely(func() { r.branch(c.Else) })
			return ended(maybe)
		}
	}
	return res{ok: yes, out: &empty}
}

// maxTurns is how many turns of a loop are followed one by one.
const maxTurns = 32

// loop follows a for over words; one whose words are not known as something that may run.
func (r *run) loop(c *syntax.ForClause, must tri) (out res) {
	words, ok := c.Loop.(*syntax.WordIter)
	var items []arg
	known := ok && words.InPos.IsValid() && !leaves(c.Do)
	if known {
		for _, w := range words.Items {
			items = append(items, r.fields(w)...)
		}
		known = len(items) <= maxTurns && !slices.ContainsFunc(items, func(a arg) bool { return !a.plain() })
	}
	if !known {
		r.forget(c)
		r.unsurely(func() { r.stmts(c.Do, maybe) })
		return ended(maybe)
	}
	out = res{ok: yes, out: &empty, quiet: true}
	for i, item := range items {
		if r.spent() {
			return ended(maybe)
		}
		r.vars[words.Name.Value] = item.text
		m := maybe
		if i == len(items)-1 || must == yes && r.errexit {
			m = must
		}
		one := r.stmts(c.Do, m)
		out = res{one.ok, joined(out.out, one.out), out.quiet && one.quiet}
	}
	return out
}
