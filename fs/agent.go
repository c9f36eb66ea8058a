package fs

import (
	"context"
	"path"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// agentDir is an agent's home: an ordinary directory that always has `session` and, though it does
// not list it, `search`.
type agentDir struct {
	guardedDir
	realm
}

func (d *agentDir) kindOf(name string) nameKind {
	if hidden(name) || reservedInHome(name) {
		return protected
	}
	return ordinary
}

func (d *agentDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if name == ctxabi.HomeSearchDir {
		return d.lookupSearch(ctx, d.EmbeddedInode(), out)
	}
	if name != ctxabi.SessionDir {
		return d.plain.Lookup(ctx, name, out)
	}
	n := &sessionsDir{storeDir{realm: d.realm, rel: path.Join(d.ref.AgentHome(), ctxabi.SessionDir)}}
	return n.node(ctx, d.EmbeddedInode(), n, out), 0
}

// refused is the guard of the directory.
func (d *agentDir) refused(_ context.Context, op, name string) syscall.Errno {
	switch {
	case op == "mkdir" && reservedInHome(name):
		return syscall.EEXIST
	case d.kindOf(name) != ordinary:
		return syscall.EPERM
	}
	return 0
}

func (d *agentDir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return rename(ctx, d, name, newParent, newName, flags)
}

// guardedDir is an ordinary directory in which not every name may be made or removed.
type guardedDir struct {
	plain
	// guard returns the errno of a request to make or remove name, and 0 for an ordinary file, for which it prepares the directory.
	guard func(ctx context.Context, op, name string) syscall.Errno
}

func (d *guardedDir) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	if errno := d.guard(ctx, "create", name); errno != 0 {
		return nil, nil, 0, errno
	}
	return d.plain.Create(ctx, name, flags, mode, out)
}

func (d *guardedDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if errno := d.guard(ctx, "mkdir", name); errno != 0 {
		return nil, errno
	}
	return d.plain.Mkdir(ctx, name, mode, out)
}

func (d *guardedDir) Mknod(ctx context.Context, name string, mode, rdev uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if errno := d.guard(ctx, "mknod", name); errno != 0 {
		return nil, errno
	}
	return d.plain.Mknod(ctx, name, mode, rdev, out)
}

func (d *guardedDir) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if errno := d.guard(ctx, "symlink", name); errno != 0 {
		return nil, errno
	}
	return d.plain.Symlink(ctx, target, name, out)
}

func (d *guardedDir) Link(ctx context.Context, target gofs.InodeEmbedder, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if errno := d.guard(ctx, "link", name); errno != 0 {
		return nil, errno
	}
	return d.plain.Link(ctx, target, name, out)
}

func (d *guardedDir) Unlink(ctx context.Context, name string) syscall.Errno {
	if errno := d.guard(ctx, "unlink", name); errno != 0 {
		return errno
	}
	return d.plain.Unlink(ctx, name)
}

func (d *guardedDir) Rmdir(ctx context.Context, name string) syscall.Errno {
	if errno := d.guard(ctx, "rmdir", name); errno != 0 {
		return errno
	}
	return d.plain.Rmdir(ctx, name)
}

// sessionsDir is agent/<agent>/session. Mkdir there makes a session.
type sessionsDir struct{ storeDir } // ref.Agent is set

func (d *sessionsDir) at(name string) ctxabi.Ref {
	ref := d.ref
	ref.Session = name
	return ref
}

func (d *sessionsDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if ctxabi.ValidName(name) != nil {
		return nil, syscall.ENOENT
	}
	x, err := d.t.store.Session(d.at(name))
	if err != nil {
		return nil, errnoOf(err)
	}
	pl, err := newMountedSession(d.t, x)
	if err != nil {
		return nil, errnoOf(err)
	}
	return pl.lookup(ctx, d.EmbeddedInode(), entryOf(""), "", out)
}

func (d *sessionsDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if err := ctxabi.ValidName(name); err != nil {
		d.t.log.Debug("refused", "op", "mkdir", "reason", err)
		return nil, errnoOf(err)
	}
	if _, err := d.t.store.Create(d.at(name), d.maker(ctx)); err != nil {
		return nil, errnoOf(err)
	}
	return d.Lookup(ctx, name, out)
}

// Rename changes the name of a session, or moves it to another agent of the same owner: its files
// are found by its id. It never replaces a session.
func (d *sessionsDir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ok := newParent.(*sessionsDir)
	if !ok || to.ref.Owner() != d.ref.Owner() {
		return syscall.EPERM
	}
	if err := ctxabi.ValidName(newName); err != nil {
		return errnoOf(err)
	}
	if flags&^unix.RENAME_NOREPLACE != 0 || ctxabi.ValidName(name) != nil {
		return syscall.EINVAL
	}
	return errnoOf(d.t.store.Rename(d.at(name).Path(), to.at(newName).Path()))
}

// Rmdir refuses, and reports the reason in the session's errors.jsonl.
func (d *sessionsDir) Rmdir(ctx context.Context, name string) syscall.Errno {
	x, err := d.t.store.Session(d.at(name))
	if err != nil {
		return errnoOf(err)
	}
	p := mountedSession{t: d.t, x: x}
	return p.deny(ctx, "rmdir", "", ctxabi.ErrProtected, "a session is history; its owner removes it with ctxfs session rm")
}

func (d *sessionsDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	return d.t.list(d.StableAttr(), d.rel, func(name string) (gofs.StableAttr, bool) {
		return gofs.StableAttr{Mode: syscall.S_IFDIR}, ctxabi.ValidName(name) == nil
	})
}
