package fs

import (
	"context"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// fixedDir is embedded by the directories of a session that are not on the disk: nothing can be made or removed in them.
type fixedDir struct {
	gofs.Inode
	denyDir
	p *place
}

func (d *fixedDir) fill(a *fuse.Attr) { d.p.own.setDir(a, d.p.own.dirMode()&^0o222, d.p.x.Created()) }

var _ = (gofs.NodeGetattrer)((*fixedDir)(nil))

func (d *fixedDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	d.fill(&out.Attr)
	out.SetTimeout(fixedTimeout)
	return 0
}
