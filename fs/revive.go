package fs

import (
	"context"
	"path"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
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
		if rel, ok := roleOf(x, id); ok {
			return r.revive(ctx, x, rel, out)
		}
	}
	return nil, syscall.ESTALE
}

// roleOf finds which file of x has the number id.
func roleOf(x *session.Session, id uint64) (rel string, ok bool) {
	for _, rel := range []string{"", ctxabi.ContextDir, ctxabi.PinnedDir, ctxabi.MessagesFile, ctxabi.EventsFile,
		ctxabi.LatestFile, ctxabi.CreatedFile, ctxabi.UpdatedFile, ctxabi.ErrorsFile,
		ctxabi.PacksFile, ctxabi.JournalFile, ctxabi.GCReportFile, ctxabi.RecentFile,
		ctxabi.SwapDir, ctxabi.SwapIndexFile, ctxabi.SwapChunkDir, ctxabi.DedupDir, ctxabi.DedupIndex, ctxabi.DedupBlobDir} {
		if hashIno(classSession, x.ID(), rel) == id {
			return rel, true
		}
	}
	for rel := range madeDirs {
		if hashIno(classSession, x.ID(), rel) == id {
			return rel, true
		}
	}
	for rel := range controls {
		if hashIno(classSession, x.ID(), rel) == id {
			return rel, true
		}
	}
	return "", false
}

func (r *rootDir) revive(ctx context.Context, x *session.Session, rel string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	pl, err := newPlace(r.t, x)
	if err != nil {
		return nil, errnoOf(err)
	}
	if rel == "" {
		n := newSessionDir(pl, "")
		var a fuse.AttrOut
		if errno := n.getattr(&a); errno != 0 {
			return nil, errno
		}
		out.Attr = a.Attr
		return r.NewInode(ctx, n, pl.attr(syscall.S_IFDIR, "")), 0
	}
	if nodeNames[rel] {
		return pl.lookupNodes(ctx, r.EmbeddedInode(), rel, out)
	}
	here := path.Dir(rel)
	if here == "." {
		here = ""
	}
	d := newSessionDir(pl, here)
	r.NewInode(ctx, d, pl.attr(syscall.S_IFDIR, here)) // a node of its own tree, so that it can look up
	return d.Lookup(ctx, path.Base(rel), out)
}
