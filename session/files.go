package session

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
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
	f, size, err := openRegular(v, name, os.O_RDONLY)
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

// openRegular opens a file that is there and returns its size. It returns fs.ErrInvalid if it is no regular file: a FIFO or a device
// that somebody put in its place.
func openRegular(v VFS, name string, flag int) (f File, size int64, err error) {
	if f, err = v.OpenFile(name, flag, 0); err != nil {
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

// readFull reads exactly len(p) bytes.
func readFull(f io.ReaderAt, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := f.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func hashRange(f io.ReaderAt, from, to int64) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(f, from, to-from))
	if err == nil && n < to-from {
		err = io.ErrUnexpectedEOF
	}
	h.Sum(sum[:0])
	return sum, err
}

// copyRange writes [from, to) of f to a new synced file.
func copyRange(v VFS, name string, f File, from, to int64) error {
	out, err := v.OpenFile(name, osCreate, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	buf := make([]byte, min(1<<20, to-from))
	for off := from; off < to; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), to-off)]
		if err := readFull(f, buf, off); err != nil {
			return err
		}
		if err := writeFull(out, buf); err != nil {
			return err
		}
	}
	return out.Sync()
}

// appendTo writes data behind the first size bytes of a file; where that fails it cuts the file back.
// torn says that the file is longer than size: before, and afterwards.
func appendTo(v VFS, name string, size int64, torn bool, data []byte) (still bool, err error) {
	f, err := v.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return torn, err
	}
	defer f.Close()
	if torn {
		if err := f.Truncate(size); err != nil {
			return true, err
		}
	}
	return appendHere(f, size, data)
}

// appendHere writes data at the end of f, which is at size. Where that fails it cuts the file back; torn says that not even that worked.
func appendHere(f File, size int64, data []byte) (torn bool, err error) {
	if err := writeFull(f, data); err != nil {
		return f.Truncate(size) != nil, err
	}
	return false, nil
}

// appendLine appends a line to a file, or nothing of it.
func appendLine(v VFS, name string, line []byte) error {
	f, err := v.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = appendHere(f, fi.Size(), line)
	return err
}
