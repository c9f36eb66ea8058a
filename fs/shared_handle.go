package fs

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/internal/handles"
)

// sharedHandle is an open file that hosts share and that may be changed by it. What was changed is committed when
// it is closed, whose error is that of the close, and by fsync.
type sharedHandle struct {
	*plainHandle
	p     *plain
	id    inode
	file  *sharedFile
	wrote atomic.Bool // something was written by it
}

var (
	_ = (writeHandle)((*sharedHandle)(nil))
	_ = (gofs.FileAllocater)((*sharedHandle)(nil))
)

// sharing returns a handle of the file child, which was made as name in the directory and is open as fd: one that
// commits, if hosts share the file.
func (p *plain) sharing(name string, child *plain, fd int, release func()) gofs.FileHandle {
	h := newPlainHandle(fd, release)
	rel, shared := p.named(name)
	if !shared {
		return h
	}
	id := inode{child.dev, child.ino}
	return &sharedHandle{plainHandle: h, p: child, id: id, file: p.t.shared.begin(p.t, id, fd, rel, true)}
}

// toChange are the flags of an open by which a file may be changed.
const toChange = syscall.O_WRONLY | syscall.O_RDWR | syscall.O_TRUNC

// openShared is Open of a file that hosts share: of what other hosts have closed before.
func (p *plain) openShared(ctx context.Context, rel string, flags uint32, release func()) (gofs.FileHandle, uint32, syscall.Errno) {
	p.t.fresh(rel, true)
	fd, err := p.openFile(flags &^ syscall.O_TRUNC)
	if err != nil {
		release()
		return nil, 0, errnoOf(err)
	}
	p.noteOpen(ctx)
	if flags&toChange == 0 {
		return newPlainHandle(fd, release), 0, 0
	}
	id := inode{p.dev, p.ino}
	h := &sharedHandle{plainHandle: newPlainHandle(fd, release), p: p, id: id, file: p.t.shared.begin(p.t, id, fd, rel, false)}
	if flags&syscall.O_TRUNC != 0 {
		if errno := h.change(func() syscall.Errno { return errnoOf(unix.Ftruncate(fd, 0)) }); errno != 0 {
			h.Release(ctx)
			return nil, 0, errno
		}
	}
	return h, 0, 0
}

// change notes that the file is changed, before it is and when it was, so that at each moment somebody knows.
func (h *sharedHandle) change(do func() syscall.Errno) syscall.Errno {
	h.file.writes.Add(1)
	defer h.file.writes.Add(1)
	return do()
}

func (h *sharedHandle) Write(ctx context.Context, data []byte, off int64) (n uint32, errno syscall.Errno) {
	h.wrote.Store(true)
	errno = h.change(func() (errno syscall.Errno) { n, errno = h.plainHandle.Write(ctx, data, off); return errno })
	return n, errno
}

func (h *sharedHandle) Allocate(ctx context.Context, off, size uint64, mode uint32) syscall.Errno {
	return h.change(func() syscall.Errno { return h.plainHandle.Allocate(ctx, off, size, mode) })
}

// set is Setattr through the handle.
func (h *sharedHandle) set(ctx context.Context, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return h.change(func() syscall.Errno { return h.plainHandle.set(ctx, in, out) })
}

func (h *sharedHandle) commit(ctx context.Context) syscall.Errno {
	name, _ := h.p.named("")
	return errnoOf(h.p.t.save(ctx, h.file, int(h.f.Fd()), name))
}

func (h *sharedHandle) Flush(ctx context.Context) syscall.Errno {
	if errno := h.plainHandle.Flush(ctx); errno != 0 {
		return errno
	}
	if !h.wrote.Load() && h.file.changed() && openElsewhere(ctx, h.p.EmbeddedInode()) {
		return 0 // a shell that has opened what a command will write to
	}
	return h.commit(ctx)
}

// openElsewhere reports whether the caller, who closes a file, has it open by another descriptor.
func openElsewhere(ctx context.Context, n *gofs.Inode) bool {
	name := "/" + storePath(n)
	dir := fmt.Sprintf("/proc/%d/fd/", callerOf(ctx).Pid)
	list, _ := handles.Open(func() ([]os.DirEntry, error) { return os.ReadDir(dir) })
	for _, e := range list {
		if to, err := os.Readlink(dir + e.Name()); err == nil && strings.HasSuffix(to, name) {
			return true
		}
	}
	return false
}

func (h *sharedHandle) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	if errno := h.plainHandle.Fsync(ctx, flags); errno != 0 {
		return errno
	}
	return h.commit(ctx)
}

// Release commits what came after the last close: from a mapping of the file.
func (h *sharedHandle) Release(ctx context.Context) syscall.Errno {
	h.commit(ctx)
	h.p.t.shared.end(h.id)
	return h.plainHandle.Release(ctx)
}

// handleOf returns the handle of an ordinary file, whether hosts share it or not.
func handleOf(f gofs.FileHandle) (h *plainHandle, ok bool) {
	switch h := f.(type) {
	case *plainHandle:
		return h, true
	case *sharedHandle:
		return h.plainHandle, true
	}
	return nil, false
}

// setShared is Setattr where hosts share files; done is false if they do not share this one.
func (p *plain) setShared(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) (errno syscall.Errno, done bool) {
	if h, ok := f.(*sharedHandle); ok {
		return h.set(ctx, in, out), true
	}
	rel, shared := p.named("")
	if !shared {
		return 0, false
	}
	if h, ok := f.(*plainHandle); ok { // by which the content cannot be changed
		if errno := h.set(ctx, in, out); errno != 0 {
			return errno, true
		}
		return errnoOf(p.attributes(ctx, rel, func() error { return nil }, func() error { return nil })), true
	}
	if _, ok := in.GetSize(); ok {
		return p.truncateShared(ctx, rel, in, out), true
	}
	return p.with(func(fd int, x *unix.Statx_t) error {
		before := &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{
			Valid: in.Valid &^ (fuse.FATTR_ATIME_NOW | fuse.FATTR_MTIME_NOW), Mode: uint32(x.Mode) & 0o7777, Owner: fuse.Owner{Uid: x.Uid, Gid: x.Gid},
			Atime: uint64(x.Atime.Sec), Atimensec: x.Atime.Nsec, Mtime: uint64(x.Mtime.Sec), Mtimensec: x.Mtime.Nsec,
		}}
		err := p.attributes(ctx, rel, func() error { return setAttrs(fd, in) }, func() error { return setAttrs(fd, before) })
		if err != nil {
			return err
		}
		x, err = beneath.Stat(fd)
		if err == nil {
			attrFromStatx(&out.Attr, x)
		}
		return err
	}), true
}

// truncateShared changes the size of a file, and other attributes, as a handle would that is closed after that.
func (p *plain) truncateShared(ctx context.Context, rel string, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	fh, _, errno := p.openShared(ctx, rel, syscall.O_WRONLY, func() {})
	if errno != 0 {
		return errno
	}
	h := fh.(*sharedHandle)
	defer h.Release(ctx)
	if errno := h.set(ctx, in, out); errno != 0 {
		return errno
	}
	return h.commit(ctx)
}

// sharedXattrs changes the attribute name of a file that hosts share by do; file is a path of it.
func (p *plain) sharedXattrs(ctx context.Context, rel, name, file string, do func(file string) error) error {
	old := make([]byte, 64<<10) // the most that there can be
	n, err := unix.Getxattr(file, name, old)
	return p.attributes(ctx, rel, func() error { return do(file) }, func() error {
		if err != nil {
			return unix.Removexattr(file, name)
		}
		return unix.Setxattr(file, name, old[:n], 0)
	})
}

// attributes changes attributes of a file that hosts share by do, and commits them; undo takes them back where
// that fails. A file that is open and changed is committed when it is closed.
func (p *plain) attributes(ctx context.Context, name string, do, undo func() error) error {
	if err := do(); err != nil {
		return err
	}
	if f := p.t.shared.of(inode{p.dev, p.ino}); f != nil && f.changed() {
		return nil
	}
	err := p.t.files.Changed(ctx, name)
	if err != nil && undo() != nil {
		p.t.log.Warn("attributes of a file are of this host alone", "file", name, "reason", err)
	}
	return err
}
