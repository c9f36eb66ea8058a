package vfs

import "io"

// cloner is a File whose disk can share its bytes with another.
type cloner interface {
	CloneTo(to File) error
}

// Clone says whether to, which is empty, shares all bytes of from now.
func Clone(to, from File) bool {
	c, ok := from.(cloner)
	return ok && c.CloneTo(to) == nil
}

// CloneOrCopy gives to, which is empty, the first size bytes of from.
func CloneOrCopy(to, from File, size int64) (shared bool, err error) {
	if size > 0 && Clone(to, from) {
		return true, to.Truncate(size)
	}
	_, err = io.Copy(to, io.NewSectionReader(from, 0, size))
	return false, err
}
