package fs

import (
	"context"
	"errors"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/pack/swap"
)

// The trees context/swap and context/dedup have one shape: an index of rows, and a directory of
// contents under their hashes. Looking at an index, or asking for a hash that is not known yet,
// brings the tree up to date.

// nodes returns the tree that the file or directory rel belongs to, up to date. With an id that is
// known already it may return an older one.
func (p *mountedSession) nodes(ctx context.Context, rel, id string) (*swap.Nodes, error) {
	late, cancel := patient(ctx)
	defer cancel()
	late = builder.WithCaller(late, callerOf(ctx).Pid)
	if rel == ctxabi.DedupIndex || rel == ctxabi.DedupBlobDir {
		return p.t.builder.Dedup(late, p.x, id)
	}
	p.settle("")
	return p.t.builder.Swap(late, p.x, id)
}

// errNoNode is the error for a hash that no content has.
var errNoNode = ctxabi.E("lookup", "", ctxabi.ErrNotFound, "no content of this session has that hash")

// node returns the content id of the directory rel, or errNoNode. A content that a user stored
// needs no index.
func (p *mountedSession) node(ctx context.Context, rel, id string) (swap.Node, error) {
	if ctxabi.ParseContentID(id) != nil {
		return swap.Node{}, errNoNode
	}
	if rel == ctxabi.DedupBlobDir {
		b, err := p.x.Blob(id)
		if err == nil || !errors.Is(err, ctxabi.ErrNotFound) {
			return swap.Node{Size: b.Size}, err
		}
	}
	n, err := p.nodes(ctx, rel, id)
	node, ok := n.Find(id)
	if ok && node.Ref == (ctxabi.ContentRef{}) { // a user's blob, removed since
		n, err = p.nodes(ctx, rel, "")
		node, ok = n.Find(id)
	}
	if err == nil && !ok {
		err = errNoNode
	}
	return node, err
}

// indexSource is the index.jsonl of a tree. A handle keeps what it was opened on.
type indexSource struct {
	derivedFacts
	changingSource
	p   *mountedSession
	rel string
}

func indexNode(p *mountedSession, rel string) tableNode { return newView(&indexSource{p: p, rel: rel}) }

func (n *indexSource) content(ctx context.Context) ([]byte, syscall.Errno) {
	nodes, err := n.p.nodes(ctx, n.rel, "")
	if err != nil {
		return nil, n.p.refuse(ctx, "read", n.rel, err)
	}
	return nodes.Index, 0
}

func (n *indexSource) fill(ctx context.Context, open gofs.FileHandle, a *fuse.Attr) (errno syscall.Errno) {
	data, ok := open.(bytesHandle)
	if !ok {
		if data, errno = n.content(ctx); errno != 0 {
			return errno
		}
	}
	n.p.own.setFile(a, n.p.own.readMode(), int64(len(data)), n.p.x.Updated())
	return 0
}

func (n *indexSource) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	n.p.noteOpen(ctx, n.rel)
	data, errno := n.content(ctx)
	return bytesHandle(data), errno
}
