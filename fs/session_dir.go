package fs

import (
	"context"
	"path"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// sessionDir is a session's directory, its context/, its context/pinned/ or the directory of a
// child: the names of the table, and beside them the scratch files of editors.
type sessionDir struct {
	plain
	p    *mountedSession
	here string // relative to the session: "", "context", "context/pinned"; of a child's directory the one it is in
}

func sessionDirNode(p *mountedSession, rel string) tableNode {
	return &sessionDir{plain: plain{t: p.t}, p: p, here: rel}
}

func (d *sessionDir) session() *mountedSession { return d.p }

// dir returns the directory's path relative to the session. The one of a child has the name that
// the child has now.
func (d *sessionDir) dir() string {
	if d.here != ctxabi.ChildDir {
		return d.here
	}
	name, _ := d.Parent()
	return path.Join(d.here, name)
}

func (d *sessionDir) rel(name string) string { return path.Join(d.dir(), name) }

// entry returns the row of name in this directory.
func (d *sessionDir) entry(name string) *entry { return entryOf(d.rel(name)) }

func (d *sessionDir) kindOf(name string) nameKind { return d.entry(name).kind }

func (d *sessionDir) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	x, err := d.p.stat(d.dir())
	switch {
	case err == nil:
		attrFromStatx(a, x)
	case d.here == "" || d.here == ctxabi.ChildDir:
		return errnoOf(err)
	default:
		d.p.own.setDir(a, d.p.own.dirMode(), d.p.x.Created())
	}
	return 0
}

func (d *sessionDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.SetTimeout(fixedTimeout)
	return d.fill(ctx, f, &out.Attr)
}

func (d *sessionDir) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := d.Getattr(ctx, f, out); errno != 0 {
		return errno
	}
	mode, chmod := in.GetMode()
	if chmod && mode&0o777 != out.Mode&0o777 || !sameOwner(in, &out.Attr) {
		return d.p.deny(ctx, "chmod", d.dir(), ctxabi.ErrProtected, "owner and mode of a session's directories are fixed")
	}
	if in.Valid&(fuse.FATTR_ATIME|fuse.FATTR_MTIME) != 0 && !chmod {
		return d.plain.Setattr(ctx, nil, in, out)
	}
	return 0
}

func (d *sessionDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	rel := d.rel(name)
	e := entryOf(rel)
	if !e.disk {
		return d.p.lookup(ctx, d.EmbeddedInode(), e, rel, out)
	}
	n, errno := d.plain.Lookup(ctx, name, out)
	if e.kind == ordinary {
		out.SetEntryTimeout(0) // it may be renamed over a control file at any moment
	}
	return n, errno
}

func (d *sessionDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	var list []fuse.DirEntry
	for _, e := range alwaysIn(d.dir()) {
		list = append(list, dirEntry(e.name(), d.p.attr(e.mode, d.rel(e.name()))))
	}
	names, err := d.t.names(d.p.path(d.dir()))
	if err != nil {
		return nil, errnoOf(err)
	}
	for _, f := range names {
		switch e := d.entry(f.Name()); {
		case e.always:
		case e.kind == control:
			list = append(list, dirEntry(f.Name(), d.p.attr(e.mode, d.rel(f.Name()))))
		case e.disk:
			list = append(list, fuse.DirEntry{Name: f.Name(), Mode: unixType(f)})
		}
	}
	return listing(d.StableAttr(), list), 0
}

// OpendirHandle lists the directory once for an open, so that a rename of an editor does not move
// entries under a reader.
func (d *sessionDir) OpendirHandle(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	d.p.noteOpen(ctx, "")
	ds, errno := d.Readdir(ctx)
	return ds, 0, errno
}

// refused returns the errno of a request to make or remove name, and 0 if name is an ordinary
// file's.
func (d *sessionDir) refused(ctx context.Context, op, name string) syscall.Errno {
	if k := d.kindOf(name); k != ordinary {
		return k.refuse(ctx, d.p, op, d.rel(name))
	}
	return 0
}

func (d *sessionDir) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	rel := d.rel(name)
	if d.kindOf(name) == control {
		n := &controlFile{p: d.p, rel: rel}
		if d.p.exists(rel) {
			if flags&syscall.O_EXCL != 0 {
				return nil, nil, 0, syscall.EEXIST
			}
			return nil, nil, 0, syscall.ESTALE // made since the kernel looked: it looks the name up again
		}
		d.p.noteOpen(ctx, rel)
		h, _ := n.newHandle(ctx, flags|syscall.O_TRUNC)
		d.p.own.setFile(&out.Attr, d.p.own.fileMode(), 0, d.p.x.Updated())
		return d.NewInode(ctx, n, d.p.attr(syscall.S_IFREG, rel)), h, fuse.FOPEN_DIRECT_IO, 0
	}
	if errno := d.refused(ctx, "create", name); errno != 0 {
		return nil, nil, 0, errno
	}
	n, fh, ff, errno := d.plain.Create(ctx, name, flags, mode, out)
	out.SetEntryTimeout(0)
	return n, fh, ff, errno
}

func (d *sessionDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	e, why := d.entry(name), "a session has its own directories; put others in the agent's home"
	switch {
	case e.mode == modeDir && e.disk: // it was removed before
		return d.plain.Mkdir(ctx, name, mode, out)
	case e.mode == modeDir:
		return nil, syscall.EEXIST
	case d.here == ctxabi.ChildDir:
		why = "a child has its own files; put directories below artifact"
	}
	return nil, d.p.deny(ctx, "mkdir", d.rel(name), ctxabi.ErrProtected, why)
}

func (d *sessionDir) Mknod(ctx context.Context, name string, mode, rdev uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if errno := d.refused(ctx, "mknod", name); errno != 0 {
		return nil, errno
	}
	n, errno := d.plain.Mknod(ctx, name, mode, rdev, out)
	out.SetEntryTimeout(0)
	return n, errno
}

// Symlink makes the links with which some editors lock a file.
func (d *sessionDir) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if errno := d.refused(ctx, "symlink", name); errno != 0 {
		return nil, errno
	}
	n, errno := d.plain.Symlink(ctx, target, name, out)
	out.SetEntryTimeout(0)
	return n, errno
}

func (d *sessionDir) Link(ctx context.Context, target gofs.InodeEmbedder, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if errno := d.refused(ctx, "link", name); errno != 0 {
		return nil, errno
	}
	switch from := target.(type) {
	case *logFile:
		return nil, from.denyLink(ctx)
	case *plain:
		n, errno := d.plain.Link(ctx, target, name, out)
		out.SetEntryTimeout(0)
		return n, errno
	}
	return nil, syscall.EPERM
}

func (d *sessionDir) Unlink(ctx context.Context, name string) syscall.Errno {
	rel := d.rel(name)
	switch k := d.kindOf(name); {
	case k == ordinary:
		return d.plain.Unlink(ctx, name)
	case k == built:
		d.t.builder.Drop(d.p.x)
		return d.p.removedBy(ctx, rel)
	case k != control:
		return k.refuse(ctx, d.p, "remove", rel)
	case session.IsNote(rel):
		return d.p.removeNote(ctx, rel)
	}
	err := d.p.drop(ctx, rel)
	if err == nil && ctxabi.IsChildFile(rel) {
		return d.p.removedBy(ctx, rel)
	}
	return errnoOf(err)
}

func (d *sessionDir) Rmdir(ctx context.Context, name string) syscall.Errno {
	if e := d.entry(name); e.mode == modeDir && e.disk {
		return d.plain.Rmdir(ctx, name)
	}
	return d.p.deny(ctx, "rmdir", d.rel(name), ctxabi.ErrProtected, "it is part of the session, which its owner removes as a whole with ctxfs session rm")
}

func (d *sessionDir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return rename(ctx, d, name, newParent, newName, flags)
}

// Tmpfile returns ENOTSUP, because no rule would check such a file.
func (d *sessionDir) Tmpfile(ctx context.Context, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	return nil, nil, 0, syscall.ENOTSUP
}

func (d *sessionDir) Removexattr(ctx context.Context, name string) syscall.Errno {
	return noXattrs{}.Removexattr(ctx, name)
}
