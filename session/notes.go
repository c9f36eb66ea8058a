package session

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// A note (context/facts.jsonl and its like, ctxabi.NoteFiles) has two lives. Where the file itself
// is in the store, it is the agent's. Where it is not, ctxfs derives it; what the agent added to
// that lies beside it under ctxabi.OwnNote. So one rename makes each change, and whatever a crash
// leaves is one of both: when both are there, the file counts.

// Note is what the store has of a note.
type Note struct {
	Origin string // ctxabi.OriginDerived, OriginMixed or OriginAgent
	Own    []byte // what the agent wrote: all of it, or what stands behind what is derived
}

// IsNote reports whether ctxfs derives the file called name as long as the agent does not write it.
func IsNote(name string) bool { return slices.Contains(ctxabi.NoteFiles, name) }

// Note reads a note from the disk: the summary is the version in use. It returns the error of the
// disk, and ctxabi.ErrIO if the text of that version is lost.
func (x *Session) Note(name string) (Note, error) {
	if name == ctxabi.SummaryFile {
		if n, ok, err := x.summaryNote(); ok || err != nil {
			return n, err
		}
	}
	return x.fileNote(name)
}

// fileNote is Note of the files that hold it. The summary of a session without versions is there.
func (x *Session) fileNote(name string) (Note, error) {
	own := ctxabi.OwnNote(name)
	for {
		changes := x.changes.Load()
		// The first one is looked for again at the end: it may have taken the other's place between the looks.
		for _, at := range []struct{ name, origin string }{{name, ctxabi.OriginAgent}, {own, ctxabi.OriginMixed}, {name, ctxabi.OriginAgent}} {
			data, err := x.Control(at.name)
			if err == nil {
				return Note{at.origin, data}, nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return Note{}, err
			}
		}
		if x.changes.Load() == changes {
			return Note{Origin: ctxabi.OriginDerived}, nil
		}
	}
}

// AppendNote adds to what the agent wrote of a note; what was derived becomes mixed, but a summary
// is the agent's: it is the version in use and what is added. The whole is
// checked like a control file. Appends do not overwrite one another. A row that is added beside
// derived ones without its newline gets one. It returns ctxabi.ErrMalformed if name is no note or
// the whole breaks its rules, and the error of the disk.
func (x *Session) AppendNote(name string, data []byte) error {
	return x.changeNote(name, func(n *Note) {
		if name == ctxabi.SummaryFile {
			n.Origin = ctxabi.OriginAgent
		}
		if n.Origin == ctxabi.OriginDerived {
			n.Origin = ctxabi.OriginMixed
		}
		n.Own = append(n.Own, data...)
		if n.Origin == ctxabi.OriginMixed && strings.HasSuffix(name, ".jsonl") && len(data) > 0 && data[len(data)-1] != '\n' {
			n.Own = append(n.Own, '\n') // what others add is a row of its own
		}
	})
}

// SetNote replaces what the agent wrote of a note: the part behind what is derived where the origin
// is ctxabi.OriginMixed, else the whole file, which is the agent's from then on. It returns the
// errors of AppendNote.
func (x *Session) SetNote(name string, own []byte, origin string) error {
	return x.changeNote(name, func(n *Note) { *n = Note{origin, own} })
}

// DropNote forgets what the agent wrote of a note: it is derived again. It returns the errors of
// AppendNote.
func (x *Session) DropNote(name string) error {
	return x.changeNote(name, func(n *Note) { *n = Note{Origin: ctxabi.OriginDerived} })
}

// changeNote has change edit a note, checks the result, and stores it.
func (x *Session) changeNote(name string, change func(*Note)) error {
	if err := x.store.disk.Writable("set"); err != nil {
		return err
	}
	if !IsNote(name) {
		return ctxabi.E("set", name, ctxabi.ErrMalformed, "it is not a file that ctxfs derives")
	}
	x.notes.Lock()
	defer x.notes.Unlock()
	now, err := x.Note(name)
	if err != nil {
		return vfs.Failed("set", name, err, "the old content stays")
	}
	change(&now)
	if err := CheckControl(name, now.Own); err != nil {
		return err
	}
	if name == ctxabi.SummaryFile {
		return x.deliver(now)
	}
	return x.writeNote(name, now)
}

// writeNote makes now what the agent wrote of a note.
func (x *Session) writeNote(name string, now Note) (err error) {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	own := ctxabi.OwnNote(name)
	// First what counts from now on, then what no longer does. Of the two that rm takes, the one that counts goes last.
	switch now.Origin {
	case ctxabi.OriginAgent:
		if err = x.dir.Replace(name, now.Own, true); err == nil {
			x.removeNote(own) // it does not count any more
		}
	case ctxabi.OriginMixed:
		if err = x.dir.Replace(own, now.Own, true); err == nil {
			err = x.removeNote(name)
		}
	default:
		if err = x.removeNote(own); err == nil {
			err = x.removeNote(name)
		}
	}
	if err != nil {
		return vfs.Failed("set", name, err, "the old content stays")
	}
	x.Touch()
	return nil
}

func (x *Session) removeNote(name string) error {
	err := x.store.disk.FS.Remove(x.dir.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
