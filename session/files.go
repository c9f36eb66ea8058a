package session

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// unixMode turns permission bits as the kernel writes them (02770) into a fs.FileMode.
func unixMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	if m&0o2000 != 0 {
		mode |= fs.ModeSetgid
	}
	return mode
}

// osCreate are the flags of a new file that is written from its beginning.
const osCreate = os.O_WRONLY | os.O_CREATE | os.O_TRUNC | os.O_APPEND

// readWhole reads a small file.
func readWhole(v VFS, name string) ([]byte, error) {
	f, size, err := openRegular(v, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return b[:n], nil
}

// openRegular opens a file to be read and returns its size. It returns fs.ErrInvalid if it is no regular file.
func openRegular(v VFS, name string) (f File, size int64, err error) {
	if f, err = v.OpenFile(name, os.O_RDONLY, 0); err != nil {
		return nil, 0, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w: not a regular file", name, fs.ErrInvalid)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, fi.Size(), nil
}

// writeSynced writes a file whole and syncs it; the caller syncs its directory.
func writeSynced(v VFS, name string, data []byte, perm fs.FileMode) error {
	return fillSynced(v, name, perm, allOf(data))
}

// allOf writes data, for fillSynced.
func allOf(data []byte) func(w File) error {
	return func(w File) error {
		if len(data) == 0 {
			return nil
		}
		return writeFull(w, data)
	}
}

// fillSynced is writeSynced with what fill writes.
func fillSynced(v VFS, name string, perm fs.FileMode, fill func(w File) error) error {
	f, err := v.OpenFile(name, osCreate, perm)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// writeFull is one write(2) whose short count is an error.
func writeFull(f io.Writer, data []byte) error {
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

// removeAll removes what is called name in the store, and what is in it, as far as it can. Where the disk can go down from the
// store's directory step by step, nothing outside of that goes, whatever is moved about in there meanwhile.
func (s *Store) removeAll(name string) {
	v, can := s.vfs.(interface{ RemoveBelow(dir, rel string) error })
	if rel, below := strings.CutPrefix(name, s.dir+"/"); can && below {
		if err := v.RemoveBelow(s.dir, rel); err != nil {
			s.o.Logger.Warn("not all could be removed", "path", rel, "err", err)
		}
		return
	}
	removeTree(s.vfs, name)
}

// removeTree is removeAll by names.
func removeTree(v VFS, name string) {
	if v.Remove(name) == nil {
		return
	}
	entries, _ := v.ReadDir(name)
	for _, e := range entries {
		removeTree(v, path.Join(name, e.Name()))
	}
	v.Remove(name)
}

// trimNewline drops one newline at the end.
func trimNewline(b []byte) string { return strings.TrimSuffix(string(b), "\n") }
