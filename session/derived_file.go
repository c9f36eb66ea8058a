package session

import (
	"io"
	"os"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Derived content of a form of its own, with checksums of its own, is written in pieces and read at
// any place, such as a segment of the search index.

// DerivedWriter writes such content aside. Nobody sees it before Commit.
type DerivedWriter struct {
	in       derivedIn
	rel, tmp string
	file     vfs.File
	failed   error
}

// CreateDerived begins derived content. It fails with ctxabi.ErrReadOnly where the store is open
// for reading only.
func (x *Session) CreateDerived(name string) (*DerivedWriter, error) {
	return x.derived().create(name)
}

func (d derivedIn) create(name string) (*DerivedWriter, error) {
	rel, err := d.change("create", name)
	if err != nil {
		return nil, err
	}
	w := &DerivedWriter{in: d, rel: rel, tmp: d.s.disk.TmpName()}
	if w.file, err = d.s.disk.FS.OpenFile(w.tmp, vfs.Create, 0o600); err != nil {
		return nil, vfs.Failed("create", rel, err, "it was not stored")
	}
	return w, nil
}

// Write appends p. It returns the error of the disk, and the same for every later call.
func (w *DerivedWriter) Write(p []byte) (int, error) {
	if w.failed != nil {
		return 0, w.failed
	}
	if err := vfs.WriteFull(w.file, p); err != nil {
		w.failed = vfs.Failed("write", w.rel, err, "it was not stored")
		return 0, w.failed
	}
	return len(p), nil
}

// Commit puts what was written in place, whole; after a failed Write it does not. It returns the
// error of the disk, or of that Write.
func (w *DerivedWriter) Commit() error {
	if err := w.file.Close(); w.failed == nil {
		w.failed = err
	}
	s := w.in.s
	s.disk.Move.RLock()
	defer s.disk.Move.RUnlock()
	if w.failed == nil {
		w.failed = w.in.inDir(w.rel, func(file string) error { return s.disk.FS.Rename(w.tmp, file) })
	}
	if w.failed != nil {
		s.disk.FS.Remove(w.tmp)
		return vfs.Failed("set", w.rel, w.failed, "it was not stored")
	}
	return nil
}

// Abort forgets what was written.
func (w *DerivedWriter) Abort() {
	w.file.Close()
	w.in.s.disk.FS.Remove(w.tmp)
}

// DerivedReader is derived content that is open to be read. It stays what it was when it is
// replaced or removed.
type DerivedReader interface {
	io.ReaderAt
	io.Closer
}

// OpenDerived opens derived content and gives its size; fs.ErrNotExist when there is none.
func (x *Session) OpenDerived(name string) (f DerivedReader, size int64, err error) {
	return x.derived().open(name)
}

func (d derivedIn) open(name string) (f DerivedReader, size int64, err error) {
	rel, err := derivedName("open", name)
	if err != nil {
		return nil, 0, err
	}
	d.s.disk.Move.RLock()
	defer d.s.disk.Move.RUnlock()
	file, err := d.s.disk.FS.OpenFile(d.path(rel), os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, err
	}
	fi, err := file.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = ctxabi.E("open", rel, ctxabi.ErrIO, "it is not a regular file")
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, fi.Size(), nil
}
