package fs

import (
	"context"
	"errors"
	"path"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/build"
	"github.com/ctxfs/ctxfs/pack/swap"
)

// The trees context/swap and context/dedup have one shape: an index of rows, and a directory of contents under their
// hashes. Looking at an index, or asking for a hash that is not known yet, brings the tree up to date.

// nodeNames are the names that both trees have beside the contents.
var nodeNames = map[string]bool{
	ctxabi.SwapDir: true, ctxabi.SwapIndexFile: true, ctxabi.SwapChunkDir: true,
	ctxabi.DedupDir: true, ctxabi.DedupIndex: true, ctxabi.DedupBlobDir: true,
}

// nodes is the tree that the file or directory rel belongs to. With an id, one that is known already will do.
func (p *place) nodes(ctx context.Context, rel, id string) (*swap.Nodes, error) {
	late, cancel := patient(ctx)
	defer cancel()
	late = build.WithCaller(late, callerOf(ctx).Pid)
	if rel == ctxabi.DedupIndex || rel == ctxabi.DedupBlobDir {
		return p.t.builder.Dedup(late, p.x, id)
	}
	p.settle("")
	return p.t.builder.Swap(late, p.x, id)
}

// errNoNode says that no content is called so.
var errNoNode = ctxabi.E("lookup", "", ctxabi.ErrNotFound, "no content of this session has that hash")

// node finds the content id of the directory rel. What a user stored needs no index.
func (p *place) node(ctx context.Context, rel, id string) (swap.Node, error) {
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

// lookupNodes looks up one of nodeNames.
func (p *place) lookupNodes(ctx context.Context, parent *gofs.Inode, rel string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	switch rel {
	case ctxabi.SwapIndexFile, ctxabi.DedupIndex:
		n := &indexFile{p: p, rel: rel}
		if errno := n.fill(build.AtOnce(ctx), &out.Attr); errno != 0 {
			return nil, errno
		}
		out.SetEntryTimeout(fixedTimeout)
		return parent.NewInode(ctx, n, p.attr(syscall.S_IFREG, rel)), 0
	case ctxabi.DedupBlobDir:
		n := &blobDir{contentDir{fixedDir{p: p}, rel}}
		n.fill(&out.Attr)
		keepFixed(out)
		return parent.NewInode(ctx, n, p.attr(syscall.S_IFDIR, rel)), 0
	case ctxabi.SwapChunkDir:
		n := &contentDir{fixedDir{p: p}, rel}
		n.fill(&out.Attr)
		keepFixed(out)
		return parent.NewInode(ctx, n, p.attr(syscall.S_IFDIR, rel)), 0
	}
	n := &nodesDir{fixedDir{p: p}, rel}
	n.fill(&out.Attr)
	keepFixed(out)
	return parent.NewInode(ctx, n, p.attr(syscall.S_IFDIR, rel)), 0
}

// nodesDir is context/swap or context/dedup.
type nodesDir struct {
	fixedDir
	rel string
}

var _ = (gofs.NodeLookuper)((*nodesDir)(nil))

func (d *nodesDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	rel := path.Join(d.rel, name)
	if !nodeNames[rel] {
		return nil, syscall.ENOENT
	}
	return d.p.lookupNodes(ctx, d.EmbeddedInode(), rel, out)
}

var _ = (gofs.NodeReaddirer)((*nodesDir)(nil))

func (d *nodesDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	index, contents := ctxabi.SwapIndexFile, ctxabi.SwapChunkDir
	if d.rel == ctxabi.DedupDir {
		index, contents = ctxabi.DedupIndex, ctxabi.DedupBlobDir
	}
	return listing(d.StableAttr(), []fuse.DirEntry{
		entry(path.Base(index), d.p.attr(syscall.S_IFREG, index)), entry(path.Base(contents), d.p.attr(syscall.S_IFDIR, contents))}), 0
}

// indexFile is the index.jsonl of a tree. A handle keeps what it was opened on.
type indexFile struct {
	gofs.Inode
	noXattrs
	p   *place
	rel string
}

func (n *indexFile) content(ctx context.Context) ([]byte, syscall.Errno) {
	nodes, err := n.p.nodes(ctx, n.rel, "")
	if err != nil {
		return nil, n.p.refuse(ctx, "read", n.rel, err)
	}
	return nodes.Index, 0
}

func (n *indexFile) fill(ctx context.Context, a *fuse.Attr) syscall.Errno {
	data, errno := n.content(ctx)
	if errno != 0 {
		return errno
	}
	n.p.own.setFile(a, n.p.own.readMode(), int64(len(data)), n.p.x.Updated())
	return 0
}

var _ = (gofs.NodeGetattrer)((*indexFile)(nil))

func (n *indexFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if h, open := f.(bytesHandle); open {
		n.p.own.setFile(&out.Attr, n.p.own.readMode(), int64(len(h)), n.p.x.Updated())
		return 0
	}
	return n.fill(ctx, &out.Attr)
}

var _ = (gofs.NodeSetattrer)((*indexFile)(nil))

func (n *indexFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return syscall.EACCES
}

var _ = (gofs.NodeOpener)((*indexFile)(nil))

func (n *indexFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		return nil, 0, syscall.EACCES
	}
	n.p.opens(ctx, n.rel)
	data, errno := n.content(ctx)
	if errno != 0 {
		return nil, 0, errno
	}
	return bytesHandle(data), fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0
}

var _ = (gofs.NodeGetxattrer)((*indexFile)(nil))

func (n *indexFile) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	return facts{"origin": func() string { return "derived" }}.Get(name, dest)
}

var _ = (gofs.NodeListxattrer)((*indexFile)(nil))

func (n *indexFile) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	return facts{"origin": func() string { return "derived" }}.List(dest)
}
