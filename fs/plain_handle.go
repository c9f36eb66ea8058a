package fs

import (
	"context"
	"os"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// plainHandle is an open ordinary file. Reading, writing and the rest are
// go-fuse's; two things are taken back from it: passthrough, which is a choice
// of the mount, and ioctl, which would run with the daemon's rights.
type plainHandle struct {
	*gofs.LoopbackFile
	f    *os.File
	kept func() // ends what it counts for
}

// newPlainHandle makes a handle of an open file that counts for what kept ends.
func newPlainHandle(fd int, kept func()) *plainHandle {
	f := os.NewFile(uintptr(fd), "")
	return &plainHandle{LoopbackFile: gofs.NewLoopbackFileFromOS(f), f: f, kept: kept}
}

var _ = (gofs.FileReleaser)((*plainHandle)(nil))

func (h *plainHandle) Release(ctx context.Context) syscall.Errno {
	defer h.kept()
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

// openFlags are the flags a backing file is opened with. O_APPEND is the
// kernel's business: it sends the offsets. O_DIRECT would ask for alignment
// that buffers of requests do not have.
func openFlags(flags uint32) int {
	return int(flags) &^ (unix.O_APPEND | unix.O_DIRECT | unix.O_TRUNC | unix.O_CREAT | unix.O_EXCL | fuse.FMODE_EXEC)
}

var _ = (gofs.NodeOpener)((*plain)(nil))

func (p *plain) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	kept, errno := p.keep()
	if errno != 0 {
		return nil, 0, errno
	}
	fd, err := p.openFile(flags)
	if err != nil {
		kept()
		return nil, 0, errnoOf(err)
	}
	p.opens(ctx)
	return newPlainHandle(fd, kept), 0, 0
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
