package fs

import (
	"context"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/pack/builder"
)

// fixedDir is the node of every directory that is not on the disk and in which nothing can be made
// or removed. Types that embed it allow more.
type fixedDir struct {
	gofs.Inode
	denyDir
	p    *mountedSession
	rel  string // relative to the session
	find finder
	list lister // nil: it lists nothing
}

// finder looks up a name in a fixed directory; lister lists it.
type (
	finder func(ctx context.Context, d *fixedDir, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno)
	lister func(ctx context.Context, d *fixedDir) ([]fuse.DirEntry, syscall.Errno)
)

// fixed returns the constructor of a fixed directory. Without l it lists nothing, so that cp -a,
// find and grep -r stay finite in a directory that has a name for every question.
func fixed(f finder, l lister) func(*mountedSession, string) tableNode {
	return func(p *mountedSession, rel string) tableNode { return &fixedDir{p: p, rel: rel, find: f, list: l} }
}

func (d *fixedDir) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	d.p.own.setDir(a, d.p.own.dirMode()&^0o222, d.p.x.Created())
	return 0
}

func (d *fixedDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.SetTimeout(fixedTimeout)
	return d.fill(ctx, f, &out.Attr)
}

func (d *fixedDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	return d.find(ctx, d, name, out)
}

func (d *fixedDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	if d.list == nil {
		return listing(d.StableAttr(), nil), 0
	}
	entries, errno := d.list(ctx, d)
	if errno != 0 {
		return nil, errno
	}
	return listing(d.StableAttr(), entries), 0
}

// findEntry and listEntries serve a directory whose names are rows of the table. No look-up waits
// for generators.
func findEntry(ctx context.Context, d *fixedDir, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	rel := d.rel + "/" + name
	e := entryOf(rel)
	if e.disk {
		return nil, syscall.ENOENT
	}
	return d.p.lookup(builder.AtOnce(ctx), d.EmbeddedInode(), e, rel, out)
}

func listEntries(ctx context.Context, d *fixedDir) (names []fuse.DirEntry, _ syscall.Errno) {
	for _, e := range alwaysIn(d.rel) {
		names = append(names, dirEntry(e.name(), d.p.attr(e.mode, e.path)))
	}
	return names, 0
}

// denyDir is embedded by the directories whose names are fixed; it refuses every change with EPERM.
// Each operation has to be there, because go-fuse answers a missing Unlink or Rmdir with success. A
// type overrides what it allows.
type denyDir struct{ noXattrs }

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
