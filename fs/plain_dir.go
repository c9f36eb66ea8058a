package fs

import (
	"context"
	"errors"
	"os"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/beneath"
)

// in calls fn with an O_PATH descriptor of the directory. It returns ENOENT for a name that
// [hidden] reports.
func (p *plain) in(name string, fn func(dir int, self *unix.Statx_t) error) syscall.Errno {
	return inDir(name, p.open, fn)
}

// inRename is in for renames, which must not wait for renames.
func (p *plain) inRename(name string, fn func(dir int, self *unix.Statx_t) error) syscall.Errno {
	return inDir(name, p.openOnce, fn)
}

func inDir(name string, open func(flags int) (int, *unix.Statx_t, error), fn func(dir int, self *unix.Statx_t) error) syscall.Errno {
	if hidden(name) {
		return syscall.ENOENT
	}
	fd, x, err := open(unix.O_PATH | unix.O_DIRECTORY)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(fd)
	return errnoOf(fn(fd, x))
}

// added answers the request that made name in the open directory dir.
func (p *plain) added(ctx context.Context, dir int, name string, out *fuse.EntryOut) (*gofs.Inode, error) {
	x, err := statName(dir, name)
	if err != nil {
		return nil, err
	}
	p.t.setPlainEntry(out, x)
	return p.child(ctx, x), nil
}

// give changes the owner of the new file name to the caller. In a directory with setgid the group
// is right already.
func (p *plain) give(ctx context.Context, dir int, name string, self *unix.Statx_t) error {
	if !p.t.asRoot {
		return nil
	}
	c := callerOf(ctx)
	gid := int(c.Gid)
	if self.Mode&unix.S_ISGID != 0 {
		gid = -1
	}
	return unix.Fchownat(dir, name, int(c.Uid), gid, unix.AT_SYMLINK_NOFOLLOW)
}

// newMode returns the mode of a new file or directory. The kernel has applied the client's umask.
// In a shared space the group gets the rights of the owner.
func (p *plain) newMode(mode uint32, dir bool) uint32 {
	if !inSpace(storePath(p.EmbeddedInode())) {
		return mode
	}
	if dir {
		return mode&^0o007 | 0o2770
	}
	return mode&^0o007 | 0o660 | mode&0o100>>3
}

// finish sets owner and mode of the new file or directory name and answers the request. The caller
// removes the file if finish returns an error.
func (p *plain) finish(ctx context.Context, dir int, name string, mode uint32, self *unix.Statx_t, out *fuse.EntryOut) (*gofs.Inode, error) {
	if err := p.give(ctx, dir, name, self); err != nil {
		return nil, err
	}
	if err := p.chmodNew(dir, name, mode); err != nil {
		return nil, err
	}
	return p.added(ctx, dir, name, out)
}

// chmodNew sets a new file's mode where the daemon's umask, a chown or the directory's setgid
// changed it.
func (p *plain) chmodNew(dir int, name string, mode uint32) error {
	x, err := statName(dir, name)
	if err != nil {
		return err
	}
	want := mode&0o7777 | uint32(x.Mode)&unix.S_ISGID
	if uint32(x.Mode)&0o7777 == want {
		return nil
	}
	fd, err := beneath.At(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod(procPath(fd), want)
}

func (p *plain) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (n *gofs.Inode, errno syscall.Errno) {
	errno = p.in(name, func(dir int, _ *unix.Statx_t) (err error) {
		n, err = p.added(ctx, dir, name, out)
		return err
	})
	return n, errno
}

func (p *plain) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (n *gofs.Inode, errno syscall.Errno) {
	if hidden(name) {
		return nil, syscall.EPERM
	}
	errno = p.in(name, func(dir int, self *unix.Statx_t) error {
		mode := p.newMode(mode&0o7777, true)
		err := unix.Mkdirat(dir, name, mode)
		if err != nil {
			return err
		}
		n, err = p.finish(ctx, dir, name, mode, self, out)
		if err != nil {
			unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
		}
		return err
	})
	return n, errno
}

func (p *plain) Mknod(ctx context.Context, name string, mode, rdev uint32, out *fuse.EntryOut) (n *gofs.Inode, errno syscall.Errno) {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFREG, syscall.S_IFIFO, syscall.S_IFSOCK:
	default:
		return nil, syscall.EPERM // the store holds no devices
	}
	if hidden(name) {
		return nil, syscall.EPERM
	}
	errno = p.in(name, func(dir int, self *unix.Statx_t) error {
		mode := mode&syscall.S_IFMT | p.newMode(mode&0o7777, false)
		err := unix.Mknodat(dir, name, mode, 0)
		if err != nil {
			return err
		}
		n, err = p.finish(ctx, dir, name, mode, self, out)
		if err != nil {
			unix.Unlinkat(dir, name, 0)
		}
		return err
	})
	return n, errno
}

func (p *plain) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (n *gofs.Inode, fh gofs.FileHandle, ff uint32, errno syscall.Errno) {
	if hidden(name) {
		return nil, nil, 0, syscall.EPERM
	}
	release, errno := p.reserve(ctx)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	errno = p.in(name, func(dir int, self *unix.Statx_t) error {
		mode := p.newMode(mode&0o7777, false)
		// Always O_EXCL: the kernel saw no such name. If there is one by now, it may
		// be somebody else's, and only the kernel can say whether this caller may
		// open it; ESTALE makes it look again.
		fd, err := beneath.At(dir, name, openFlags(flags)|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		if err == syscall.EEXIST && flags&unix.O_EXCL == 0 {
			return syscall.ESTALE
		}
		if err != nil {
			return err
		}
		n, err = p.finish(ctx, dir, name, mode, self, out)
		if err != nil {
			unix.Close(fd)
			unix.Unlinkat(dir, name, 0)
			return err
		}
		p.noteOpen(ctx)
		fh = newPlainHandle(fd, release)
		return nil
	})
	if errno != 0 {
		release()
	}
	return n, fh, 0, errno
}

var _ = (gofs.NodeTmpfiler)((*plain)(nil))

func (p *plain) Tmpfile(ctx context.Context, flags, mode uint32, out *fuse.EntryOut) (n *gofs.Inode, fh gofs.FileHandle, ff uint32, errno syscall.Errno) {
	release, errno := p.reserve(ctx)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	errno = p.in("", func(dir int, self *unix.Statx_t) error {
		fd, err := beneath.At(dir, ".", openFlags(flags)|unix.O_TMPFILE|unix.O_CLOEXEC, mode&0o7777)
		if err != nil {
			return err
		}
		if p.t.asRoot {
			c := callerOf(ctx)
			err = unix.Fchown(fd, int(c.Uid), int(c.Gid))
		}
		var x *unix.Statx_t
		if err == nil {
			x, err = beneath.Stat(fd)
		}
		if err != nil {
			unix.Close(fd)
			return err
		}
		p.t.setPlainEntry(out, x)
		p.noteOpen(ctx)
		n, fh = p.child(ctx, x), newPlainHandle(fd, release)
		return nil
	})
	if errno != 0 {
		release()
	}
	return n, fh, 0, errno
}

func (p *plain) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (n *gofs.Inode, errno syscall.Errno) {
	if hidden(name) {
		return nil, syscall.EPERM
	}
	errno = p.in(name, func(dir int, self *unix.Statx_t) error {
		err := unix.Symlinkat(target, dir, name)
		if err != nil {
			return err
		}
		if err = p.give(ctx, dir, name, self); err == nil {
			n, err = p.added(ctx, dir, name, out)
		}
		return err
	})
	return n, errno
}

func (p *plain) Link(ctx context.Context, target gofs.InodeEmbedder, name string, out *fuse.EntryOut) (n *gofs.Inode, errno syscall.Errno) {
	if log, ok := target.(*logFile); ok {
		return nil, log.denyLink(ctx)
	}
	from, ok := target.(*plain)
	if !ok || hidden(name) {
		return nil, syscall.EPERM // what a session has, it has once
	}
	errno = p.in(name, func(dir int, _ *unix.Statx_t) error {
		fd, _, err := from.open(unix.O_PATH)
		if errors.Is(err, os.ErrNotExist) {
			return syscall.EXDEV // made with O_TMPFILE: there is no name to link it from
		}
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Linkat(unix.AT_FDCWD, procPath(fd), dir, name, unix.AT_SYMLINK_FOLLOW); err != nil {
			return err
		}
		n, err = p.added(ctx, dir, name, out)
		return err
	})
	return n, errno
}

func (p *plain) Unlink(ctx context.Context, name string) syscall.Errno {
	return p.in(name, func(dir int, _ *unix.Statx_t) error { return unix.Unlinkat(dir, name, 0) })
}

func (p *plain) Rmdir(ctx context.Context, name string) syscall.Errno {
	var last *unix.Statx_t
	errno := p.in(name, func(dir int, _ *unix.Statx_t) (err error) {
		if last, err = statName(dir, name); err != nil {
			return err
		}
		return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	})
	if child := p.GetChild(name); errno == 0 && child != nil {
		if n, ok := child.Operations().(plainer); ok && n.base().ino == last.Ino {
			n.base().gone.Store(last)
		}
	}
	return errno
}

// reservedInHome reports whether name is one of an agent's home that is not an ordinary file.
func reservedInHome(name string) bool {
	return name == ctxabi.SessionDir || name == ctxabi.HomeSearchDir
}
