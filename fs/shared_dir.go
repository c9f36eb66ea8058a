package fs

import (
	"context"
	"errors"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/session/disk"
)

// What is made, removed and renamed among files that hosts share. Each is looked at on the disk first, because
// what is committed cannot be refused any more, then committed, then done. The disk may say more than the
// hosts: that there are files of this host alone in a directory.

// newOwner returns to whom a new file in the open directory with the attributes self belongs, and its mode.
func (p *plain) newOwner(ctx context.Context, mode uint32, self *unix.Statx_t, dir bool) disk.Owner {
	o := disk.Owner{UID: p.t.uid, GID: p.t.gid, Mode: p.newMode(mode&0o7777, dir)}
	if p.t.asRoot {
		c := callerOf(ctx)
		o.UID, o.GID = c.Uid, c.Gid
	}
	if self.Mode&unix.S_ISGID != 0 {
		o.GID = self.Gid
		if dir {
			o.Mode |= unix.S_ISGID
		}
	}
	return o
}

// free returns EEXIST if there is something called name in an open directory.
func free(dir int, name string) error {
	if _, err := statName(dir, name); err == nil {
		return syscall.EEXIST
	}
	return nil
}

// mkdirShared makes the directory name, whose path in the store is rel.
func (p *plain) mkdirShared(ctx context.Context, name, rel string, mode uint32, out *fuse.EntryOut) (n *gofs.Inode, errno syscall.Errno) {
	errno = p.in(name, func(dir int, self *unix.Statx_t) error {
		if err := free(dir, name); err != nil {
			return err
		}
		o := p.newOwner(ctx, mode, self, true)
		err := p.t.files.Mkdir(ctx, rel, o, func() error {
			err := unix.Mkdirat(dir, name, o.Mode&0o7777)
			if err == nil {
				n, err = p.finish(ctx, dir, name, o.Mode, self, out)
			}
			return err
		})
		if err == nil && n == nil {
			n, err = p.added(ctx, dir, name, out)
		}
		return err
	})
	return n, errno
}

// symlinkShared makes the symbolic link name, whose path in the store is rel.
func (p *plain) symlinkShared(ctx context.Context, target, name, rel string, out *fuse.EntryOut) (n *gofs.Inode, errno syscall.Errno) {
	errno = p.in(name, func(dir int, self *unix.Statx_t) error {
		if err := free(dir, name); err != nil {
			return err
		}
		err := p.t.files.Symlink(ctx, rel, target, p.newOwner(ctx, 0, self, false), func() error {
			err := unix.Symlinkat(target, dir, name)
			if err == nil {
				err = p.give(ctx, dir, name, self)
			}
			return err
		})
		if err == nil {
			n, err = p.added(ctx, dir, name, out)
		}
		return err
	})
	return n, errno
}

// unlinkShared removes the file name, whose path in the store is rel, from an open directory.
func (t *tree) unlinkShared(ctx context.Context, dir int, name, rel string) error {
	x, err := statName(dir, name)
	if err != nil {
		return err
	}
	if x.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return syscall.EISDIR
	}
	return t.removeShared(ctx, dir, name, rel, x)
}

// rmdirShared is unlinkShared for a directory.
func (t *tree) rmdirShared(ctx context.Context, dir int, name, rel string) error {
	x, err := statName(dir, name)
	if err != nil {
		return err
	}
	if x.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return syscall.ENOTDIR
	}
	if full, err := t.hasFiles(rel); full || err != nil {
		return errors.Join(syscall.ENOTEMPTY, err)
	}
	err = t.removeShared(ctx, dir, name, rel, x)
	if errors.Is(err, ctxabi.ErrExists) {
		return syscall.ENOTEMPTY
	}
	return err
}

func (t *tree) removeShared(ctx context.Context, dir int, name, rel string, x *unix.Statx_t) error {
	isDir := x.Mode&syscall.S_IFMT == syscall.S_IFDIR
	flags := 0
	if isDir {
		flags = unix.AT_REMOVEDIR
	}
	err := t.files.Remove(ctx, rel, isDir, func() error { return unix.Unlinkat(dir, name, flags) })
	if err != nil {
		return err
	}
	if left, err := statName(dir, name); err == nil && inodeOf(left) == inodeOf(x) {
		return unix.Unlinkat(dir, name, flags) // of this host alone by now
	}
	t.shared.removed(x)
	return nil
}

// hasFiles reports whether there is something in a directory of the store that a mount shows. It returns the
// error of the disk.
func (t *tree) hasFiles(rel string) (bool, error) {
	list, err := t.names(rel)
	return len(list) > 0, err
}

// renameShared renames where hosts share files: at least one of the names is not in a session.
func renameShared(ctx context.Context, from directory, name string, to directory, newName string, flags uint32) syscall.Errno {
	t := from.base().t
	a, aShared := from.base().named(name)
	b, bShared := to.base().named(newName)
	if flags&unix.RENAME_EXCHANGE != 0 {
		if aShared || bShared {
			return syscall.EINVAL
		}
		return renameDisk(from, name, to, newName, flags)
	}
	keep := flags&unix.RENAME_NOREPLACE != 0
	return from.base().inRename(name, func(d1 int, _ *unix.Statx_t) error {
		return errnoErr(to.base().inRename(newName, func(d2 int, _ *unix.Statx_t) error {
			x, y, err := t.mayRename(d1, name, d2, newName, b, keep)
			if err != nil || y != nil && inodeOf(x) == inodeOf(y) {
				return err
			}
			if err := t.saveNamed(ctx, d1, name, a, x); err != nil {
				return err
			}
			var done error
			crosses, err := t.files.Rename(ctx, a, b, keep, func() error {
				done = unix.Renameat2(d1, name, d2, newName, uint(flags))
				return done
			})
			switch {
			case crosses:
				return syscall.EXDEV
			case err != nil:
				if errors.Is(err, ctxabi.ErrExists) && x.Mode&syscall.S_IFMT == syscall.S_IFDIR && !keep {
					return syscall.ENOTEMPTY
				}
				return err
			}
			if done != nil && !aShared && !bShared {
				return done
			}
			t.shared.removed(y)
			return nil
		}))
	})
}

// mayRename returns the attributes of what is renamed and of what it replaces, nil if that is nothing, and the
// error with which a disk refuses the rename. b is the new path in the store.
func (t *tree) mayRename(d1 int, name string, d2 int, newName, b string, keep bool) (x, y *unix.Statx_t, err error) {
	if x, err = statName(d1, name); err != nil {
		return nil, nil, err
	}
	if y, err = statName(d2, newName); err != nil {
		return x, nil, nil
	}
	dir := x.Mode&syscall.S_IFMT == syscall.S_IFDIR
	onto := y.Mode&syscall.S_IFMT == syscall.S_IFDIR
	switch {
	case keep:
		return x, y, syscall.EEXIST
	case inodeOf(x) == inodeOf(y):
		return x, y, nil
	case dir && !onto:
		return x, y, syscall.ENOTDIR
	case !dir && onto:
		return x, y, syscall.EISDIR
	case onto:
		if full, err := t.hasFiles(b); full || err != nil {
			return x, y, errors.Join(syscall.ENOTEMPTY, err)
		}
	}
	return x, y, nil
}

// saveNamed commits a file that somebody has open and changed, before it is renamed: it is known by its old name
// then, and by no other.
func (t *tree) saveNamed(ctx context.Context, dir int, name, rel string, x *unix.Statx_t) error {
	f := t.shared.of(inodeOf(x))
	if f == nil || !f.changed() {
		return nil
	}
	fd, err := beneath.At(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return t.save(ctx, f, fd, rel)
}

// sharedAttr answers a Getxattr of user.ctx.shared: whether other hosts see the file.
func (p *plain) sharedAttr(dest []byte) (uint32, syscall.Errno) {
	if p.t.files == nil {
		return 0, syscall.ENODATA
	}
	answer := "no"
	errno := p.with(func(_ int, x *unix.Statx_t) error {
		_, shared := p.named("")
		kind := uint32(x.Mode) & syscall.S_IFMT
		if shared && (kind == syscall.S_IFDIR || kind == syscall.S_IFLNK || kind == syscall.S_IFREG && x.Size <= maxShared) {
			answer = "yes"
		}
		return nil
	})
	if errno != 0 {
		return 0, errno
	}
	return putXattr(dest, []byte(answer))
}

// maxShared is how many bytes a file may have that hosts share.
const maxShared = 256 << 10

// rmdirAgent removes the home of an agent, which is empty, by local, here and elsewhere.
func (t *tree) rmdirAgent(ctx context.Context, rel string, local func() error) error {
	if t.files == nil {
		return local()
	}
	err := t.files.RemoveAgent(ctx, rel, local)
	if errors.Is(err, ctxabi.ErrExists) {
		return syscall.ENOTEMPTY
	}
	return err
}
