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
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/pack/swap"
)

// context/swap/chunk and context/dedup/blob have contents under their hashes.

func listContents(ctx context.Context, d *fixedDir) ([]fuse.DirEntry, syscall.Errno) {
	n, err := d.p.nodes(ctx, d.rel, "")
	if err != nil {
		return nil, d.p.refuse(ctx, "list", d.rel, err)
	}
	list := make([]fuse.DirEntry, len(n.IDs))
	for i, id := range n.IDs {
		list[i] = dirEntry(id, contentAttr(d.p.x.ID(), d.rel, id))
	}
	return list, 0
}

func findContent(ctx context.Context, d *fixedDir, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	ctx = builder.AtOnce(ctx) // what waits for its generators is in no index that anybody has seen
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

// contentFile is one content under its hash. It never changes: its bytes are read from the history,
// or from what a user stored, and checked when it is opened. It holds no more than its name,
// because the kernel decides how long a node lives.
type contentFile struct {
	gofs.Inode
	noXattrs
	p       *mountedSession
	dir, id string

	staging atomic.Pointer[blobHandle] // the last handle that is writing it; nil: none is
}

func (n *contentFile) rel() string { return n.dir + "/" + n.id }

func (n *contentFile) node(ctx context.Context) (swap.Node, error) { return n.p.node(ctx, n.dir, n.id) }

// fill fills in the attributes of the stored content. A blob that a user stored may go, a chunk
// stays.
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

// stages returns the handle that is making the blob and fills in the attributes that the blob has
// so far. It returns false if there is no such handle.
func (n *contentFile) stages(a *fuse.Attr) (*blobHandle, bool) {
	h := n.staging.Load()
	if h == nil || h.stage.Committed() {
		return nil, false
	}
	n.p.own.setFile(a, n.p.own.fileMode(), h.stage.Size(), n.p.x.Updated())
	return h, true
}

func (n *contentFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if _, ok := n.stages(&out.Attr); ok {
		return 0
	}
	if n.dir == ctxabi.SwapChunkDir {
		out.SetTimeout(foreverValid)
	}
	return n.fill(ctx, &out.Attr)
}

// Setattr changes the size of a blob that is being made. What is stored cannot be changed. A mode
// and times are accepted and ignored.
func (n *contentFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	h, ok := f.(*blobHandle)
	if !ok {
		if h, ok = n.stages(&out.Attr); !ok {
			_, resize := in.GetSize()
			if _, err := n.p.x.Blob(n.id); err == nil && n.dir == ctxabi.DedupBlobDir && !resize {
				return n.fill(ctx, &out.Attr) // install and rsync set mode and times after the close
			}
			return n.p.deny(ctx, "change", n.rel(), ctxabi.ErrReadOnly, "content that is named by its hash cannot be changed")
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

// open returns a handle of the content. gone reports that a user's blob was removed meanwhile: the
// history may have the content, too.
func (n *contentFile) open(ctx context.Context) (h *contentHandle, gone bool, err error) {
	node, err := n.node(ctx)
	if err != nil {
		return nil, false, err
	}
	if node.Ref == (ctxabi.ContentRef{}) {
		release, err := n.p.t.reserve(ctx)
		if err != nil {
			n.p.refuse(ctx, "open", n.rel(), err)
			return nil, false, err
		}
		f, err := n.p.x.OpenBlob(n.id)
		if err != nil {
			release()
		}
		return &contentHandle{f, f, release}, errors.Is(err, ctxabi.ErrNotFound), err
	}
	c, err := n.p.x.OpenContent(node.Ref)
	return &contentHandle{r: c}, false, err
}

func (n *contentFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		return nil, 0, n.p.deny(ctx, "open", n.rel(), ctxabi.ErrReadOnly, "content that is named by its hash cannot be changed")
	}
	n.p.noteOpen(ctx, n.rel())
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

// recordName returns the record's own id, or its number if it has none.
func (n *contentFile) recordName(ref ctxabi.ContentRef, line int) string {
	return cmp.Or(n.p.x.RecordID(ref.Source, line), strconv.Itoa(line))
}

func (n *contentFile) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	return n.facts(ctx).Get(name, dest)
}

func (n *contentFile) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	return n.facts(ctx).List(dest)
}

// contentHandle is an open content that was checked.
type contentHandle struct {
	r       io.ReaderAt
	close   io.Closer // nil: nothing to close
	release func()    // ends what it counts for
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
		h.release()
	}
	return 0
}
