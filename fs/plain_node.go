package fs

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/internal/handles"
)

// plain is an ordinary file, directory, link or pipe: what an agent keeps in
// its home beside its sessions, and the scratch files that editors put beside
// the files of a session. It lies in the store under the same name, with the
// owner, mode and times it shows.
//
// A node knows which inode of the disk it stands for; see beneath.go for what
// that protects from.
type plain struct {
	gofs.Inode
	t        *tree
	dev, ino uint64 // on the disk; 0: a directory of the tree that need not exist yet

	gone atomic.Pointer[unix.Statx_t] // what a directory was like when it was removed; nil: it was not
}

// plainer is every node that embeds a plain.
type plainer interface {
	gofs.InodeEmbedder
	base() *plain
}

func (p *plain) base() *plain { return p }

func newPlain(t *tree, x *unix.Statx_t) plain {
	return plain{t: t, dev: unix.Mkdev(x.Dev_major, x.Dev_minor), ino: x.Ino}
}

// open opens the node's own inode, beneath the store and without following a link. It returns
// ESTALE if another inode has the name. flags must have no effect of their own (O_TRUNC, O_CREAT),
// because that would come before the check.
func (p *plain) open(flags int) (int, *unix.Statx_t, error) {
	fd, x, err := p.openOnce(flags)
	if errors.Is(err, os.ErrNotExist) || err == syscall.ESTALE || err == syscall.ENOTDIR {
		p.t.waitForRenames()
		fd, x, err = p.openOnce(flags)
	}
	if handles.IsShort(err) {
		p.t.warnShort(err)
	}
	return fd, x, err
}

func (p *plain) openOnce(flags int) (int, *unix.Statx_t, error) {
	fd, err := beneath.Open(p.t.rootFd, storePath(p.EmbeddedInode()), flags, 0)
	if err != nil {
		return -1, nil, err
	}
	x, err := beneath.Stat(fd)
	if err == nil && p.ino != 0 && (x.Ino != p.ino || unix.Mkdev(x.Dev_major, x.Dev_minor) != p.dev) {
		err = syscall.ESTALE
	}
	if err != nil {
		unix.Close(fd)
		return -1, nil, err
	}
	return fd, x, nil
}

// with calls fn with an O_PATH descriptor of the node's inode.
func (p *plain) with(fn func(fd int, x *unix.Statx_t) error) syscall.Errno {
	fd, x, err := p.open(unix.O_PATH)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(fd)
	return errnoOf(fn(fd, x))
}

// child returns the inode of a file of the disk.
func (p *plain) child(ctx context.Context, x *unix.Statx_t) *gofs.Inode {
	n := newPlain(p.t, x)
	return p.NewInode(ctx, &n, plainAttr(x, p.t.rootDev))
}

func (t *tree) setPlainEntry(out *fuse.EntryOut, x *unix.Statx_t) {
	attrFromStatx(&out.Attr, x)
	out.SetEntryTimeout(plainValid)
	out.SetAttrTimeout(plainValid)
}

func (p *plain) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.SetTimeout(plainValid)
	if h, ok := f.(*plainHandle); ok { // also answers for a file that has no name any more
		return h.Getattr(ctx, out)
	}
	errno := p.with(func(_ int, x *unix.Statx_t) error {
		attrFromStatx(&out.Attr, x)
		return nil
	})
	if x := p.gone.Load(); x != nil && (errno == syscall.ENOENT || errno == syscall.ESTALE) { // a process whose working directory it is could not even leave it otherwise
		attrFromStatx(&out.Attr, x)
		out.Nlink, errno = 0, 0
	}
	return errno
}

func (p *plain) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	out.SetTimeout(plainValid)
	if h, ok := f.(*plainHandle); ok {
		return h.set(ctx, in, out)
	}
	if size, ok := in.GetSize(); ok {
		fd, _, err := p.open(unix.O_WRONLY | unix.O_NONBLOCK)
		if err != nil {
			return errnoOf(err)
		}
		err = unix.Ftruncate(fd, int64(size))
		unix.Close(fd)
		if err != nil {
			return errnoOf(err)
		}
	}
	return p.with(func(fd int, _ *unix.Statx_t) error {
		if err := setAttrs(fd, in); err != nil {
			return err
		}
		x, err := beneath.Stat(fd)
		if err == nil {
			attrFromStatx(&out.Attr, x)
		}
		return err
	})
}

// setAttrs applies mode, owner and times to an O_PATH descriptor, in the
// order that lets none undo another.
func setAttrs(fd int, in *fuse.SetAttrIn) error {
	uid, gid := -1, -1
	if u, ok := in.GetUID(); ok {
		uid = int(u)
	}
	if g, ok := in.GetGID(); ok {
		gid = int(g)
	}
	if uid >= 0 || gid >= 0 {
		if err := unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
	}
	if mode, ok := in.GetMode(); ok {
		if err := unix.Chmod(procPath(fd), mode); err != nil {
			return err
		}
	}
	ts := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_OMIT}}
	atime, aok := in.GetATime()
	mtime, mok := in.GetMTime()
	if aok {
		ts[0] = unix.Timespec{Sec: atime.Unix(), Nsec: int64(atime.Nanosecond())}
	}
	if mok {
		ts[1] = unix.Timespec{Sec: mtime.Unix(), Nsec: int64(mtime.Nanosecond())}
	}
	if aok || mok {
		return unix.UtimesNanoAt(fd, "", ts, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW)
	}
	return nil
}

var _ = (gofs.NodeReadlinker)((*plain)(nil))

func (p *plain) Readlink(ctx context.Context) (target []byte, errno syscall.Errno) {
	errno = p.with(func(fd int, _ *unix.Statx_t) error {
		buf := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(fd, "", buf)
		target = buf[:max(n, 0)]
		return err
	})
	return target, errno
}

func (p *plain) Getxattr(ctx context.Context, name string, dest []byte) (n uint32, errno syscall.Errno) {
	if !userXattr(name) {
		return 0, syscall.ENODATA
	}
	errno = p.with(func(fd int, _ *unix.Statx_t) error {
		sz, err := unix.Getxattr(procPath(fd), name, dest)
		n = uint32(max(sz, 0))
		return err
	})
	return n, errno
}

func (p *plain) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	var list []byte
	errno := p.with(func(fd int, _ *unix.Statx_t) error {
		buf := make([]byte, 64<<10) // the most a list can have
		sz, err := unix.Listxattr(procPath(fd), buf)
		if err != nil {
			return err
		}
		list = filterUserXattrs(buf[:sz])
		return nil
	})
	if errno != 0 {
		return 0, errno
	}
	return putXattr(dest, list)
}

func (p *plain) Setxattr(ctx context.Context, name string, data []byte, flags uint32) syscall.Errno {
	if errno := mayChangeXattr(name); errno != 0 {
		return errno
	}
	return p.with(func(fd int, _ *unix.Statx_t) error { return unix.Setxattr(procPath(fd), name, data, int(flags)) })
}

func (p *plain) Removexattr(ctx context.Context, name string) syscall.Errno {
	if errno := mayChangeXattr(name); errno != 0 {
		return errno
	}
	return p.with(func(fd int, _ *unix.Statx_t) error { return unix.Removexattr(procPath(fd), name) })
}

// plainHandle is an open ordinary file. go-fuse reads, writes and does the rest, but for two
// things: passthrough, which is a choice of the mount, and ioctl, which would run with the daemon's
// rights.
type plainHandle struct {
	*gofs.LoopbackFile
	f       *os.File
	release func() // ends what it counts for
}

// newPlainHandle returns a handle of the open file fd. Its Release calls release.
func newPlainHandle(fd int, release func()) *plainHandle {
	f := os.NewFile(uintptr(fd), "")
	return &plainHandle{LoopbackFile: gofs.NewLoopbackFileFromOS(f), f: f, release: release}
}

var _ = (gofs.FileReleaser)((*plainHandle)(nil))

func (h *plainHandle) Release(ctx context.Context) syscall.Errno {
	defer h.release()
	return h.LoopbackFile.Release(ctx)
}

var _ = (gofs.FilePassthroughFder)((*plainHandle)(nil))

func (h *plainHandle) PassthroughFd() (int, bool) { return -1, false }

var _ = (gofs.FileIoctler)((*plainHandle)(nil))

func (h *plainHandle) Ioctl(ctx context.Context, cmd uint32, arg uint64, input []byte, output []byte) (int32, syscall.Errno) {
	return 0, syscall.ENOTTY
}

// set is Setattr through an open descriptor.
func (h *plainHandle) set(ctx context.Context, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := h.LoopbackFile.Setattr(ctx, in, out); errno != 0 {
		return errno
	}
	return h.Getattr(ctx, out)
}

// openFlags returns the flags for opening a file of the store. O_APPEND is the kernel's task: it
// sends the offsets. O_DIRECT would need an alignment that buffers of requests do not have.
func openFlags(flags uint32) int {
	return int(flags) &^ (unix.O_APPEND | unix.O_DIRECT | unix.O_TRUNC | unix.O_CREAT | unix.O_EXCL | fuse.FMODE_EXEC)
}

func (p *plain) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	release, errno := p.reserve(ctx)
	if errno != 0 {
		return nil, 0, errno
	}
	fd, err := p.openFile(flags)
	if err != nil {
		release()
		return nil, 0, errnoOf(err)
	}
	p.noteOpen(ctx)
	return newPlainHandle(fd, release), 0, 0
}

func (p *plain) openFile(flags uint32) (int, error) {
	fd, x, err := p.open(openFlags(flags) | unix.O_NONBLOCK) // a pipe put in its place must not stop the daemon
	if err != nil {
		return -1, err
	}
	if uint32(x.Mode)&syscall.S_IFMT != syscall.S_IFREG {
		err = syscall.ESTALE
	} else if flags&unix.O_TRUNC != 0 {
		err = unix.Ftruncate(fd, 0)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

var _ = (gofs.NodeCopyFileRanger)((*plain)(nil))

func (p *plain) CopyFileRange(ctx context.Context, fhIn gofs.FileHandle, offIn uint64, out *gofs.Inode,
	fhOut gofs.FileHandle, offOut, length, flags uint64) (uint32, syscall.Errno) {
	in, ok1 := fhIn.(*plainHandle)
	to, ok2 := fhOut.(*plainHandle)
	if !ok1 || !ok2 {
		return 0, syscall.ENOTSUP // the kernel copies by reading and writing
	}
	a, b := int64(offIn), int64(offOut)
	n, err := unix.CopyFileRange(int(in.f.Fd()), &a, int(to.f.Fd()), &b, int(min(length, 1<<30)), int(flags))
	return uint32(max(n, 0)), errnoOf(err)
}
