package overview

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Source is where sessions are. It is safe for concurrent use.
type Source struct {
	Root string // of a mount's tree; sessions are below it
	// Sessions returns the paths below Root of the sessions that the caller sees.
	Sessions func() []string
}

// Entry is a session and when it changed last.
type Entry struct {
	Ref     string // its path below the root
	Updated time.Time
}

// List returns the sessions that match, those that changed last first. A nil match is for all.
func (s *Source) List(match func(ref string) bool) (all []Entry) {
	for _, ref := range s.Sessions() {
		if match != nil && !match(ref) {
			continue
		}
		if e, ok := s.Entry(ref); ok {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, newestFirst)
	return all
}

func newestFirst(a, b Entry) int {
	return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.Ref, b.Ref))
}

// Entry returns when a session changed last; ok is false where it was removed meanwhile, or cannot be read.
func (s *Source) Entry(ref string) (e Entry, ok bool) {
	fi, err := os.Stat(filepath.Join(s.Root, ref, ctxabi.MessagesFile))
	if err != nil {
		return e, false
	}
	return Entry{ref, fi.ModTime()}, true
}

// Answers asks the daemon of the mount that dir is in, and returns nil if it answers; else the error of the system. It
// reads a name of dir: the kernel itself answers a stat for a while after the daemon has died.
func Answers(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if _, err := d.Readdirnames(1); err != io.EOF {
		return err
	}
	return nil
}
