package ledger

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// tri is whether something is so.
type tri int8

// res is how a part of a script ended.
type res struct {
	ok    tri
	out   *string // what it put out; nil if that is not known
	quiet bool    // it put nothing out as an error
}

var empty = ""

func ended(ok tri) res { return res{ok: ok} }

// silently returns the end of a command that puts nothing out unless it fails.
func silently(ok tri) res { return res{ok: ok, out: &empty} }

// label returns a command in as much as names it.
func label(text string) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if line = strings.Join(strings.Fields(line), " "); more && len(line) < 60 {
		line += " …"
	}
	return compress.Clip(strings.ToValidUTF8(strings.ReplaceAll(line, unknown, "…"), ""), 60)
}

// unsurely runs f while what is done may have been done.
func (r *run) unsurely(f func()) {
	was := r.unsure
	r.unsure = true
	f()
	r.unsure = was
}

// subshell runs f in a shell of its own, which cannot change directory and variables of this one.
func (r *run) subshell(f func()) {
	dir, vars, alive, errexit, odd := r.dir, r.vars, r.alive, r.errexit, r.oddWords
	r.vars = make(map[string]string, len(vars))
	for k, v := range vars {
		r.vars[k] = v
	}
	f()
	r.dir, r.vars, r.alive, r.errexit, r.oddWords = dir, vars, alive, errexit, odd
}

// went returns whether a command succeeded that says so when it does not.
func (r *run) went(name string, must tri) tri {
	switch {
	case must == yes:
		return yes
	case must == no, r.hidden, r.uncertain, r.killed, strings.Contains(r.output, name+": "), strings.Contains(r.output, "sudo: "):
		return maybe
	}
	return yes
}

// harmless reports whether a command that failed changed nothing, as its complaint says.
func (r *run) harmless(must tri) bool {
	if must != no || r.hidden || r.uncertain {
		return false
	}
	for _, why := range []string{"No such file or directory", "cannot stat", "omitting directory", "ot a directory", "s a directory", "are the same file", "File exists", "Permission denied", "Operation not permitted"} {
		if strings.Contains(r.output, why) {
			return true
		}
	}
	return false
}

// joined returns two outputs one after another; nil if one is not known.
func joined(a, b *string) *string {
	if a == nil || b == nil {
		return nil
	}
	if *a == "" {
		return b
	}
	text := *a + *b
	if len(text) > maxText {
		return nil
	}
	return &text
}

// ifQuiet returns x, as one that succeeded if that is so.
func (x res) ifQuiet(is bool) res {
	if is {
		x.ok, x.quiet = yes, true
	}
	return x
}
