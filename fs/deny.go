package fs

import (
	"context"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// denyDir is embedded by the directories whose names are fixed. Each operation
// has to be there: for a missing Unlink or Rmdir go-fuse answers success. A
// type overrides what it allows.
type denyDir struct{ noXattrs }

var (
	_ = (gofs.NodeCreater)(denyDir{})
	_ = (gofs.NodeMkdirer)(denyDir{})
	_ = (gofs.NodeMknoder)(denyDir{})
	_ = (gofs.NodeSymlinker)(denyDir{})
	_ = (gofs.NodeLinker)(denyDir{})
	_ = (gofs.NodeUnlinker)(denyDir{})
	_ = (gofs.NodeRmdirer)(denyDir{})
	_ = (gofs.NodeRenamer)(denyDir{})
	_ = (gofs.NodeSetattrer)(denyDir{})
)

func (denyDir) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	return nil, nil, 0, syscall.EPERM
}

func (denyDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

func (denyDir) Mknod(ctx context.Context, name string, mode, dev uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

func (denyDir) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

func (denyDir) Link(ctx context.Context, target gofs.InodeEmbedder, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

func (denyDir) Unlink(ctx context.Context, name string) syscall.Errno { return syscall.EPERM }

func (denyDir) Rmdir(ctx context.Context, name string) syscall.Errno { return syscall.EPERM }

func (denyDir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return syscall.EPERM
}

func (denyDir) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return syscall.EPERM
}
