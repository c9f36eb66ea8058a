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
	plain
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

func (d *agentDir) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	if d.kindOf(name) != ordinary {
		return nil, nil, 0, syscall.EPERM
	}
	return d.plain.Create(ctx, name, flags, mode, out)
}

func (d *agentDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if reservedInHome(name) {
		return nil, syscall.EEXIST
	}
	if d.kindOf(name) != ordinary {
		return nil, syscall.EPERM
	}
	return d.plain.Mkdir(ctx, name, mode, out)
}

func (d *agentDir) Mknod(ctx context.Context, name string, mode, rdev uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if d.kindOf(name) != ordinary {
		return nil, syscall.EPERM
	}
	return d.plain.Mknod(ctx, name, mode, rdev, out)
}

func (d *agentDir) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if d.kindOf(name) != ordinary {
		return nil, syscall.EPERM
	}
	return d.plain.Symlink(ctx, target, name, out)
}

func (d *agentDir) Link(ctx context.Context, target gofs.InodeEmbedder, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if d.kindOf(name) != ordinary {
		return nil, syscall.EPERM
	}
	return d.plain.Link(ctx, target, name, out)
}

func (d *agentDir) Unlink(ctx context.Context, name string) syscall.Errno {
	if d.kindOf(name) != ordinary {
		return syscall.EPERM
	}
	return d.plain.Unlink(ctx, name)
}

func (d *agentDir) Rmdir(ctx context.Context, name string) syscall.Errno {
	if d.kindOf(name) != ordinary {
		return syscall.EPERM
	}
	return d.plain.Rmdir(ctx, name)
}

func (d *agentDir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return rename(ctx, d, name, newParent, newName, flags)
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
