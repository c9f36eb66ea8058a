package fs

import (
	"context"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
)

// awaitedFile stands for a built file whose generators have to be waited for. The kernel lets nobody else look up a name
// that is being looked up for the first time, so that a generator that reads its own pack would wait
// for the look-up that waits for it. So the look-up does not wait: opening the file does, and stat.
// A handle keeps the build that it was opened on.
type awaitedFile struct {
	gofs.Inode
	noXattrs
	p   *place
	rel string
}

// built gives the file of the present build.
func (n *awaitedFile) built(ctx context.Context) (build *pack.Build, data []byte, sum string, errno syscall.Errno) {
	build, err := n.p.build(ctx)
	if err != nil {
		return nil, nil, "", errnoOf(err) // the builder has reported it
	}
	g := n.p.generation(build)
	if data, sum, err = n.p.file(g, n.rel); err != nil {
		return nil, nil, "", errnoOf(err)
	}
	n.p.t.shelf.keep(g)
	return build, data, sum, 0
}

var _ = (gofs.NodeGetattrer)((*awaitedFile)(nil))

func (n *awaitedFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if h, open := f.(awaitedHandle); open {
		n.p.own.setFile(&out.Attr, n.p.own.readMode(), int64(len(h.bytesHandle)), h.build.Made)
		return 0
	}
	build, data, _, errno := n.built(ctx)
	if errno == 0 {
		n.p.own.setFile(&out.Attr, n.p.own.readMode(), int64(len(data)), build.Made)
	}
	return errno
}

var _ = (gofs.NodeSetattrer)((*awaitedFile)(nil))

func (n *awaitedFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.p.deny(ctx, "change", n.rel, ctxabi.ErrReadOnly, "ctxfs makes it from the session; rm drops the build")
}

// awaitedHandle is an awaitedFile that is open.
type awaitedHandle struct {
	bytesHandle
	build *pack.Build
}

var _ = (gofs.NodeOpener)((*awaitedFile)(nil))

func (n *awaitedFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		return nil, 0, n.p.deny(ctx, "open", n.rel, ctxabi.ErrReadOnly, "ctxfs makes it from the session; it cannot be written")
	}
	build, data, _, errno := n.built(ctx)
	if errno != 0 {
		return nil, 0, errno
	}
	n.p.opens(ctx, n.rel)
	n.p.opened(ctx, n.rel, build)
	return awaitedHandle{data, build}, fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0
}

// facts are those of the present build's file.
func (n *awaitedFile) facts(ctx context.Context) (facts, syscall.Errno) {
	build, _, sum, errno := n.built(ctx)
	if errno != 0 {
		return nil, errno
	}
	return (&builtFile{rel: n.rel, id: build.ID, sum: sum, tokens: build.Tokens}).facts(), 0
}

var _ = (gofs.NodeGetxattrer)((*awaitedFile)(nil))

func (n *awaitedFile) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	f, errno := n.facts(ctx)
	if errno != 0 {
		return 0, errno
	}
	return f.Get(name, dest)
}

var _ = (gofs.NodeListxattrer)((*awaitedFile)(nil))

func (n *awaitedFile) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	f, errno := n.facts(ctx)
	if errno != 0 {
		return 0, errno
	}
	return f.List(dest)
}
