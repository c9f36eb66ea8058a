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

// CloneOrCopy copies the first size bytes of from to to, which is empty. shared reports whether
// both files share them on the disk. It returns the error of the copy.
func CloneOrCopy(to, from File, size int64) (shared bool, err error) {
	if size > 0 && Clone(to, from) {
		return true, to.Truncate(size)
	}
	_, err = io.Copy(to, io.NewSectionReader(from, 0, size))
	return false, err
}
