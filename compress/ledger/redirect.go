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

// redirected follows a statement with its redirections.
func (r *run) redirected(s *syntax.Stmt, must tri) (out res) {
	if len(s.Redirs) == 0 {
		return r.command(s.Cmd, must)
	}
	was, unsure := r.io, r.unsure
	stdout, stderr := dest{sink: r.out}, dest{sink: toScreen}
	if r.hidden {
		stderr.sink = toNull
	}
	closed, input := false, ""
	var files []opened
	for _, redir := range s.Redirs {
		switch redir.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			r.in, input = nil, ""
			if text, ok := r.literal(redir); ok {
				r.in = &text
			}
			continue
		case syntax.WordHdoc:
			r.in, input = nil, ""
			if f := r.fields(redir.Word); len(f) == 1 && f[0].plain() {
				text := f[0].text + "\n"
				r.in = &text
			}
			continue
		case syntax.RdrIn:
			r.in, input = nil, ""
			if f := r.fields(redir.Word); len(f) == 1 && f[0].plain() {
				input = f[0].text
				r.mention(f[0])
				closed = closed || must != yes && r.unopened(f[0].text)
			} else {
				closed = true
			}
			continue
		case syntax.DplIn:
			continue
		}
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
			to = stdout
		case redir.Op == syntax.DplOut && text == "2":
			to = stderr
		case redir.Op == syntax.DplOut && (text == "-" || strings.Trim(text, "0123456789-") == ""):
			to.sink = toNull
		default:
			both = both || redir.Op == syntax.DplOut
			var failed bool
			more := redir.Op == syntax.AppOut || redir.Op == syntax.AppAll || redir.Op == syntax.RdrInOut
			r.unsure = unsure || closed
			to, failed = r.openFile(target[0], more, must, &files)
			r.unsure = unsure
			closed = closed || failed
		}
		if fd == "1" {
			stdout = to
		}
		if fd == "2" || both {
			stderr = to
		}
	}
	if input != "" { // as it is once the others are open
		r.in = r.content(input)
	}
	r.unsure = unsure || closed
	r.hidden = was.hidden || stderr.sink != toScreen
	r.out = stdout.sink
	out = r.command(s.Cmd, must)
	if closed && must != yes { // it may not have begun
		out.ok = min(out.ok, maybe)
	}
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == "exec" {
		was.hidden = true // from here on
		files = append(files[:0:0], files...)
		for _, f := range files {
			r.spoil(f.path)
		}
	}
	text := out.out
	for i, f := range files {
		into := stdout.sink == toFile && stdout.file == i
		complaints := stderr.sink == toFile && stderr.file == i
		switch {
		case !into && !complaints:
		case into && complaints && out.quiet, into && !complaints:
			r.close(f, text, out.ok)
		default:
			r.close(f, nil, out.ok)
		}
	}
	if stdout.sink == toFile || stdout.sink == toNull {
		out.out = &empty
	} else if stderr.sink == stdout.sink && !out.quiet && r.hidden {
		out.out = nil
	}
	r.io, r.unsure = was, unsure
	return out
}

// unopened reports whether a file of a redirection may not have been opened, by what the shell says of it. The
// shell says so before it redirects errors.
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
