package ledger

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// opened is a file that a redirection writes.
type opened struct {
	path   string
	file   *File // as it was when it was opened
	append bool
}

// dest is where a descriptor writes: into a sink, or a file that was opened.
type dest struct {
	sink sink
	file int
}

// redirection is how a statement is redirected.
type redirection struct {
	stdout, stderr dest
	files          []opened
	input          string // the file that it reads; "" for none
	closed         bool   // a file may not have been opened, so that the statement may not have run
}

// redirected follows a statement with its redirections.
func (r *run) redirected(s *syntax.Stmt, must tri) (out res) {
	if len(s.Redirs) == 0 {
		return r.command(s.Cmd, must)
	}
	was, unsure := r.io, r.unsure
	d := redirection{stdout: dest{sink: r.out}, stderr: dest{sink: toScreen}}
	if r.hidden {
		d.stderr.sink = toNull
	}
	for _, redir := range s.Redirs {
		if !r.input(redir, must, &d) {
			r.output2(redir, must, &d)
		}
	}
	if d.input != "" { // as it is once the others are open
		r.in = r.content(d.input)
	}
	r.unsure = unsure || d.closed
	r.hidden = was.hidden || d.stderr.sink != toScreen
	r.out = d.stdout.sink
	out = r.command(s.Cmd, must)
	if d.closed && must != yes {
		out.ok = min(out.ok, maybe)
	}
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == "exec" {
		was.hidden = true // from here on
		for _, f := range d.files {
			r.spoil(f.path)
		}
	}
	out = r.closeAll(&d, out)
	r.io, r.unsure = was, unsure
	return out
}

// input follows a redirection of what a statement reads; it reports whether it is one.
func (r *run) input(redir *syntax.Redirect, must tri, d *redirection) bool {
	switch redir.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		r.in, d.input = nil, ""
		if text, ok := r.literal(redir); ok {
			r.in = &text
		}
	case syntax.WordHdoc:
		r.in, d.input = nil, ""
		if f := r.fields(redir.Word); len(f) == 1 && f[0].plain() {
			text := f[0].text + "\n"
			r.in = &text
		}
	case syntax.RdrIn:
		r.in, d.input = nil, ""
		if f := r.fields(redir.Word); len(f) == 1 && f[0].plain() {
			d.input = f[0].text
			r.mention(f[0])
			d.closed = d.closed || must != yes && r.unopened(f[0].text)
		} else {
			d.closed = true
		}
	case syntax.DplIn:
	default:
		return false
	}
	return true
}

// output2 follows a redirection of what a statement writes.
func (r *run) output2(redir *syntax.Redirect, must tri, d *redirection) {
	fd := "1"
	if redir.N != nil {
		fd = redir.N.Value
	}
	both := redir.Op == syntax.RdrAll || redir.Op == syntax.AppAll
	var to dest
	target := r.fields(redir.Word)
	if len(target) != 1 {
		target = []arg{{text: unknown}}
	}
	switch text := target[0].text; {
	case redir.Op == syntax.DplOut && text == "1":
		to = d.stdout
	case redir.Op == syntax.DplOut && text == "2":
		to = d.stderr
	case redir.Op == syntax.DplOut && (text == "-" || strings.Trim(text, "0123456789-") == ""):
		to.sink = toNull
	default:
		both = both || redir.Op == syntax.DplOut
		var failed bool
		more := redir.Op == syntax.AppOut || redir.Op == syntax.AppAll || redir.Op == syntax.RdrInOut
		unsure := r.unsure
		r.unsure = unsure || d.closed
		to, failed = r.openFile(target[0], more, must, &d.files)
		r.unsure = unsure
		d.closed = d.closed || failed
	}
	if fd == "1" {
		d.stdout = to
	}
	if fd == "2" || both {
		d.stderr = to
	}
}

// closeAll notes what was written into the files of redirections, and returns what is left of the output.
func (r *run) closeAll(d *redirection, out res) res {
	for i, f := range d.files {
		into := d.stdout.sink == toFile && d.stdout.file == i
		complaints := d.stderr.sink == toFile && d.stderr.file == i
		switch {
		case !into && !complaints:
		case into && (!complaints || out.quiet):
			r.close(f, out.out, out.ok)
		default:
			r.close(f, nil, out.ok)
		}
	}
	if d.stdout.sink == toFile || d.stdout.sink == toNull {
		out.out = &empty
	} else if d.stderr.sink == d.stdout.sink && !out.quiet && r.hidden {
		out.out = nil
	}
	return out
}

// unopened reports whether a file of a redirection may not have been opened: then the shell prints an error with
// its name, before it redirects errors.
func (r *run) unopened(name string) bool {
	return r.uncertain || r.hidden || strings.Contains(r.output, name+": ") || strings.Contains(r.output, ": "+name)
}

// openFile returns where a redirection to a word writes. failed reports whether it may not have been opened.
func (r *run) openFile(target arg, more bool, must tri, files *[]opened) (to dest, failed bool) {
	switch {
	case !target.plain():
		r.blurMatching(target)
		return dest{sink: toNull}, true
	case strings.HasPrefix(target.text, "/dev/"):
		return dest{sink: toNull}, false
	case !r.dir.known && !rooted(target.text), target.text == "":
		r.blurMatching(target)
		return dest{sink: toNull}, true
	}
	failed = must != yes && r.unopened(target.text)
	r.unsure = r.unsure || failed
	p := r.resolve(target.text)
	r.by = "the shell"
	if i, ok := r.find(p); !more || !ok || r.files[i].Exists == Absent {
		text := &empty
		if more && !ok {
			text = nil // it may have been there
		}
		r.write(p, text, false)
	}
	var file *File
	if i, ok := r.find(p); ok {
		file = r.files[i]
	}
	*files = append(*files, opened{p, file, more})
	r.mention(target)
	return dest{toFile, len(*files) - 1}, failed
}

// close notes what was written into a file that a redirection opened; text is nil if that is not known.
func (r *run) close(f opened, text *string, ok tri) {
	i, found := r.find(f.path)
	if !found || r.files[i] != f.file {
		if found {
			r.blur(r.edit(f.path), Changed)
		}
		return
	}
	if text != nil && ok != yes {
		text = nil
	}
	if f.append {
		if text != nil && *text == "" {
			return
		}
		if text == nil {
			r.spoil(f.path)
			return
		}
		r.append_(f.path, text)
		return
	}
	g := r.edit(f.path)
	r.unshare(g)
	if g.Text = nil; text != nil && !r.unsure && !g.haunted && g.Exists == Present && g.Kind != Link {
		g.Text = newText(*text, r.at, r.step)
	}
	if text != nil {
		g.Seen = r.at
	}
}
