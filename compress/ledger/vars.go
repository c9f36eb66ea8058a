package ledger

import (
	"mvdan.cc/sh/v3/syntax"
)

// forget makes unknown the variables that a part of a script sets.
func (r *run) forget(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				r.vars[n.Name.Value] = unknown
			}
		case *syntax.WordIter:
			r.vars[n.Name.Value] = unknown
		case *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			clear(r.vars)
		case *syntax.CallExpr:
			if len(n.Args) > 0 && setting[n.Args[0].Lit()] {
				clear(r.vars)
			}
		}
		return true
	})
}

// declare sets variables.
func (r *run) declare(list []*syntax.Assign) {
	for _, a := range list {
		if a.Name == nil {
			if a.Value != nil {
				r.substitutions(a.Value)
			}
			continue
		}
		value := unknown
		switch {
		case a.Naked:
			if _, ok := r.vars[a.Name.Value]; ok {
				continue
			}
		case a.Append || a.Index != nil || a.Array != nil:
		case a.Value == nil:
			value = ""
		default:
			if f := r.fields(a.Value); len(f) == 1 && f[0].plain() {
				value = f[0].text
			}
		}
		if a.Name.Value == "IFS" || a.Name.Value == "CDPATH" {
			r.oddWords = true
		}
		if r.unsure {
			value = unknown
		}
		r.vars[a.Name.Value] = value
	}
}
