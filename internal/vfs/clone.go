package vfs

import "io"

// cloner is a File whose disk can share its bytes with another.
type cloner interface {
	CloneTo(to File) error
}

// Clone makes to, which is empty, share all bytes of from on the disk, and reports whether it could.
func Clone(to, from File) bool {
	c, ok := from.(cloner)
	return ok && c.CloneTo(to) == nil
}

// rewriter is a File that can write at an offset although its writes go to the end.
type rewriter interface {
	Rewrite(p []byte, off int64) error
}

// Rewrite writes the bytes [from, to) of f to where they are, so that the next Sync writes them to the disk: after a Sync that
// failed, the kernel takes what it has of them for written. No other process or goroutine writes to f meanwhile. It returns
// the error of the disk, and nil for a File that cannot do it.
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

// CloneOrCopy copies the first size bytes of from to to, which is empty. shared reports whether
// both files share them on the disk. It returns the error of the copy.
func CloneOrCopy(to, from File, size int64) (shared bool, err error) {
	if size > 0 && Clone(to, from) {
		return true, to.Truncate(size)
	}
	_, err = io.Copy(to, io.NewSectionReader(from, 0, size))
	return false, err
}
