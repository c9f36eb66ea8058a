package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// The sessions of a user that have the same workspace share a memory. Which workspace a session has
// stands in its control files: context/project if it has one, else cwd. A path means the same
// directory only to processes that see the same file systems, and what a container writes must not
// lead it to the memory of others: a path that was written by a process of a container is marked, and
// counts only as far as the mount translates it.

// foreignFiles hold the content of control files that name a workspace as it was written by a process
// that does not see the file systems of the daemon. Another content than that is not meant.
var foreignFiles = map[string]string{
	ctxabi.CwdFile:     ctxabi.InternalDir + "/cwd.foreign",
	ctxabi.ProjectFile: ctxabi.InternalDir + "/project.foreign",
}

// ForeignFiles returns the marks of paths that a process of a container wrote.
func ForeignFiles() []string { return slices.Sorted(maps.Values(foreignFiles)) }

// NamesWorkspace reports whether the control file name holds the path of a workspace.
func NamesWorkspace(name string) bool { return foreignFiles[name] != "" }

// SetWorkspace is SetControl of a file that [NamesWorkspace], for a process that sees the daemon's
// file systems or, if foreign is true, may not. Whenever a crash comes, a path of a foreign process is
// marked. It returns the errors of SetControl.
func (x *Session) SetWorkspace(name string, data []byte, foreign bool) error {
	if err := CheckControl(name, data); err != nil {
		return err
	}
	mark := foreignFiles[name]
	if foreign {
		if err := x.replaceControl(mark, data); err != nil {
			return err
		}
		return x.SetControl(name, data)
	}
	if err := x.SetControl(name, data); err != nil {
		return err
	}
	x.store.disk.Move.RLock()
	was, err := vfs.ReadFile(x.store.disk.FS, x.dir.Path(mark))
	x.store.disk.Move.RUnlock()
	if err != nil {
		return nil // there is none
	}
	return x.removeIf(mark, was)
}

// Workspace returns the absolute path of the workspace of the session ref, or "" if it has none or
// shares none. mapped translates a path as containers call it; nil: as it is.
func (s *Store) Workspace(ref ctxabi.Ref, mapped func(string) string) string {
	s.disk.Move.RLock()
	defer s.disk.Move.RUnlock()
	read := func(name string) []byte {
		data, err := vfs.ReadFile(s.disk.FS, s.disk.Join(ref.Path(), name))
		if err != nil || CheckControl(name, data) != nil {
			return nil
		}
		return data
	}
	if mapped == nil {
		mapped = func(dir string) string { return dir }
	}
	name := ctxabi.ProjectFile
	said := read(name)
	if trimNewline(said) == ctxabi.NoProject {
		return ""
	}
	if trimNewline(said) == "" {
		name = ctxabi.CwdFile
		said = read(name)
	}
	dir := trimNewline(said)
	if dir == "" {
		return ""
	}
	foreign, err := vfs.ReadFile(s.disk.FS, s.disk.Join(ref.Path(), foreignFiles[name]))
	if host := mapped(dir); host != dir || err != nil || !bytes.Equal(foreign, said) {
		return path.Clean(host)
	}
	return ""
}

// ProjectPath returns the directory of workspace slug of a user, relative to the store.
func ProjectPath(uid uint32, slug ...string) string {
	return path.Join(ctxabi.Ref{UID: uid}.Owner(), ctxabi.ProjectsDir, path.Join(slug...))
}

// EnsureProject makes the directory of workspace slug of the user uid, and those above it. It returns
// ctxabi.ErrReadOnly, and the error of the disk.
func (s *Store) EnsureProject(uid, gid uint32, slug string) error {
	if err := s.EnsureHome(uid, gid); err != nil {
		return err
	}
	o := disk.Owner{UID: uid, GID: gid, Mode: 0o700}
	if err := s.disk.Mkdir(s.disk.Join(ProjectPath(uid)), o); err != nil {
		return err
	}
	return s.disk.Mkdir(s.disk.Join(ProjectPath(uid, slug)), o)
}

// ProjectNotes returns what people wrote in notes.md of workspace slug of the user uid, and when.
// It returns fs.ErrNotExist if they wrote none, and ctxabi.ErrTooLarge or ctxabi.ErrMalformed for
// what cannot stand in a prompt: more than ctxabi.MaxControl bytes, or no text.
func (s *Store) ProjectNotes(uid uint32, slug string) (data []byte, at time.Time, err error) {
	name := ProjectPath(uid, slug, ctxabi.ProjectNotesFile)
	file := s.disk.Join(name)
	fi, err := s.disk.FS.Stat(file)
	switch {
	case err != nil:
		return nil, at, err
	case !fi.Mode().IsRegular():
		return nil, at, ctxabi.E("read", name, ctxabi.ErrMalformed, "it is not a regular file")
	case fi.Size() > ctxabi.MaxControl:
		return nil, at, ctxabi.E("read", name, ctxabi.ErrTooLarge, "it has %d bytes, the limit is %d", fi.Size(), ctxabi.MaxControl)
	}
	if data, err = vfs.ReadFile(s.disk.FS, file); err == nil {
		err = CheckText(name, data)
	}
	return data, fi.ModTime(), err
}

// Pins returns the names of the files in context/pinned that stand in packs, in order.
func (x *Session) Pins() (names []string) {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	entries, _ := x.store.disk.FS.ReadDir(x.dir.Path(ctxabi.PinnedDir))
	for _, e := range entries {
		if e.Type().IsRegular() && ctxabi.IsPin(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// Changes returns a counter that changes whenever a control file, pin, or note is written or
// removed.
func (x *Session) Changes() uint64 { return x.changes.Load() }

// Stamp returns a text that changes whenever a record of the session is added, or a file of names is
// written. A name of a directory stands for the files in it.
func (x *Session) Stamp(names ...string) string {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	var b bytes.Buffer
	add := func(name string) (dir bool) {
		fi, err := x.store.disk.FS.Stat(x.dir.Path(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			fmt.Fprintf(&b, "%s %v\n", name, err)
		case fi.IsDir():
			return true
		default:
			fmt.Fprintf(&b, "%s %d %d\n", name, fi.Size(), fi.ModTime().UnixNano())
		}
		return false
	}
	for _, name := range append([]string{ctxabi.MessagesFile, ctxabi.EventsFile}, names...) {
		if !add(name) {
			continue
		}
		entries, _ := x.store.disk.FS.ReadDir(x.dir.Path(name))
		for _, e := range entries {
			add(path.Join(name, e.Name()))
		}
	}
	return b.String()
}

// Written returns when a record of the session ref was added last; when it was made, if it has none.
func (s *Store) Written(ref ctxabi.Ref) time.Time {
	s.disk.Move.RLock()
	defer s.disk.Move.RUnlock()
	for _, name := range []string{log.ArrivalsFile(ctxabi.MessagesFile), disk.IDFile} { // the log itself is written anew when it is sealed
		if fi, err := s.disk.FS.Stat(s.disk.Join(ref.Path(), name)); err == nil && fi.Size() > 0 {
			return fi.ModTime()
		}
	}
	return time.Time{}
}
