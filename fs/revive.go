package fs

import (
	"context"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/pack"
)

var _ = (gofs.NodeLookupNoder)((*rootDir)(nil))

// LookupNode gives the node of a number that the kernel remembers from before
// this daemon: the directories and files that every session has. Builds,
// ordinary files and fixed directories are found again by their names: ESTALE
// makes the kernel look. It costs a walk over all sessions and is asked once
// for a node.
func (r *rootDir) LookupNode(ctx context.Context, id uint64, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if id>>classShift != classSession {
		return nil, syscall.ESTALE
	}
	for ref := range r.t.store.Sessions() {
		x, err := r.t.store.Session(ref)
		if err != nil {
			continue
		}
		e := role(x.ID(), id)
		if e == nil {
			continue
		}
		p, err := newPlace(r.t, x)
		if err != nil {
			return nil, errnoOf(err)
		}
		return p.lookup(pack.AtOnce(ctx), r.EmbeddedInode(), e, e.path, out)
	}
	return nil, syscall.ESTALE
}
