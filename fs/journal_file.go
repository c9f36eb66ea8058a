package fs

import (
	"context"
	"errors"
	"io"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// journalFile is context/journal.jsonl: the conversation as the journal of Delta Engine. A handle sees what is appended while it is open.
type journalFile struct {
	gofs.Inode
	noXattrs
	p *place
}

func (n *journalFile) fill(ctx context.Context, a *fuse.Attr) syscall.Errno {
	late, cancel := patient(ctx)
	defer cancel()
	size, err := n.p.x.JournalSize(late)
	if err != nil {
		return n.p.refuse(ctx, "read", ctxabi.JournalFile, err)
	}
	n.p.own.setFile(a, n.p.own.readMode(), size, n.p.x.Messages().ModTime())
	return 0
}

var _ = (gofs.NodeGetattrer)((*journalFile)(nil))

func (n *journalFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return n.fill(ctx, &out.Attr)
}

var _ = (gofs.NodeSetattrer)((*journalFile)(nil))

func (n *journalFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return syscall.EACCES
}

var _ = (gofs.NodeOpener)((*journalFile)(nil))

func (n *journalFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		return nil, 0, syscall.EACCES
	}
	n.p.opens(ctx, "")
	return &journalHandle{n.p, n.p.x.OpenJournal()}, fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0
}

var _ = (gofs.NodeGetxattrer)((*journalFile)(nil))

func (n *journalFile) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	return facts{"origin": func() string { return "derived" }}.Get(name, dest)
}

var _ = (gofs.NodeListxattrer)((*journalFile)(nil))

func (n *journalFile) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	return facts{"origin": func() string { return "derived" }}.List(dest)
}

// journalHandle is an open journal.
type journalHandle struct {
	p *place
	r *session.JournalReader
}

var _ = (gofs.FileReader)((*journalHandle)(nil))

func (h *journalHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	late, cancel := patient(ctx)
	defer cancel()
	n, err := h.r.ReadAt(late, dest, off)
	if err != nil && !errors.Is(err, io.EOF) && n == 0 {
		return nil, h.p.refuse(ctx, "read", ctxabi.JournalFile, err)
	}
	return fuse.ReadResultData(dest[:n]), 0
}

var _ = (gofs.FileReleaser)((*journalHandle)(nil))

func (h *journalHandle) Release(ctx context.Context) syscall.Errno {
	h.r.Close()
	return 0
}
