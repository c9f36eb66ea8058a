package files

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/pack/prefix"
)

// Bounds of a State.
const (
	maxFiles   = 128 // entries
	maxCommand = 160 // bytes of a command line
)

// file is one entry. It does not change once it is in a State.
type file struct {
	path string

	wroteAt int // position of the last call that wrote all of it; 0 if there is none
	size    int // bytes that this call wrote, or -1

	did string // what a later structured call did: "edited", "deleted", "moved to b.go"
	at  int    // position of that call

	command   string // the last command line that names the file, since it was written
	commandAt int
	end       string // what is known of the end of command, with a comma before it
}

// State is the section of files, in the order of their last changes. The zero State is empty.
type State struct {
	list []*file
}

// New returns an empty State.
func New() prefix.Section { return new(State) }

// Clone implements [prefix.Section].
func (s *State) Clone() prefix.Section { return &State{slices.Clone(s.list)} }

// Apply implements [prefix.Section].
func (s *State) Apply(r *prefix.Record) {
	for i := range r.Calls {
		if d := &r.Calls[i]; !d.Open {
			for _, use := range toolcall.FileUses(d.Tool, d.Arguments) {
				if use.Act != toolcall.Reads {
					s.use(d, &use)
				}
			}
			for _, tree := range toolcall.TreeUses(d.Tool, d.Arguments) {
				for _, f := range s.list {
					if f.within(tree.Path) {
						s.use(d, &toolcall.FileUse{Path: f.path, Line: tree.Line})
					}
				}
			}
		}
	}
}

// within reports whether p is the path of f, a directory that contains it, or a pattern that matches
// one of these. A relative path may belong to any directory, except that "." does not contain /tmp.
func (f *file) within(p string) bool {
	if p == "." {
		return !strings.HasPrefix(f.path, "/tmp/")
	}
	p, isTree := strings.CutSuffix(p, "/.")
	if isTree && !path.IsAbs(f.path) {
		return true
	}
	for name := f.path; name != "." && name != "/"; name = path.Dir(name) {
		if ok, _ := path.Match(p, name); ok || name == p || strings.HasSuffix(name, "/"+p) || strings.HasSuffix(p, "/"+name) {
			return true
		}
	}
	return path.IsAbs(p) && path.IsAbs(f.path) && p == "/"
}

// use records what a call does to one file.
func (s *State) use(d *toolcall.Done, use *toolcall.FileUse) {
	at := max(d.At, d.Called) // a result may precede its call
	if use.Line == "" {
		if succeeded(d, use.Path) {
			s.list = slices.DeleteFunc(slices.Clone(s.list), func(f *file) bool { return f.path == use.To })
			s.update(use.Path, func(f *file) { f.changeBy(use, at, d.Result.Text) })
		}
		return
	}

	end := ""
	switch toolcall.StatusOf(d) {
	case toolcall.NotRun:
		return
	case toolcall.Failed:
		if end = ", in a script that failed"; s.find(use.Path) < 0 {
			return
		}
	case toolcall.Stopped:
		end = ", unfinished"
	}
	s.update(use.Path, func(f *file) {
		f.command, f.commandAt, f.end = compress.Clip(use.Line, maxCommand), d.At, end
	})
}

// changeBy changes the entry by a structured call.
func (f *file) changeBy(use *toolcall.FileUse, at int, output string) {
	switch use.Act {
	case toolcall.Changes:
		f.did, f.at = "edited", at
	case toolcall.Undoes:
		f.did, f.at = "edit undone", at
	case toolcall.Writes:
		*f = file{path: f.path, wroteAt: at, size: use.Size}
		if n, stated := statedBytes(output); stated && n != use.Size {
			f.size = -1 // the log has other arguments than the tool, for example masked ones
		}
	default:
		*f = file{path: f.path, did: "deleted", at: at}
		if use.To != "" {
			f.did = "moved to " + use.To
		}
	}
}

// bytesIn matches a number of bytes in the result of a tool.
var bytesIn = lazy.Regexp(`\b([0-9]{1,12}) bytes\b`)

// statedBytes returns the only number of bytes that a result states.
func statedBytes(result string) (n int, ok bool) {
	found := bytesIn().FindAllStringSubmatch(result, 2)
	if len(found) != 1 {
		return 0, false
	}
	n, err := strconv.Atoi(found[0][1])
	return n, err == nil
}

// find returns the index of the entry of a path; -1 if there is none.
func (s *State) find(path string) int {
	return slices.IndexFunc(s.list, func(f *file) bool { return f.path == path })
}

// update replaces the entry of a path by a changed copy, or appends one, as the newest.
func (s *State) update(path string, change func(f *file)) {
	f := file{path: path}
	if i := s.find(path); i >= 0 {
		f = *s.list[i]
		s.list = slices.Delete(slices.Clone(s.list), i, i+1)
	}
	change(&f)
	if s.list = append(s.list, &f); len(s.list) > maxFiles {
		s.list = slices.Delete(s.list, 0, 1)
	}
}

// Lines implements [prefix.Section]: files that a structured tool changed, then those that only
// commands name, each newest first.
func (s *State) Lines(in prefix.LineInput) (lines []prefix.Line) {
	for _, structured := range []bool{true, false} {
		for _, f := range slices.Backward(s.list) {
			if (f.wroteAt > 0 || f.at > 0) == structured {
				lines = append(lines, f.line(in))
			}
		}
	}
	return lines
}

// line formats a file as one line, with its events in chronological order:
//
//	a.go: written at 12, 1204 bytes; edited at 15; a command at 20: gofmt -w a.go
func (f *file) line(in prefix.LineInput) prefix.Line {
	type event struct {
		at   int
		text string
	}
	wrote := event{f.wroteAt, "written at " + in.Where(f.wroteAt)}
	if f.size >= 0 {
		wrote.text += fmt.Sprintf(", %d bytes", f.size)
	}
	events := []event{wrote, {f.at, f.did + " at " + in.Where(f.at)},
		{f.commandAt, "a command at " + in.Where(f.commandAt) + f.end + ": " + f.command}}
	events = slices.DeleteFunc(events, func(e event) bool { return e.at == 0 })
	slices.SortStableFunc(events, func(a, b event) int { return a.at - b.at })

	var texts []string
	for _, e := range events {
		texts = append(texts, e.text)
	}
	last := events[len(events)-1]
	return prefix.Line{Name: f.path, Full: f.path + ": " + strings.Join(texts, "; "), Short: f.path + ": " + last.text,
		At: last.at}
}

// Encode implements [prefix.Section].
func (s *State) Encode(c *coder.Coder) {
	coder.Pointers(c, &s.list, func(f *file) {
		coder.Text(c, &f.path, &f.did, &f.command, &f.end)
		coder.Number(c, &f.wroteAt, &f.size, &f.at, &f.commandAt)
		if c.Reads && f.wroteAt == 0 && f.at == 0 && f.commandAt == 0 {
			c.Bad = true
		}
	})
}

// refusal matches the first line of a result if the tool reports that it changed nothing.
var refusal = lazy.Regexp(`(?i)^\W*(?:tool_use_error|error|failed|failure|traceback|e[a-z]{3,8}: |errno|` +
	`no (?:replacement|changes?|match(?:es)?)\b|string (?:to replace|not found)|old_str|` +
	`the (?:text|string) to replace|refus|invalid|your proposed edit has introduced)|` +
	`\b(?:fail(?:ed|s)? to|verification failed|denied|can(?:not|'t)|could(?: not|n't)|unable to|not found|` +
	`not (?:be )?(?:changed|applied|written|saved)|did not (?:match|appear)|does(?: not|n't) exist|` +
	`already exists|no such (?:file|directory)|no space left|read-only file system|` +
	`(?:0|zero) (?:replacements?|occurrences?|matches))\b`)

// succeeded reports whether the result of a file tool contains no sign of a failure. It ignores the
// path in the text, since a path may contain words such as "error".
func succeeded(d *toolcall.Done, path string) bool {
	if s := toolcall.StatusOf(d); d.Result.Failed || s > toolcall.Succeeded {
		return false
	}
	text := strings.TrimSpace(toolcall.Body(d))
	if failed, isObject := toolcall.ObjectFails(text); isObject {
		return !failed
	}
	first, _, _ := strings.Cut(text, "\n")
	first = strings.ReplaceAll(first, path, "")
	return !refusal().MatchString(first[:min(len(first), 300)])
}
