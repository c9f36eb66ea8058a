package fs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync/atomic"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/build"
	"github.com/ctxfs/ctxfs/pack/swap"
)

// contentDir is context/swap/chunk or, within a [blobDir], context/dedup/blob: contents under their hashes.
type contentDir struct {
	fixedDir
	rel string
}

var _ = (gofs.NodeReaddirer)((*contentDir)(nil))

func (d *contentDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	n, err := d.p.nodes(ctx, d.rel, "")
	if err != nil {
		return nil, d.p.refuse(ctx, "list", d.rel, err)
	}
	list := make([]fuse.DirEntry, len(n.IDs))
	for i, id := range n.IDs {
		list[i] = entry(id, contentAttr(d.p.x.ID(), d.rel, id))
	}
	return listing(d.StableAttr(), list), 0
}

var _ = (gofs.NodeLookuper)((*contentDir)(nil))

func (d *contentDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	ctx = build.AtOnce(ctx) // what waits for its generators is in no index that anybody has seen
	if _, err := d.p.node(ctx, d.rel, name); errors.Is(err, errNoNode) {
		return nil, syscall.ENOENT
	} else if err != nil {
		return nil, d.p.refuse(ctx, "lookup", d.rel+"/"+name, err)
	}
	n := &contentFile{p: d.p, dir: d.rel, id: name}
	if errno := n.fill(ctx, &out.Attr); errno != 0 {
		return nil, errno
	}
	if d.rel == ctxabi.SwapChunkDir {
		out.SetEntryTimeout(fixedTimeout)
		out.SetAttrTimeout(foreverValid)
	}
	return d.NewInode(ctx, n, contentAttr(d.p.x.ID(), d.rel, name)), 0
}

// contentFile is one content under its hash. It never changes: what it stands for is read from the history, or from what a
// user stored, and checked when it is opened. It holds no more than its name, because the kernel decides how long it lives.
type contentFile struct {
	gofs.Inode
	noXattrs
	p       *place
	dir, id string

	staging atomic.Pointer[blobHandle] // of whoever makes it now, the last one; nil: nobody does
}

func (n *contentFile) rel() string { return n.dir + "/" + n.id }

func (n *contentFile) node(ctx context.Context) (swap.Node, error) { return n.p.node(ctx, n.dir, n.id) }

// fill gives the attributes of what is stored. A blob that a user stored may go, a chunk stays.
func (n *contentFile) fill(ctx context.Context, a *fuse.Attr) syscall.Errno {
	node, err := n.node(ctx)
	if err != nil {
		return errnoOf(err)
	}
	n.p.own.setFile(a, n.p.own.readMode(), node.Size, n.p.x.Created())
	if node.Ref == (ctxabi.ContentRef{}) {
		if b, err := n.p.x.Blob(n.id); err == nil {
			n.p.own.setFile(a, n.p.own.readMode(), b.Size, b.Time)
			a.Uid = b.UID
		}
	}
	return 0
}

// stages says whether a handle that makes the blob is open, and fills in the attributes that it has so far.
func (n *contentFile) stages(a *fuse.Attr) (*blobHandle, bool) {
	h := n.staging.Load()
	if h == nil || h.stage.Committed() {
		return nil, false
	}
	n.p.own.setFile(a, n.p.own.fileMode(), h.stage.Size(), n.p.x.Updated())
	return h, true
}

var _ = (gofs.NodeGetattrer)((*contentFile)(nil))

func (n *contentFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if _, ok := n.stages(&out.Attr); ok {
		return 0
	}
	if n.dir == ctxabi.SwapChunkDir {
		out.SetTimeout(foreverValid)
	}
	return n.fill(ctx, &out.Attr)
}

var _ = (gofs.NodeSetattrer)((*contentFile)(nil))

// Setattr is for who makes a blob; of what is stored nothing can be changed. A mode and times are taken and not kept.
func (n *contentFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	h, ok := f.(*blobHandle)
	if !ok {
		if h, ok = n.stages(&out.Attr); !ok {
			_, resize := in.GetSize()
			if _, err := n.p.x.Blob(n.id); err == nil && n.dir == ctxabi.DedupBlobDir && !resize {
				return n.fill(ctx, &out.Attr) // install and rsync say what they want once it is closed
			}
			return n.p.deny(ctx, "change", n.rel(), ctxabi.ErrReadOnly, "a content under its hash does not change")
		}
	}
	if errno := n.Getattr(ctx, f, out); errno != 0 {
		return errno
	}
	if !sameOwner(in, &out.Attr) {
		return n.p.deny(ctx, "chown", n.rel(), ctxabi.ErrProtected, "the files of a session belong to its owner")
	}
	if size, ok := in.GetSize(); ok {
		if err := h.stage.Truncate(int64(size)); err != nil {
			return n.p.refuse(ctx, "truncate", n.rel(), err)
		}
	}
	return n.Getattr(ctx, f, out)
}

// open opens the content. gone says that a user's blob was removed before that: the history may have it, too.
func (n *contentFile) open(ctx context.Context) (h *contentHandle, gone bool, err error) {
	node, err := n.node(ctx)
	if err != nil {
		return nil, false, err
	}
	if node.Ref == (ctxabi.ContentRef{}) {
		kept, err := n.p.t.keep()
		if err != nil {
			n.p.refuse(ctx, "open", n.rel(), err)
			return nil, false, err
		}
		f, err := n.p.x.OpenBlob(n.id)
		if err != nil {
			kept()
		}
		return &contentHandle{f, f, kept}, errors.Is(err, ctxabi.ErrNotFound), err
	}
	c, err := n.p.x.OpenContent(node.Ref)
	return &contentHandle{r: c}, false, err
}

var _ = (gofs.NodeOpener)((*contentFile)(nil))

func (n *contentFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		return nil, 0, n.p.deny(ctx, "open", n.rel(), ctxabi.ErrReadOnly, "a content under its hash does not change")
	}
	n.p.opens(ctx, n.rel())
	h, gone, err := n.open(ctx)
	for gone && ctx.Err() == nil {
		h, gone, err = n.open(ctx)
	}
	if err != nil {
		return nil, 0, errnoOf(err) // reported where it was found
	}
	return h, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH, 0
}

func (n *contentFile) facts(ctx context.Context) facts {
	node, err := n.node(ctx)
	derived := err == nil && node.Ref != (ctxabi.ContentRef{})
	when := func(ok bool, value func() string) func() string {
		return func() string {
			if !ok {
				return ""
			}
			return value()
		}
	}
	return facts{
		"origin": when(derived, func() string { return "derived" }),
		"sha256": when(err == nil, func() string { return n.id[len("sha256-"):] }),
		"tokens": when(node.Tokens > 0, func() string { return strconv.Itoa(node.Tokens) }),
		"ref": when(derived, func() string {
			ref := namedRef{node.Ref, n.recordName(node.Ref, node.Ref.Start), n.recordName(node.Ref, node.Ref.End)}
			b, _ := json.Marshal(ref) // strings and numbers
			return string(b)
		}),
	}
}

// namedRef is a reference with the names of its records beside their numbers.
type namedRef struct {
	ctxabi.ContentRef
	StartEvent string `json:"start_event"`
	EndEvent   string `json:"end_event"`
}

// recordName is the record's own id, else its number.
func (n *contentFile) recordName(ref ctxabi.ContentRef, line int) string {
	return cmp.Or(n.p.x.RecordID(ref.Source, line), strconv.Itoa(line))
}

var _ = (gofs.NodeGetxattrer)((*contentFile)(nil))

func (n *contentFile) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	return n.facts(ctx).Get(name, dest)
}

var _ = (gofs.NodeListxattrer)((*contentFile)(nil))

func (n *contentFile) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	return n.facts(ctx).List(dest)
}

// contentHandle is an open content that was checked.
type contentHandle struct {
	r     io.ReaderAt
	close io.Closer // nil: nothing to close
	kept  func()    // ends what it counts for
}

var _ = (gofs.FileReader)((*contentHandle)(nil))

func (h *contentHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	return readAt(h.r, dest, off)
}

// readAt answers a read from r.
func readAt(r io.ReaderAt, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	n, err := r.ReadAt(dest, off)
	if err != nil && err != io.EOF {
		return nil, errnoOf(err)
	}
	return fuse.ReadResultData(dest[:n]), 0
}

var _ = (gofs.FileReleaser)((*contentHandle)(nil))

func (h *contentHandle) Release(ctx context.Context) syscall.Errno {
	if h.close != nil {
		h.close.Close()
		h.kept()
	}
	return 0
}
