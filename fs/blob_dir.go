package fs

import (
	"context"
	"errors"
	"strconv"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/blob"
)

// blobDir is context/dedup/blob. A user stores a content by creating a file whose name is its hash.
type blobDir struct{ fixedDir }

func blobDirNode(p *mountedSession, rel string) tableNode {
	return &blobDir{fixedDir{p: p, rel: rel, find: findContent, list: listContents}}
}

func (d *blobDir) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	d.p.own.setDir(a, d.p.own.dirMode(), d.p.x.Created())
	return 0
}

func (d *blobDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.SetTimeout(fixedTimeout)
	return d.fill(ctx, f, &out.Attr)
}

func (d *blobDir) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	if _, err := d.p.node(ctx, d.rel, name); err == nil {
		if flags&syscall.O_EXCL != 0 {
			return nil, nil, 0, syscall.EEXIST
		}
		return nil, nil, 0, syscall.ESTALE // made since the kernel looked: it looks the name up again
	}
	stage, err := d.p.x.NewBlobStage(name, writerOf(ctx))
	if err != nil {
		return nil, nil, 0, d.p.refuse(ctx, "create", d.rel+"/"+name, err)
	}
	d.p.noteOpen(ctx, d.rel+"/"+name)
	// A blob in the making is a file of its own: who has the content of an earlier one open must not
	// see it shrink.
	n := &contentFile{p: d.p, dir: d.rel, id: name}
	made := strconv.FormatUint(d.p.t.blobsMade.Add(1), 10)
	inode := d.NewInode(ctx, n, contentAttr(d.p.x.ID(), d.rel+" in the making", name+made))
	h := &blobHandle{n: n, stage: stage}
	n.staging.Store(h)
	n.stages(&out.Attr)
	return inode, h, fuse.FOPEN_DIRECT_IO, 0
}

// Unlink removes a content that the caller stored. A content that the history has stays.
func (d *blobDir) Unlink(ctx context.Context, name string) syscall.Errno {
	err := d.p.x.RemoveBlob(name, callerOf(ctx).Uid)
	if errors.Is(err, ctxabi.ErrNotFound) {
		if _, err := d.p.node(ctx, d.rel, name); errors.Is(err, errNoNode) {
			return syscall.ENOENT
		}
		return d.p.deny(ctx, "remove", d.rel+"/"+name, ctxabi.ErrReadOnly, "it is part of the history; only content that was stored here can be removed")
	}
	if err != nil {
		return d.p.refuse(ctx, "remove", d.rel+"/"+name, err)
	}
	return 0
}

// Rename returns EXDEV for another directory, so that mv copies and removes. Within the directory a
// content has one name.
func (d *blobDir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if newParent.EmbeddedInode() != d.EmbeddedInode() {
		return syscall.EXDEV
	}
	return d.p.deny(ctx, "rename", d.rel+"/"+name, ctxabi.ErrProtected, "the name of content is its hash; it cannot be renamed")
}

// blobHandle is an open blob that is being written; see [blob.Stage].
type blobHandle struct {
	n     *contentFile
	stage *blob.Stage
}

func (h *blobHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	return readAt(h.stage, dest, off)
}

func (h *blobHandle) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	if h.n.p.t.raw.request(ctx).flags&syscall.O_APPEND != 0 {
		off = h.stage.Size() // the kernel's idea of the end is that of the stored content
	}
	n, err := h.stage.WriteAt(data, off)
	if err != nil {
		return 0, h.n.p.refuse(ctx, "write", h.n.rel(), err)
	}
	return uint32(n), 0
}

func (h *blobHandle) Flush(ctx context.Context) syscall.Errno {
	return h.commit(ctx, "close")
}

// Fsync commits as a close does, because bytes that are not committed are on no disk for good.
func (h *blobHandle) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	return h.commit(ctx, "fsync")
}

func (h *blobHandle) commit(ctx context.Context, op string) syscall.Errno {
	if err := h.stage.Flush(); err != nil {
		return h.n.p.refuse(ctx, op, h.n.rel(), err)
	}
	return 0
}

func (h *blobHandle) Release(ctx context.Context) syscall.Errno {
	h.n.staging.CompareAndSwap(h, nil)
	h.stage.Release()
	return 0
}
