package vfs

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// UnixMode turns permission bits as the kernel writes them (02770) into a fs.FileMode.
func UnixMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	if m&0o2000 != 0 {
		mode |= fs.ModeSetgid
	}
	return mode
}

// Create are the flags of a new file that is written from its beginning.
const Create = os.O_WRONLY | os.O_CREATE | os.O_TRUNC | os.O_APPEND

// ReadFile reads a small file. It returns fs.ErrNotExist for one that is not there and
// fs.ErrInvalid for one that is no regular file.
func ReadFile(v FS, name string) ([]byte, error) {
	f, size, err := OpenRegular(v, name, os.O_RDONLY)
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

// OpenRegular opens a file that is there and returns its size. It returns fs.ErrInvalid if it is no
// regular file: a FIFO or a device that somebody put in its place.
func OpenRegular(v FS, name string, flag int) (f File, size int64, err error) {
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

// WriteFile writes a file whole and syncs it; the caller syncs its directory. It returns the error
// of the disk; what was written stays then.
func WriteFile(v FS, name string, data []byte, perm fs.FileMode) error {
	return WriteFileFunc(v, name, perm, Contents(data))
}

// Contents writes data, for fillSynced.
func Contents(data []byte) func(w File) error {
	return func(w File) error {
		if len(data) == 0 {
			return nil
		}
		return WriteFull(w, data)
	}
}

// WriteFileFunc is WriteFile of what fill writes. It returns the error of fill, too.
func WriteFileFunc(v FS, name string, perm fs.FileMode, fill func(w File) error) error {
	f, err := v.OpenFile(name, Create, perm)
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

// WriteFull is one write(2) whose short count is an error.
func WriteFull(f io.Writer, data []byte) error {
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

// RemoveAll is removeAll by names.
func RemoveAll(v FS, name string) {
	if v.Remove(name) == nil {
		return
	}
	entries, _ := v.ReadDir(name)
	for _, e := range entries {
		RemoveAll(v, path.Join(name, e.Name()))
	}
	v.Remove(name)
}

// ReadFull reads exactly len(p) bytes. It returns io.ErrUnexpectedEOF if there are fewer.
func ReadFull(f io.ReaderAt, p []byte, off int64) error {
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

// rewriter is a File that can write at an offset even if its writes append.
type rewriter interface {
	Rewrite(p []byte, off int64) error
}

// Rewrite writes the bytes [from, to) of f again in place, so that the next Sync flushes them.
// After a failed Sync, the kernel treats its dirty pages as clean and would not write them. The
// caller must prevent concurrent writes to f. Rewrite returns an error if a read or write fails,
// and nil if f does not support it.
func Rewrite(f File, from, to int64) error {
	w, ok := f.(rewriter)
	if !ok {
		return nil
	}
	buf := make([]byte, max(0, min(hashBlock, to-from)))
	for off := from; off < to; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), to-off)]
		if err := ReadFull(f, buf, off); err != nil {
			return err
		}
		if err := w.Rewrite(buf, off); err != nil {
			return err
		}
	}
	return nil
}

// hashBlock is how many bytes are hashed at once.
const hashBlock = 64 << 10

// HashRange returns the SHA-256 of [from, to) of f. It returns io.ErrUnexpectedEOF if f is shorter.
func HashRange(f io.ReaderAt, from, to int64) (sum [sha256.Size]byte, err error) {
	buf := make([]byte, max(0, min(hashBlock, to-from)))
	if to-from <= hashBlock { // the record of one commit, as a rule
		if err := ReadFull(f, buf, from); err != nil {
			return sum, err
		}
		return sha256.Sum256(buf), nil
	}
	h := sha256.New()
	for off := from; off < to; off += int64(len(buf)) {
		buf = buf[:min(hashBlock, to-off)]
		if err := ReadFull(f, buf, off); err != nil {
			return sum, err
		}
		h.Write(buf)
	}
	h.Sum(sum[:0])
	return sum, nil
}

// CopyRange writes [from, to) of f to a new synced file. It returns the error of the disk; the new
// file stays then.
func CopyRange(v FS, name string, f File, from, to int64) error {
	out, err := v.OpenFile(name, Create, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	buf := make([]byte, min(1<<20, to-from))
	for off := from; off < to; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), to-off)]
		if err := ReadFull(f, buf, off); err != nil {
			return err
		}
		if err := WriteFull(out, buf); err != nil {
			return err
		}
	}
	return out.Sync()
}

// AppendTo writes data behind the first size bytes of a file; where that fails it cuts the file
// back. torn and still report whether the file is longer than size: before, and afterwards. It
// returns the error of the disk, of which nothing was written that counts.
func AppendTo(v FS, name string, size int64, torn bool, data []byte) (still bool, err error) {
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

// appendHere writes data at the end of f, which is at size. Where that fails it cuts the file
// back; torn reports whether not even that worked.
func appendHere(f File, size int64, data []byte) (torn bool, err error) {
	if err := WriteFull(f, data); err != nil {
		return f.Truncate(size) != nil, err
	}
	return false, nil
}

// AppendLine appends a line to a file, or nothing of it. It returns the error of the disk.
func AppendLine(v FS, name string, line []byte) error {
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
