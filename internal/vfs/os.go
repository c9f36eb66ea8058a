package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/handles"
)

// OS is the operating system's disk.
var OS FS = osVFS{}

type osVFS struct{}

// OpenFile never follows a symbolic link in the last component: the owner of a
// session may have planted one, and a root daemon would follow it anywhere. Nor
// does it wait for the other end of a FIFO that stands in the place of a file.
func (osVFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := handles.Open(func() (*os.File, error) {
		return os.OpenFile(name, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, perm)
	})
	if err != nil {
		return nil, WithKind(err)
	}
	return osFile{f}, nil
}

func (osVFS) Mkdir(name string, perm fs.FileMode) error { return WithKind(os.Mkdir(name, perm)) }
func (osVFS) Remove(name string) error                  { return WithKind(os.Remove(name)) }
func (osVFS) Rename(from, to string) error              { return WithKind(os.Rename(from, to)) }
func (osVFS) Link(from, to string) error                { return WithKind(os.Link(from, to)) }
func (osVFS) Stat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (osVFS) Chown(name string, uid, gid int) error     { return WithKind(os.Lchown(name, uid, gid)) }
func (osVFS) Chmod(name string, mode fs.FileMode) error { return WithKind(os.Chmod(name, mode)) }

func (osVFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := handles.Open(func() ([]fs.DirEntry, error) { return os.ReadDir(name) })
	return entries, WithKind(err)
}

func (osVFS) Chtimes(name string, modified time.Time) error {
	return WithKind(os.Chtimes(name, time.Time{}, modified))
}

func (osVFS) SyncDir(name string) error {
	d, err := handles.Open(func() (*os.File, error) { return os.Open(name) })
	if err != nil {
		return WithKind(err)
	}
	defer d.Close()
	return WithKind(d.Sync())
}

func (osVFS) Lock(name string) (io.Closer, error) {
	mode := os.O_RDWR // which some network file systems want
	if fi, err := os.Stat(name); err == nil && fi.IsDir() {
		mode = os.O_RDONLY
	}
	f, err := os.OpenFile(name, mode|unix.O_CLOEXEC, 0)
	if err != nil && mode == os.O_RDWR { // a file system that is mounted read-only
		if again, readErr := os.OpenFile(name, os.O_RDONLY|unix.O_CLOEXEC, 0); readErr == nil {
			f, err = again, nil
		}
	}
	if err != nil {
		return nil, WithKind(err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		var temporary interface {
			Temporary() bool
			Timeout() bool
		}
		switch {
		case err == nil:
			return f, nil
		case errors.As(err, &temporary) && temporary.Timeout(): // EWOULDBLOCK
			f.Close()
			return nil, ctxabi.ErrLocked
		case errors.As(err, &temporary) && temporary.Temporary(): // EINTR
			continue
		}
		f.Close()
		return nil, err
	}
}

// Tree opens a directory whose content is in a user's hands: whatever he moves about in there
// meanwhile, what is opened through it lies below it.
func (osVFS) Tree(dir string) (Tree, error) {
	r, err := handles.Open(func() (*os.Root, error) { return os.OpenRoot(dir) })
	if err != nil {
		return nil, WithKind(err)
	}
	return osTree{r}, nil
}

// RemoveBelow removes what rel leads to from dir, and all that is in it. No link and no directory
// that is put in the place of another leads out of dir.
func (osVFS) RemoveBelow(dir, rel string) error {
	r, err := handles.Open(func() (*os.Root, error) { return os.OpenRoot(dir) })
	if err != nil {
		return WithKind(err)
	}
	defer r.Close()
	return WithKind(handles.Do(func() error { return r.RemoveAll(rel) }))
}

func (osVFS) Symlink(target, name string) error { return WithKind(os.Symlink(target, name)) }

type osTree struct{ *os.Root }

func (t osTree) Stat() (fs.FileInfo, error) { return t.Root.Stat(".") }

func (t osTree) ReadDir() ([]fs.DirEntry, error) {
	entries, err := handles.Open(func() ([]fs.DirEntry, error) { return fs.ReadDir(t.FS(), ".") })
	return entries, WithKind(err)
}

// Sub opens a directory in this one.
func (t osTree) Sub(name string) (Tree, error) {
	r, err := handles.Open(func() (*os.Root, error) { return t.OpenRoot(name) })
	if err != nil {
		return nil, WithKind(err)
	}
	sub := osTree{r}
	if err := t.mustBe(name, sub); err != nil {
		r.Close()
		return nil, err
	}
	return sub, nil
}

// OpenFile opens a regular file to be read.
func (t osTree) OpenFile(name string) (File, error) {
	f, err := handles.Open(func() (*os.File, error) {
		return t.Root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, WithKind(err)
	}
	if err := t.mustBe(name, f); err != nil {
		f.Close()
		return nil, err
	}
	return osFile{f}, nil
}

// mustBe fails with fs.ErrNotExist where name is not what was opened by it: an [os.Root] follows
// links that stay in it.
func (t osTree) mustBe(name string, opened interface{ Stat() (fs.FileInfo, error) }) error {
	is, err := opened.Stat()
	if err != nil {
		return err
	}
	fi, err := t.Lstat(name)
	if err == nil && !os.SameFile(fi, is) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return err
}

type osFile struct{ *os.File }

func (f osFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, WithKind(err)
}

func (f osFile) Truncate(size int64) error { return WithKind(f.File.Truncate(size)) }
func (f osFile) Sync() error               { return WithKind(f.File.Sync()) }
func (f osFile) Close() error              { return WithKind(f.File.Close()) }

// CloneTo makes to share the file's bytes on the disk. It returns errors.ErrUnsupported or the
// disk's error where it cannot.
func (f osFile) CloneTo(to File) error {
	o, ok := to.(osFile)
	if !ok {
		return errors.ErrUnsupported
	}
	return unix.IoctlFileClone(int(o.Fd()), int(f.Fd()))
}
