package check

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// checkID looks at the session's id. The chains of both logs begin with it, so that one that was
// changed can be told, and found again where little is missing.
func (t *sessionTree) checkID() {
	s := t.c.s
	raw, err := vfs.ReadFile(s.Disk().FS, path.Join(t.dir, disk.IDFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
		t.report(disk.IDFile, Lost, NoRemedy, "it cannot be read: %v", err)
		return
	}
	id := strings.TrimSpace(string(raw))
	begins := t.beginnings()
	proven := func(id string) bool {
		for name, a := range begins {
			if _, follows := a.Follows(arrival.ChainSeed(id, name)); follows {
				return true
			}
		}
		return false
	}
	if isID(id) && strings.ToLower(id) == id {
		if others := t.c.ids[id]; len(others) > 1 {
			for _, other := range others {
				if other != t.ref {
					t.report(disk.IDFile, Odd, NoRemedy, "%s has the same id: one is a copy of the other, and what is stored for one is shown for both; make the copy with 'ctxfs session fork', or remove one", other.Path())
					break
				}
			}
		}
		if len(begins) == 0 || proven(id) {
			return
		}
	}
	what := "it does not have the id that the chains begin with"
	switch {
	case err != nil && errors.Is(err, fs.ErrNotExist):
		what = "the session's id is missing"
	case !isID(id):
		what = "it does not contain an id of 32 hex digits"
	}
	for _, candidate := range t.candidates(id) {
		if proven(candidate) {
			t.report(disk.IDFile, Rebuildable, t.newID(candidate, "the id was found; the chains prove it"), "%s", what)
			return
		}
	}
	switch {
	case len(begins) == 0:
		t.report(disk.IDFile, Rebuildable, t.newID(disk.NewID(), "a new id was made: nothing depends on the old one"), "%s", what)
	case isID(id) && strings.ToLower(id) == id:
		// The chain is what tells: verify says the same of the first row.
		t.report(disk.IDFile, Lost, NoRemedy, "%s: nothing proves where the history began", what)
	default:
		t.report(disk.IDFile, Lost, t.newID(disk.NewID(), "a new id was made, so that the session is served; the old chains do not begin with it"),
			"%s: nothing proves where the history began", what)
	}
}

// beginnings returns the first arrival row of each log that has one that is whole.
func (t *sessionTree) beginnings() map[string]arrival.Row {
	begins := map[string]arrival.Row{}
	for _, name := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
		f, err := t.c.s.Disk().FS.OpenFile(path.Join(t.dir, log.ArrivalsFile(name)), 0, 0)
		if err != nil {
			continue
		}
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			vfs.ScanLines(f, 0, fi.Size(), func(_, _ int64, line []byte, whole bool) bool {
				if a, ok := arrival.ParseRow(line); ok && whole && a.Off == 0 {
					begins[name] = a
				}
				return false
			})
		}
		f.Close()
	}
	return begins
}

// candidates are ids that this one may have been: each that differs in one digit.
func (t *sessionTree) candidates(id string) (list []string) {
	if len(id) == 32 {
		for i := range id {
			for _, c := range "0123456789abcdef" {
				list = append(list, id[:i]+string(c)+id[i+1:])
			}
		}
	}
	return list
}

// newID is the remedy that gives the session an id.
func (t *sessionTree) newID(id, words string) Remedy {
	s := t.c.s
	return Remedy{words, func() error {
		tmp := s.Disk().TmpName()
		err := vfs.WriteFile(s.Disk().FS, tmp, []byte(id+"\n"), 0o600)
		if err == nil {
			err = s.Disk().Own(tmp, t.owner, t.owner.FileMode())
		}
		if err == nil {
			_, err = s.Disk().Exchange(t.dir, disk.IDFile, tmp, t.owner)
		}
		if err != nil {
			s.Disk().FS.Remove(tmp)
		}
		return err
	}}
}
