package session

import (
	"errors"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// deepest is how many levels of a user's directories are gone through: each takes a descriptor.
const deepest = 64

// children takes the children of a session along: what was written of them, and copies of their
// artifacts.
func (w *forkWriter) children() error {
	list, err := w.x.Children()
	if err != nil || len(list) == 0 {
		return err
	}
	if err := w.mkdir(ctxabi.ChildDir); err != nil {
		return err
	}
	for _, c := range list {
		if err := w.mkdir(ctxabi.ChildPath(c.Name)); err != nil {
			return err
		}
		for _, file := range ctxabi.ChildFiles {
			if err := w.childFile(ctxabi.ChildPath(c.Name, file)); err != nil {
				return err
			}
		}
		if err := w.artifacts(ctxabi.ChildPath(c.Name, ctxabi.ChildArtifact)); err != nil {
			return err
		}
		if err := w.s.disk.FS.SyncDir(path.Join(w.dir, ctxabi.ChildPath(c.Name))); err != nil {
			return err
		}
	}
	return w.s.disk.FS.SyncDir(path.Join(w.dir, ctxabi.ChildDir))
}

// childFile takes a file of a child along with the time of its last change: what packs show of a
// result depends on its age.
func (w *forkWriter) childFile(rel string) error {
	at := w.x.changedAt(rel)
	if err := w.control(rel); err != nil || at.IsZero() {
		return err
	}
	err := w.s.disk.FS.Chtimes(path.Join(w.dir, rel), at)
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return nil
	}
	return err
}

// mkdir makes a directory of the new session.
func (w *forkWriter) mkdir(rel string) error {
	dir := path.Join(w.dir, rel)
	if err := w.s.disk.FS.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return w.s.disk.Own(dir, w.owner, w.owner.DirMode())
}

// artifacts copies the directory rel with its files, directories and links. What else somebody put
// there (a FIFO, a socket) stays behind, and so does what the fork's owner may not read.
func (w *forkWriter) artifacts(rel string) error {
	if err := w.mkdir(rel); err != nil {
		return err
	}
	disk, ok := w.s.disk.FS.(vfs.UserFiles)
	if !ok {
		return nil
	}
	w.s.disk.Move.RLock()
	from, err := disk.Tree(w.x.dir.Path(rel))
	w.s.disk.Move.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()
	if fi, err := from.Stat(); err != nil || !w.readable(fi) {
		return err
	}
	return w.copyTree(disk, from, rel, 1)
}

// copyTree copies what is in the open directory from to rel, which is there.
func (w *forkWriter) copyTree(disk vfs.UserFiles, from vfs.Tree, rel string, depth int) error {
	entries, err := from.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range entries {
		to := path.Join(rel, e.Name())
		switch {
		case e.IsDir():
			err = w.directory(disk, from, e.Name(), to, depth+1)
		case e.Type() == fs.ModeSymlink:
			err = w.link(disk, from, e.Name(), to)
		case e.Type().IsRegular():
			err = w.artifact(from, e.Name(), to)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // gone, or replaced, meanwhile
			return err
		}
	}
	return nil
}

func (w *forkWriter) directory(disk vfs.UserFiles, from vfs.Tree, name, to string, depth int) error {
	if depth > deepest {
		return nil
	}
	in, err := from.Sub(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if fi, err := in.Stat(); err != nil || !w.readable(fi) {
		return err
	}
	if err := w.mkdir(to); err != nil {
		return err
	}
	return w.copyTree(disk, in, to, depth)
}

// readable reports whether the fork's owner may read a file, or list and enter a directory: it is
// root that copies, who may read all.
func (w *forkWriter) readable(fi fs.FileInfo) bool {
	uid, gid, known := vfs.OwnerOf(fi)
	if !w.s.disk.AsRoot || known && uid == w.owner.UID {
		return true
	}
	need := fs.FileMode(0o4)
	if fi.IsDir() {
		need = 0o5
	}
	if known && gid == w.owner.GID {
		need <<= 3
	}
	return known && fi.Mode().Perm()&need == need
}

func (w *forkWriter) artifact(from vfs.Tree, name, to string) error {
	in, err := from.OpenFile(name)
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil || !fi.Mode().IsRegular() || !w.readable(fi) {
		return err
	}
	file := path.Join(w.dir, to)
	out, err := w.s.disk.FS.OpenFile(file, vfs.Create, 0o600)
	if err != nil {
		return err
	}
	_, err = vfs.CloneOrCopy(out, in, fi.Size())
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return w.s.disk.Own(file, w.owner, fi.Mode().Perm())
}

// link makes a symbolic link as it is; nothing of ctxfs follows it.
func (w *forkWriter) link(disk vfs.UserFiles, from vfs.Tree, name, to string) error {
	target, err := from.Readlink(name)
	if err != nil {
		return err
	}
	file := path.Join(w.dir, to)
	if err := disk.Symlink(target, file); err != nil || !w.s.disk.AsRoot {
		return err
	}
	return w.s.disk.FS.Chown(file, int(w.owner.UID), int(w.owner.GID))
}
