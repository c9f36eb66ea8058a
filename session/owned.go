package session

import (
	"errors"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Owned is derived content that is of all sessions of an owner. It is kept as that of a session is,
// in the internal directory of the owner's own, home/<uid>/.ctxfs or shared/<space>/.ctxfs, which no
// mount shows. Its methods are those of [Session] of the same names.
type Owned struct{ in derivedIn }

// Owned returns the derived content of the owner of a session; ref's Agent and Session do not count.
func (s *Store) Owned(ref ctxabi.Ref) Owned {
	home := s.disk.Join(ref.Owner())
	return Owned{derivedIn{
		s:    s,
		path: func(rel string) string { return path.Join(home, rel) },
		ready: func() error {
			err := s.disk.FS.Mkdir(path.Join(home, ctxabi.InternalDir), 0o700)
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			return s.ownedDir(home)
		},
	}}
}

// ownedDir returns an error unless an owner's directory, and the internal one in it, are
// directories: a symbolic link must not lead the daemon elsewhere.
func (s *Store) ownedDir(home string) error {
	for _, name := range []string{home, path.Join(home, ctxabi.InternalDir)} {
		fi, err := s.disk.FS.Stat(name)
		if err != nil {
			return err
		}
		if !fi.IsDir() {
			return ctxabi.E("open", ctxabi.InternalDir, ctxabi.ErrProtected, "%s is not a directory", name)
		}
	}
	return nil
}

// Check returns an error if there is no such content, or a link stands in its place.
func (o Owned) Check() error { return o.in.s.ownedDir(o.in.path("")) }

// Derived reads derived content; see [Session.Derived]. It returns the errors of that.
func (o Owned) Derived(name string) ([]byte, error) { return o.in.read(name) }

// SetDerived replaces derived content; see [Session.SetDerived]. It returns the errors of that.
func (o Owned) SetDerived(name string, data []byte) error { return o.in.set(name, data) }

// RemoveDerived removes derived content; see [Session.RemoveDerived]. It returns the errors of that.
func (o Owned) RemoveDerived(name string) error { return o.in.remove(name) }

// DerivedNames lists derived content; see [Session.DerivedNames].
func (o Owned) DerivedNames(dir string) []string { return o.in.names(dir) }

// CreateDerived begins derived content; see [Session.CreateDerived]. It returns the errors of that.
func (o Owned) CreateDerived(name string) (*DerivedWriter, error) { return o.in.create(name) }

// OpenDerived opens derived content; see [Session.OpenDerived]. It returns the errors of that.
func (o Owned) OpenDerived(name string) (DerivedReader, int64, error) { return o.in.open(name) }

// Stamp identifies the content of a log's own file by its metadata. If two stamps of a file are equal and
// not zero, the file has the same content at both times, unless the clock was set back in between.
type Stamp struct {
	Size     int64 // of the records that are not sealed
	Modified int64 // ns since 1970
	Changed  int64 // likewise, of the file or of its attributes; 0 where the file system has no such time
}

// Stamps returns the stamps of both logs of the session at ref, messages first, and reads nothing.
// It returns the error of a file that is not there, or is no file.
func (s *Store) Stamps(ref ctxabi.Ref) (stamps [2]Stamp, err error) {
	dir := s.disk.Join(ref.Path())
	for i, name := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
		fi, err := s.disk.FS.Stat(dir + "/" + name)
		if err != nil {
			return stamps, err
		}
		if !fi.Mode().IsRegular() {
			return stamps, ctxabi.E("look", name, ctxabi.ErrIO, "it is not a regular file")
		}
		stamps[i] = Stamp{fi.Size(), fi.ModTime().UnixNano(), vfs.ChangedAt(fi)}
	}
	return stamps, nil
}

// NameKind is what a [NameChange] did.
type NameKind int

// The kinds of changes of names.
const (
	CreateSession NameKind = iota // the session Ref was made
	RenameDir                     // the session or the agent's home From, a path in the store, is called To
	RemoveSession                 // the session Ref was removed
)

// NameChange is one change of the names of a store.
type NameChange struct {
	Kind     NameKind
	Ref      ctxabi.Ref
	From, To string
}

// Watcher receives the changes of the sessions of a store. Writers call its methods while they hold locks
// of the session: the methods return soon and call nothing of the store.
type Watcher interface {
	// Grew is called when records were added to a log of the session in a directory, once until
	// [disk.Dir.Seen].
	Grew(x *disk.Dir)

	// Named is called after sessions were made, renamed or removed, and after that failed: the watcher
	// looks which sessions are there.
	Named(n NameChange)
}

// Watch makes w the one watcher of the store, which receives all changes from now on; nil removes it.
func (s *Store) Watch(w Watcher) {
	if w == nil {
		s.watcher.Store(nil)
		s.disk.Watch(nil)
		return
	}
	s.watcher.Store(&w)
	s.disk.Watch(w.Grew)
}

// named calls the watcher after a change of names.
func (s *Store) named(n NameChange) {
	if w := s.watcher.Load(); w != nil {
		(*w).Named(n)
	}
}
