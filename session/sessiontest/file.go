package sessiontest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"
)

// file is an open file.
type file struct {
	d    *Disk
	n    *node
	name string
	born int
}

func (f *file) alive() error {
	if f.born != f.d.born {
		return fmt.Errorf("%s: %w", f.name, fs.ErrClosed)
	}
	return nil
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.faults.step(f.d, "read", f.name, false); err != nil {
		return 0, pathError("read", f.name, err)
	}
	if err := f.alive(); err != nil {
		return 0, err
	}
	if off >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	err := f.d.faults.step(f.d, "write", f.name, true)
	n := len(p)
	var short *shortWrite
	switch {
	case errors.As(err, &short):
		n = len(p) * short.eighths / 8
	case err != nil:
		return 0, pathError("write", f.name, err)
	}
	if err := f.alive(); err != nil {
		return 0, err
	}
	f.n.data = append(f.n.data, p[:n]...)
	f.n.ops = append(f.n.ops, fileOp{data: append([]byte(nil), p[:n]...)})
	f.d.tick(f.n)
	if err != nil {
		return n, pathError("write", f.name, short.err)
	}
	return n, nil
}

func (f *file) Truncate(size int64) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.faults.step(f.d, "truncate", f.name, true); err != nil {
		return pathError("truncate", f.name, err)
	}
	if err := f.alive(); err != nil {
		return err
	}
	f.n.truncate(size)
	f.d.tick(f.n)
	return nil
}

func (f *file) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.faults.step(f.d, "sync", f.name, true); err != nil {
		if f.d.faults.fault.Kind != Stopped && f.alive() == nil {
			f.n.failSync()
		}
		return pathError("sync", f.name, err)
	}
	if err := f.alive(); err != nil {
		return err
	}
	f.n.sync()
	return nil
}

// Rewrite writes existing bytes again, so that the next Sync writes the bytes that a failed Sync
// dropped. It returns the same errors as Write.
func (f *file) Rewrite(p []byte, off int64) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.faults.step(f.d, "rewrite", f.name, true); err != nil {
		return pathError("write", f.name, err)
	}
	if err := f.alive(); err != nil {
		return err
	}
	if !bytes.Equal(f.n.data[off:off+int64(len(p))], p) {
		panic("a rewrite changes the file")
	}
	f.n.rewritten = append(f.n.rewritten, span{off, off + int64(len(p))})
	return nil
}

func (f *file) Stat() (fs.FileInfo, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.faults.step(f.d, "fstat", f.name, false); err != nil {
		return nil, pathError("fstat", f.name, err)
	}
	return f.n.info(path.Base(f.name)), nil
}

func (f *file) Close() error { return nil }

// info is a node's state at one moment.
type info struct {
	name     string
	size     int64
	mode     fs.FileMode
	mtime    time.Time
	uid, gid uint32
}

func (n *node) info(name string) info {
	return info{name, int64(len(n.data)), n.mode, n.mtime, n.uid, n.gid}
}

func (i info) Name() string             { return i.name }
func (i info) Size() int64              { return i.size }
func (i info) Mode() fs.FileMode        { return i.mode }
func (i info) ModTime() time.Time       { return i.mtime }
func (i info) IsDir() bool              { return i.mode.IsDir() }
func (i info) Sys() any                 { return i }
func (i info) Owner() (uid, gid uint32) { return i.uid, i.gid }
