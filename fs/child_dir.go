package fs

import (
	"context"
	"path"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// childrenDir is context/child. Mkdir there makes a child.
type childrenDir struct{ fixedDir }

func childrenDirNode(p *mountedSession, rel string) tableNode {
	return &childrenDir{fixedDir{p: p, rel: rel}}
}

func (d *childrenDir) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	if x, err := d.p.stat(ctxabi.ChildDir); err == nil {
		attrFromStatx(a, x)
		return 0
	}
	d.p.own.setDir(a, d.p.own.dirMode(), d.p.x.Created()) // there was no child yet
	return 0
}

func (d *childrenDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return d.fill(ctx, f, &out.Attr)
}

func (d *childrenDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if ctxabi.ValidName(name) != nil {
		return nil, syscall.ENOENT
	}
	x, err := d.p.stat(ctxabi.ChildPath(name))
	if err != nil {
		return nil, errnoOf(err)
	}
	if x.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return nil, syscall.ENOENT
	}
	d.p.t.setPlainEntry(out, x)
	n := &sessionDir{plain: newPlain(d.p.t, x), p: d.p, here: ctxabi.ChildDir}
	return d.NewInode(ctx, n, plainAttr(x, d.p.t.rootDev)), 0
}

func (d *childrenDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if err := d.p.x.MakeChild(name); err != nil {
		return nil, d.p.refuse(ctx, "mkdir", path.Join(ctxabi.ChildDir, name), err)
	}
	return d.Lookup(ctx, name, out)
}

// Rmdir removes a child of which nothing was written. Before that rm -r removes what was.
func (d *childrenDir) Rmdir(ctx context.Context, name string) syscall.Errno {
	if ctxabi.ValidName(name) != nil {
		return syscall.ENOENT
	}
	return errnoOf(d.p.x.RemoveChild(name))
}

// Rename changes the name of a child. A child stays with its session and never replaces another
// one.
func (d *childrenDir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	rel := path.Join(ctxabi.ChildDir, name)
	to, ok := newParent.(*childrenDir)
	if !ok || to.p.x != d.p.x {
		return d.p.deny(ctx, "rename", rel, ctxabi.ErrProtected, "a child stays with its session; copy its files where you want them")
	}
	if flags&^unix.RENAME_NOREPLACE != 0 {
		return syscall.EINVAL
	}
	if ctxabi.ValidName(name) != nil {
		return syscall.ENOENT
	}
	if err := d.p.x.RenameChild(name, newName); err != nil {
		return d.p.refuse(ctx, "rename", rel, err)
	}
	return 0
}

func (d *childrenDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	return d.p.t.list(d.StableAttr(), d.p.path(ctxabi.ChildDir), func(name string) (gofs.StableAttr, bool) {
		return gofs.StableAttr{Mode: syscall.S_IFDIR}, ctxabi.ValidName(name) == nil
	})
}
