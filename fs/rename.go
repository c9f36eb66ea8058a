package fs

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/session"
)

// A rename goes from one name to another. Each stands for an ordinary file, or for a file of a
// session with rules of its own. The rules of renames are here and nowhere else:
//
//	ordinary → ordinary  the disk renames
//	ordinary → control   the content is checked like a write; then the source is removed
//	control  → ordinary  the content moves there; the control file is as after rm
//	control  → control   both of the above
//	anything else        refused: history, derived files and directories stay where they are

// directory is a node in which files can be renamed.
type directory interface {
	plainer
	kindOf(name string) nameKind
	session() *mountedSession // the session the directory is in, or nil
	rel(name string) string   // name as the session calls it
}

func (p *plain) session() *mountedSession { return nil }

func (p *plain) rel(name string) string { return name }

func (p *plain) kindOf(name string) nameKind {
	if hidden(name) {
		return protected
	}
	return ordinary
}

func (p *plain) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return rename(ctx, p, name, newParent, newName, flags)
}

func rename(ctx context.Context, from directory, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ok := newParent.(directory)
	if _, blobs := newParent.(*blobDir); blobs {
		return syscall.EXDEV // mv copies then, and what it copies is checked
	}
	if !ok {
		return syscall.EPERM
	}
	a, b := from.kindOf(name), to.kindOf(newName)
	switch {
	case a == ordinary && b == ordinary:
		return renamePlain(from, name, to, newName, flags)
	case !a.moves() || !b.moves():
		kind, why := ctxabi.ErrProtected, "it is part of the session; only ordinary and control files can be renamed"
		if a.derived() || b.derived() {
			kind, why = ctxabi.ErrReadOnly, "ctxfs makes it from the session; it cannot be replaced or renamed"
		}
		at, file := from.session(), name
		if a.moves() {
			at, file = to.session(), newName
		}
		if at == nil {
			return errnoOf(kind)
		}
		dir := from
		if at == to.session() && file == newName {
			dir = to
		}
		return at.refuse(ctx, "rename", dir.rel(file), ctxabi.E("rename", dir.rel(file), kind, "%s", why))
	case flags&unix.RENAME_EXCHANGE != 0:
		return syscall.EINVAL
	}
	return renameControl(ctx, from, name, a, to, newName, b, flags)
}

func renamePlain(from directory, name string, to directory, newName string, flags uint32) syscall.Errno {
	if flags&^(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE) != 0 {
		return syscall.EINVAL
	}
	if to.session() != nil {
		// A session's directories hold files, so that nothing of it hides in a tree of its own.
		x, err := from.base().t.stat(path.Join(storePath(from.EmbeddedInode()), name))
		if handles.IsShort(err) {
			return errnoOf(err)
		}
		if err == nil && x.Mode&syscall.S_IFMT == syscall.S_IFDIR {
			return syscall.EPERM
		}
	}
	return from.base().inRename(name, func(d1 int, _ *unix.Statx_t) error {
		return errnoErr(to.base().inRename(newName, func(d2 int, _ *unix.Statx_t) error {
			return unix.Renameat2(d1, name, d2, newName, uint(flags))
		}))
	})
}

// errnoErr keeps a zero errno from becoming a non-nil error.
func errnoErr(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

func renameControl(ctx context.Context, from directory, name string, a nameKind, to directory, newName string, b nameKind, flags uint32) syscall.Errno {
	if flags&unix.RENAME_NOREPLACE != 0 {
		_, err := to.base().t.stat(path.Join(storePath(to.EmbeddedInode()), newName))
		if handles.IsShort(err) {
			return errnoOf(err)
		}
		if err == nil {
			return syscall.EEXIST
		}
	}
	var data []byte
	var err error
	if a == control {
		if err := from.session().checkHistory("rename", from.rel(name), nil, ctxabi.DefaultPolicy(), callerOf(ctx).Uid); err != nil {
			return from.session().refuse(ctx, "rename", from.rel(name), err)
		}
		data, err = from.session().content(ctx, from.rel(name))
	} else {
		data, err = readOrdinary(from, name)
	}
	if err != nil {
		return errnoOf(err)
	}
	if b == control {
		if errno := to.session().commit(ctx, "rename", to.rel(newName), data); errno != 0 {
			return errno
		}
	} else if err := writeOrdinary(ctx, to, newName, data); err != nil {
		return errnoOf(err)
	}
	if a == control {
		if rel := from.rel(name); session.IsNote(rel) {
			return from.session().removeNote(ctx, rel)
		}
		return errnoOf(from.session().drop(ctx, from.rel(name)))
	}
	return from.base().inRename(name, func(dir int, _ *unix.Statx_t) error { return unix.Unlinkat(dir, name, 0) })
}

// readOrdinary reads an ordinary file that is to become a control file.
func readOrdinary(d directory, name string) (data []byte, err error) {
	errno := d.base().inRename(name, func(dir int, _ *unix.Statx_t) error {
		fd, err := beneath.At(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), name)
		defer f.Close()
		fi, err := f.Stat()
		if err != nil {
			return err
		}
		if !fi.Mode().IsRegular() {
			return syscall.EPERM
		}
		data, err = io.ReadAll(io.LimitReader(f, ctxabi.MaxControl+1))
		return err
	})
	return data, errnoErr(errno)
}

// writeOrdinary puts data into an ordinary file, replacing what was there.
func writeOrdinary(ctx context.Context, d directory, name string, data []byte) error {
	p := d.base()
	return errnoErr(p.inRename(name, func(dir int, self *unix.Statx_t) error {
		if err := unix.Unlinkat(dir, name, 0); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		fd, err := beneath.At(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), name)
		defer f.Close()
		if _, err := f.Write(data); err != nil {
			return err
		}
		if err := p.give(ctx, dir, name, self); err != nil {
			return err
		}
		return p.chmodNew(dir, name, p.newMode(0o600, false))
	}))
}
