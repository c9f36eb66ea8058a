package session

import (
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// MakeChild makes the directory of a child and its artifact/. ctxabi.ErrExists where there is one
// of that name.
func (x *Session) MakeChild(name string) error {
	if err := x.changeChild("mkdir", name); err != nil {
		return err
	}

	s := x.store
	defer s.lockNames()()
	dir, err := x.freeChild("mkdir", name)
	if err != nil {
		return err
	}
	o, err := x.dir.Owner()
	for _, d := range []string{x.dir.Path(ctxabi.ChildDir), dir, path.Join(dir, ctxabi.ChildArtifact)} {
		if err == nil {
			err = s.disk.Mkdir(d, o)
		}
	}
	x.Touch()
	if err != nil {
		s.disk.FS.Remove(path.Join(dir, ctxabi.ChildArtifact))
		s.disk.FS.Remove(dir)
		return vfs.Failed("mkdir", ctxabi.ChildPath(name), err, "the child was not made")
	}
	return nil
}

// RemoveChild removes the directory of a child of which nothing was written and that has no
// artifacts; else it fails with the error of a directory that is not empty.
func (x *Session) RemoveChild(name string) error {
	if err := x.changeChild("rmdir", name); err != nil {
		return err
	}

	v := x.store.disk.FS
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	dir := x.dir.Path(ctxabi.ChildPath(name))
	entries, err := v.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) == 1 && entries[0].Name() == ctxabi.ChildArtifact {
		if err := v.Remove(path.Join(dir, ctxabi.ChildArtifact)); err != nil {
			return err
		}
	}
	defer x.Touch()
	if err := v.Remove(dir); err != nil {
		return err
	}
	return v.SyncDir(path.Dir(dir))
}

// RenameChild renames a child. It returns ctxabi.ErrExists if the name is taken.
func (x *Session) RenameChild(from, to string) error {
	if err := x.changeChild("rename", to); err != nil {
		return err
	}

	s := x.store
	defer s.lockNames()()
	dir, err := x.freeChild("rename", to)
	if err != nil {
		return err
	}
	defer x.Touch()
	if err := s.disk.FS.Rename(x.dir.Path(ctxabi.ChildPath(from)), dir); err != nil {
		return err
	}
	return s.disk.FS.SyncDir(path.Dir(dir))
}

// lockNames waits until this caller alone may name a child, while no session is moved. The locks
// are taken in the order of Create.
func (s *Store) lockNames() (unlock func()) {
	s.create.Lock()
	s.disk.Move.RLock()
	return func() {
		s.disk.Move.RUnlock()
		s.create.Unlock()
	}
}

// freeChild returns the directory of a child that is not there yet.
func (x *Session) freeChild(op, name string) (dir string, err error) {
	dir = x.dir.Path(ctxabi.ChildPath(name))
	if _, err := x.store.disk.FS.Stat(dir); err == nil {
		return "", ctxabi.E(op, ctxabi.ChildPath(name), ctxabi.ErrExists, "there is a child %q already", name)
	}
	return dir, nil
}

func (x *Session) changeChild(op, name string) error {
	if err := x.store.disk.Writable(op); err != nil {
		return err
	}
	return ctxabi.ValidName(name)
}
