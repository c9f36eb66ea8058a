package ledger

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress/toolcall"
)

// Bounds of a [State].
const (
	MaxFiles = 512
	maxText  = 64 << 10 // bytes of one content that is held
	maxHeld  = 2 << 20  // bytes of all contents that are held
	maxOlder = 8        // programs that may have changed files without a trace
)

// State is what the records up to one place say about files. The zero State knows nothing. It is a
// value: Apply leaves the receiver as it is, and both share what is equal.
type State struct {
	open  toolcall.Open
	files []*File // by path; neither the slice nor a File is changed once it is in a State
	base  string  // the directory where the session began; "" if it is not known
	dirs  []shellDir
	step  int // counts effects

	statuses []string // tools that name the exit status of what fails
	ran      []Run    // programs whose effects do not show, the newest last
	ranSoft  int      // the step of the last program that hardly changes files
}

// shellDir is where the shell of a tool is.
type shellDir struct {
	tool    string
	at      cwd
	repeats string // the relative cd that succeeded last
	fresh   bool   // each call begins where the session did
}

// Run is a program that may have changed files without a trace in the records.
type Run struct {
	At   int
	By   string
	step int
}

// In returns s with the directory where the session began, which makes relative and absolute paths
// the same. It does nothing if dir is not absolute.
func (s State) In(dir string) State {
	if strings.HasPrefix(dir, "/") && s.base == "" {
		s.learnBase(clean(dir))
	}
	return s
}

// Apply returns the state after a record. Records come in the order of their places.
func (s State) Apply(r toolcall.Record) State {
	if len(r.Calls) == 0 && len(r.Results) == 0 {
		return s
	}
	open, done := s.open.Next(r)
	s.open = open
	for i := range done {
		s = s.after(&done[i])
	}
	return s
}

// Files returns what is known, in the order of the paths. The caller must not change it.
func (s State) Files() []*File { return s.files }

// File returns what is known of a file; ok is false if that is nothing.
func (s State) File(path string) (f *File, ok bool) {
	if i, ok := s.find(s.canonical(path)); ok {
		return s.files[i], true
	}
	return nil, false
}

// RanSince returns the newest of the programs that may have changed f's content without a trace
// since it was seen; ok is false if there is none. Builds and tests do not count.
func (s State) RanSince(f *File) (r Run, ok bool) {
	since := f.step
	if f.Text != nil {
		since = min(since, f.Text.step)
	}
	if n := len(s.ran); n > 0 && s.ran[n-1].step > since {
		return s.ran[n-1], true
	}
	return Run{}, false
}
