package files

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/pack/prefix"
)

// maxFiles is the largest number of entries of a State.
const maxFiles = 128

// file is one entry. It does not change once it is in a State.
type file struct {
	path string // as it was written first
	full string // its absolute path; "" if that is not certain

	action  action // of the last structured call
	at      int    // its position; 0 if no structured call names the file
	size    int    // bytes that it wrote, or -1
	edits   int    // edits since the file was written
	wroteAt int    // position of the last call that wrote all of it
	to      string

	command   string // the last command line that names the file, since it was written
	commandAt int
	end       string // suffix for the outcome of command: "" or one of the constants below
}

// Outcomes of a command, as suffixes of its position in a line.
const (
	failedEnd     = ", failed"
	scriptEnd     = ", in a script that failed"
	unfinishedEnd = ", unfinished"
)

// State is the section of files, in the order of their last changes. The zero State is empty.
type State struct {
	list []*file
	dir  string // the working directory of the shell that a result names; "" if none does
}

// New returns an empty State.
func New() prefix.Section { return new(State) }

// Clone implements [prefix.Section].
func (s *State) Clone() prefix.Section { return &State{slices.Clone(s.list), s.dir} }

// Apply implements [prefix.Section].
func (s *State) Apply(r *prefix.Record) {
	for i := range r.Calls {
		d := &r.Calls[i]
		if d.Open {
			continue
		}
		at := max(d.At, d.Called) // a result may precede its call
		script, ok := toolcall.Script(d.Tool, d.Arguments)
		if changes := patched(script); ok && changes != nil {
			if succeeded(&d.Result, "") {
				s.change(at, changes)
			}
			continue
		}
		if ok {
			if file := editedBy(script, d.Result.Text); file != "" {
				s.change(at, []change{{file, edited, -1, ""}})
				continue
			}
			s.applyScript(d, script)
		} else if changes := changesOf(d.Tool, d.Arguments); changes != nil && succeeded(&d.Result, changes[0].path) {
			if n, stated := statedBytes(d.Result.Text); stated && n != changes[0].size {
				changes[0].size = -1 // the log has other arguments than the tool, for example masked ones
			}
			s.change(at, changes)
		}
	}
}

// change applies the changes of a structured call.
func (s *State) change(at int, list []change) {
	for _, c := range list {
		gone := c.action == deleted || c.action == moved
		s.update(c.path, s.dir, func(f *file) {
			switch c.action {
			case edited:
				f.edits++
			case undone:
				if f.edits--; f.edits < 0 {
					f.edits, f.wroteAt = 0, 0
				}
			default:
				f.edits, f.wroteAt, f.command, f.commandAt = 0, 0, "", 0
			}
			if c.action == written {
				f.wroteAt, f.size = at, c.size
			}
			f.action, f.at, f.to = c.action, at, c.to
		})
		if !gone {
			continue
		}
		whole := absolute(c.path, s.dir)
		s.each(func(f *file) bool { return f.at < at && f.within(c.path, whole) }, func(f *file) {
			*f = file{path: f.path, full: f.full, size: -1, action: c.action, at: at}
			if c.to != "" {
				f.to = "a path below " + c.to
			}
		})
		if to := absolute(c.to, s.dir); c.to != "" {
			s.list = slices.DeleteFunc(slices.Clone(s.list),
				func(f *file) bool { return f.at < at && f.within(c.to, to) })
		}
	}
}

// within reports whether p is the path of f, a directory that contains f, or a pattern that
// matches f or such a directory. It compares absolute paths if f has one and full is not "".
func (f *file) within(p, full string) bool {
	name := f.path
	if p = path.Clean(p); f.full != "" && full != "" {
		name, p = f.full, full
	}
	for ; name != "." && name != "/"; name = path.Dir(name) {
		if ok, _ := path.Match(p, name); ok || name == p {
			return true
		}
	}
	return p == name && name == "/" || p == "." && !path.IsAbs(f.path)
}

// each replaces every matching entry by a changed copy and moves the copies to the end of the list.
func (s *State) each(match func(f *file) bool, change func(f *file)) {
	var others, changed []*file
	for _, f := range s.list {
		if !match(f) {
			others = append(others, f)
			continue
		}
		changedFile := *f
		change(&changedFile)
		changed = append(changed, &changedFile)
	}
	s.list = append(others, changed...)
}

// directory matches the working directory that a result names.
var directory = lazy.Regexp(`(?m)^\[Current working directory: (/[^\]\n]*)\]$`)

// applyScript records the command lines of a shell script and the working directory that its
// result reports. A failed script adds no new files.
func (s *State) applyScript(d *toolcall.Done, script string) {
	status := toolcall.StatusOf(d.Result)
	end := map[toolcall.Status]string{toolcall.Failed: failedEnd, toolcall.Stopped: unfinishedEnd}[status]
	if end == failedEnd && len(toolcall.Steps(script)) > 1 {
		end = scriptEnd
	}
	for _, m := range mentions(script, status == toolcall.Succeeded) {
		dir := m.dir
		if !path.IsAbs(dir) {
			dir = ""
			if s.dir != "" && m.dir != toolcall.UnknownDir {
				dir = path.Join(s.dir, m.dir)
			}
		}
		if status == toolcall.NotRun {
			break
		}
		set := func(f *file) { f.command, f.commandAt, f.end = m.text, d.At, end }
		if !m.known && status != toolcall.Failed || s.find(m.path, dir) >= 0 {
			s.update(m.path, dir, set)
		}
		if full := absolute(m.path, dir); m.tree || m.below {
			s.each(func(f *file) bool { return m.tree && f.inTree(dir) || m.below && f.within(m.path, full) }, set)
		}
	}
	if m := directory().FindStringSubmatch(d.Result.Text[max(0, len(d.Result.Text)-400):]); m != nil {
		s.dir = m[1]
	}
}

// inTree reports whether f may be below dir. If dir or the absolute path of f is unknown (""), only
// files below /tmp are excluded.
func (f *file) inTree(dir string) bool {
	if dir == "" || f.full == "" {
		return !strings.HasPrefix(f.full, "/tmp/")
	}
	return strings.HasPrefix(f.full, strings.TrimSuffix(dir, "/")+"/")
}

// absolute returns the absolute path of a file named in a directory; "" if that is not certain.
func absolute(p, dir string) string {
	switch {
	case p == "":
	case path.IsAbs(p):
		return path.Clean(p)
	case path.IsAbs(dir) && !strings.HasPrefix(p, "~"):
		return path.Join(dir, p)
	}
	return ""
}

// find returns the index of the entry of a path; -1 if there is none.
func (s *State) find(p, dir string) int {
	full := absolute(p, dir)
	return slices.IndexFunc(s.list, func(f *file) bool {
		if full != "" && f.full != "" {
			return f.full == full
		}
		return path.Clean(f.path) == path.Clean(p)
	})
}

// update replaces the entry of a path by a changed copy, or appends one, as the newest.
func (s *State) update(p, dir string, change func(f *file)) {
	f := file{path: path.Clean(p), full: absolute(p, dir), size: -1}
	if i := s.find(p, dir); i >= 0 {
		full := f.full
		f = *s.list[i]
		if f.full == "" {
			f.full = full
		}
		s.list = slices.Delete(slices.Clone(s.list), i, i+1)
	}
	change(&f)
	if s.list = append(s.list, &f); len(s.list) > maxFiles {
		s.list = slices.Delete(s.list, 0, 1)
	}
}

// Encode implements [prefix.Section].
func (s *State) Encode(c *coder.Coder) {
	coder.Text(c, &s.dir)
	coder.Pointers(c, &s.list, func(f *file) {
		coder.Text(c, &f.path, &f.full, &f.to, &f.command, &f.end)
		coder.Number(c, &f.action)
		coder.Number(c, &f.at, &f.size, &f.edits, &f.wroteAt, &f.commandAt)
	})
	for _, f := range s.list {
		if int(f.action) >= len(actionNames) {
			c.Bad = true
		}
	}
}
