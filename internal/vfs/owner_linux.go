package vfs

import (
	"io/fs"
	"syscall"
)

// OwnerOf reads a file's owner. A VFS that is not the operating system's gives
// a FileInfo whose Sys has the method Owner.
func OwnerOf(fi fs.FileInfo) (uid, gid uint32, ok bool) {
	switch st := fi.Sys().(type) {
	case *syscall.Stat_t:
		return st.Uid, st.Gid, true
	case interface{ Owner() (uid, gid uint32) }:
		uid, gid = st.Owner()
		return uid, gid, true
	}
	return 0, 0, false
}

// ChangedAt is when the file or its attributes changed last, in ns since 1970, by the disk's clock,
// which no user sets; 0 where the file system has no such time.
func ChangedAt(fi fs.FileInfo) int64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}

// Links is how many names a file has; 1 where the disk does not say.
func Links(fi fs.FileInfo) int {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// Nameless reports whether a file has no name any more.
func Nameless(f File) bool {
	fi, err := f.Stat()
	return err == nil && Links(fi) == 0
}
