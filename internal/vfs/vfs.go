package vfs

import (
	"io"
	"io/fs"
	"time"
)

// FS is what the store needs of a disk. Names are absolute, slash-separated.
// Errors satisfy errors.Is with fs.ErrNotExist and fs.ErrExist, and with
// ctxabi.ErrNoSpace and ctxabi.ErrQuota when the disk is full. The operating
// system's is [OS]; sessiontest has one in memory that fails and crashes on
// request.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	Remove(name string) error // a file or an empty directory
	Rename(from, to string) error
	Link(from, to string) error
	Stat(name string) (fs.FileInfo, error) // does not follow a symbolic link
	ReadDir(name string) ([]fs.DirEntry, error)
	Chown(name string, uid, gid int) error
	Chmod(name string, mode fs.FileMode) error
	Chtimes(name string, modified time.Time) error
	SyncDir(name string) error
	Lock(name string) (io.Closer, error) // of a file or a directory; exclusive, ErrLocked when taken
}

// File is an open file of a VFS.
type File interface {
	io.ReaderAt
	io.Writer // at the end when opened with O_APPEND
	io.Closer
	Truncate(size int64) error
	Sync() error // data and size are on the disk
	Stat() (fs.FileInfo, error)
}

// UserFiles is a disk on which users keep files of their own.
type UserFiles interface {
	Tree(dir string) (Tree, error)
	Symlink(target, name string) error
}

// Tree is an open directory with whatever a user put in there. Names are of what lies right in it;
// no link is followed.
type Tree interface {
	io.Closer
	Stat() (fs.FileInfo, error)
	ReadDir() ([]fs.DirEntry, error)
	Lstat(name string) (fs.FileInfo, error)
	Sub(name string) (Tree, error)
	OpenFile(name string) (File, error)
	Readlink(name string) (string, error)
}
