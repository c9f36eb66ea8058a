package fs

import (
	"os"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// attrFromStatx fills in the attributes that the file has on the disk.
func attrFromStatx(a *fuse.Attr, x *unix.Statx_t) {
	a.Size, a.Blocks, a.Blksize = x.Size, x.Blocks, uint32(x.Blksize)
	a.Mode, a.Nlink = uint32(x.Mode), x.Nlink
	a.Uid, a.Gid = x.Uid, x.Gid
	a.Rdev = uint32(unix.Mkdev(x.Rdev_major, x.Rdev_minor))
	a.Atime, a.Atimensec = uint64(x.Atime.Sec), x.Atime.Nsec
	a.Mtime, a.Mtimensec = uint64(x.Mtime.Sec), x.Mtime.Nsec
	a.Ctime, a.Ctimensec = uint64(x.Ctime.Sec), x.Ctime.Nsec
}

// owner is the user and group to whom the files of a directory belong.
type owner struct {
	uid, gid uint32
	group    bool // a shared space: the group may do what the owner may
}

// dirMode and fileMode return the permissions of directories and files that ctxfs makes for o.
func (o owner) dirMode() uint32 {
	if o.group {
		return 0o2770
	}
	return 0o700
}

func (o owner) fileMode() uint32 {
	if o.group {
		return 0o660
	}
	return 0o600
}

// readMode returns the permissions of a file that nobody may write.
func (o owner) readMode() uint32 { return o.fileMode() &^ 0o222 }

// setFile fills in the attributes of a regular file that ctxfs makes itself.
func (o owner) setFile(a *fuse.Attr, mode uint32, size int64, mtime time.Time) {
	a.Mode = syscall.S_IFREG | mode
	a.Size = uint64(size)
	a.Blksize = 4096
	a.Blocks = (a.Size + 511) / 512
	a.Nlink = 1
	a.Uid, a.Gid = o.uid, o.gid
	a.SetTimes(&mtime, &mtime, &mtime)
}

// setDir fills in the attributes of a directory that is not on the disk.
func (o owner) setDir(a *fuse.Attr, mode uint32, mtime time.Time) {
	a.Mode = syscall.S_IFDIR | mode
	a.Nlink = 2
	a.Blksize = 4096
	a.Uid, a.Gid = o.uid, o.gid
	a.SetTimes(&mtime, &mtime, &mtime)
}

// sameOwner reports whether a Setattr leaves the file's owner and group as they are.
func sameOwner(in *fuse.SetAttrIn, a *fuse.Attr) bool {
	uid, uok := in.GetUID()
	gid, gok := in.GetGID()
	return (!uok || uid == a.Uid) && (!gok || gid == a.Gid)
}

// explicitTimes reports whether a Setattr asks for a time other than now.
func explicitTimes(in *fuse.SetAttrIn) bool {
	return in.Valid&fuse.FATTR_ATIME != 0 && in.Valid&fuse.FATTR_ATIME_NOW == 0 ||
		in.Valid&fuse.FATTR_MTIME != 0 && in.Valid&fuse.FATTR_MTIME_NOW == 0
}

// dirEntry returns one name of a directory listing.
func dirEntry(name string, attr gofs.StableAttr) fuse.DirEntry {
	return fuse.DirEntry{Name: name, Mode: attr.Mode, Ino: numberOf(attr.Ino)}
}

// listing returns a directory stream of entries and the two dots.
func listing(self gofs.StableAttr, entries []fuse.DirEntry) gofs.DirStream {
	return gofs.NewListDirStream(append([]fuse.DirEntry{
		{Name: ".", Mode: syscall.S_IFDIR, Ino: numberOf(self.Ino)},
		{Name: "..", Mode: syscall.S_IFDIR},
	}, entries...))
}

// unixType returns the S_IFMT bits of a directory entry of the disk.
func unixType(e os.DirEntry) uint32 {
	switch e.Type() & os.ModeType {
	case os.ModeDir:
		return syscall.S_IFDIR
	case os.ModeSymlink:
		return syscall.S_IFLNK
	case os.ModeNamedPipe:
		return syscall.S_IFIFO
	case os.ModeSocket:
		return syscall.S_IFSOCK
	}
	return syscall.S_IFREG
}
