package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// The sessions of a user that have the same workspace share a memory. Which workspace a session has
// stands in its control files: context/project if it has one, else cwd. A path means the same
// directory only to processes that see the same file systems: a cwd that was written by a process of
// a container is marked, and counts only as far as the mount translates it.

// ForeignFile holds the content of cwd as it was written by a process that does not see the file
// systems of the daemon. Another cwd than that is not meant.
const ForeignFile = ctxabi.InternalDir + "/cwd.foreign"

// SetCwd is SetControl of cwd for a process that sees the daemon's file systems or, if foreign is
// true, may not. Whenever a crash comes, a cwd of a foreign process is marked. It returns the errors
// of SetControl.
func (x *Session) SetCwd(data []byte, foreign bool) error {
	if err := CheckControl(ctxabi.CwdFile, data); err != nil {
		return err
	}
	if foreign {
		if err := x.commit(Change{Kind: SetFile, Name: ForeignFile, Data: data}); err != nil {
			return err
		}
		return x.SetControl(ctxabi.CwdFile, data)
	}
	if err := x.SetControl(ctxabi.CwdFile, data); err != nil {
		return err
	}
	x.store.disk.Move.RLock()
	mark, err := vfs.ReadFile(x.store.disk.FS, x.dir.Path(ForeignFile))
	x.store.disk.Move.RUnlock()
	if err != nil {
		return nil // there is none
	}
	return x.commit(Change{Kind: RemoveFile, Name: ForeignFile, If: mark})
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
	switch dir := trimNewline(read(ctxabi.ProjectFile)); dir {
	case ctxabi.NoProject:
		return ""
	case "":
	default:
		return path.Clean(mapped(dir))
	}
	cwd := read(ctxabi.CwdFile)
	dir := trimNewline(cwd)
	if dir == "" {
		return ""
	}
	if host := mapped(dir); host != dir || !bytes.Equal(read(ForeignFile), cwd) {
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
	o := Owner{UID: uid, GID: gid, Mode: 0o700}
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
