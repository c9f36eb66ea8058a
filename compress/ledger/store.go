package ledger

import (
	"cmp"
	"slices"

	"github.com/ctxfs/ctxfs/internal/coder"
)

// Sure reports whether f's presence or absence is known, and no program ran since that may have
// changed it without a trace.
func (s State) Sure(f *File) bool {
	return f.Exists != Unsure && f.step > s.ranSoft && f.step > s.lastRun()
}

// SureText reports the same of f's content: Text is what stands in the file now.
func (s State) SureText(f *File) bool {
	return f.Text != nil && s.Sure(f) && f.Text.step > s.ranSoft && f.Text.step > s.lastRun()
}

func (s *State) lastRun() int {
	if n := len(s.ran); n > 0 {
		return s.ran[n-1].step
	}
	return 0
}

func (s *State) find(path string) (int, bool) {
	return slices.BinarySearchFunc(s.files, path, func(f *File, p string) int { return cmp.Compare(f.Path, p) })
}

// below returns the range of the files below a directory.
func (s *State) below(dir string) (from, to int) {
	prefix, end := dir+"/", dir+"0" // '0' follows '/'
	if dir == "" {                  // of relative paths
		return 0, len(s.files)
	}
	if dir == "/" {
		prefix, end = "/", "0"
	}
	from, _ = s.find(prefix)
	to, _ = s.find(end)
	return from, to
}

// canonical returns a path as it is kept: clean, and absolute where that is known.
func (s *State) canonical(path string) string {
	if s.base != "" && !rooted(path) {
		return clean(s.base + "/" + path)
	}
	return clean(path)
}

// learnBase makes absolute what was relative.
func (s *State) learnBase(dir string) {
	s.base = dir
	old := s.files
	s.files = slices.Clone(old)
	for i, f := range s.files {
		if !rooted(f.Path) {
			moved := *f
			moved.Path = s.canonical(f.Path)
			s.files[i] = &moved
		}
	}
	slices.SortStableFunc(s.files, func(a, b *File) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(b.step, a.step)) })
	s.files = slices.CompactFunc(s.files, func(a, b *File) bool { return a.Path == b.Path }) // the newer one stays
	s.dirs = slices.Clone(s.dirs)
	for i := range s.dirs {
		if d := &s.dirs[i].at; d.known && !rooted(d.path) {
			d.path = s.canonical(d.path)
		}
	}
}

// Code writes s, or reads what was written.
func (s *State) Code(c *coder.Coder) {
	s.open.Code(c)
	coder.Pointers(c, &s.files, func(f *File) { f.code(c) })
	coder.Text(c, &s.base)
	coder.List(c, &s.dirs, func(d *shellDir) { coder.Text(c, &d.tool, &d.at.path, &d.repeats); c.Flag(&d.at.known, &d.fresh) })
	coder.List(c, &s.statuses, func(tool *string) { coder.Text(c, tool) })
	coder.List(c, &s.ran, func(r *Run) { coder.Text(c, &r.By); coder.Number(c, &r.At, &r.step) })
	coder.Number(c, &s.step, &s.ranSoft)
}

func (f *File) code(c *coder.Coder) {
	number, text := coder.Number[int], coder.Text[string]
	text(c, &f.Path, &f.By, &f.From, &f.to, (*string)(&f.Act))
	coder.Number(c, (*uint8)(&f.Exists), (*uint8)(&f.Kind))
	number(c, &f.At, &f.Created, &f.Changes, &f.Reads, &f.Seen, &f.step)
	c.Flag(&f.haunted, &f.shared)
	coder.Maybe(c, &f.Text, func(t *Text) { text(c, &t.Body); c.Flag(&t.Held, &t.Loose); number(c, t.numbers()...) })
	coder.Maybe(c, &f.Change, func(o *Change) { text(c, &o.Old, &o.New); number(c, &o.At) })
}

func (t *Text) numbers() []*int { return []*int{&t.At, &t.Bytes, &t.Lines, &t.step} }
