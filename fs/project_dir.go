package fs

import (
	"context"
	"path"
	"slices"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/project"
	"github.com/ctxfs/ctxfs/session"
)

// projectsDir is home/<uid>/project. Each name that a workspace can have is there; it lists those that
// sessions of the user have, and those that somebody wrote notes of.
type projectsDir struct{ storeDir }

func (d *projectsDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if _, ok := ctxabi.ParseProjectSlug(name); !ok {
		return nil, syscall.ENOENT
	}
	rel := path.Join(d.rel, name)
	n := &projectDir{guardedDir: guardedDir{plain: plain{t: d.t}}, realm: d.realm, slug: name}
	n.guard = n.refused
	d.realm.fill(&out.Attr, rel)
	cacheFixed(out)
	return d.NewInode(ctx, n, treeAttr(modeDir, rel)), 0
}

// Mkdir returns EEXIST for the name of a workspace, because mkdir -p asks for every directory on its way.
func (d *projectsDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if _, ok := ctxabi.ParseProjectSlug(name); !ok {
		return nil, syscall.EINVAL
	}
	return nil, syscall.EEXIST
}

func (d *projectsDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	var slugs []string
	for _, m := range d.realm.t.builder.Workspaces(d.realm.t.store, d.ref.UID) {
		if slug, err := ctxabi.ProjectSlug(m.Dir); err == nil {
			slugs = append(slugs, slug)
		}
	}
	noted, err := d.realm.t.names(d.rel)
	if err != nil {
		return nil, errnoOf(err)
	}
	for _, e := range noted {
		if files, err := d.realm.t.names(path.Join(d.rel, e.Name())); err == nil && len(files) > 0 {
			slugs = append(slugs, e.Name())
		}
	}
	slices.Sort(slugs)
	var list []fuse.DirEntry
	for _, slug := range slices.Compact(slugs) {
		list = append(list, dirEntry(slug, treeAttr(modeDir, path.Join(d.rel, slug))))
	}
	return listing(d.StableAttr(), list), 0
}

// projectDir is the directory of a workspace. It always has memory.md; all else in it is ordinary files of
// the user. It is on the disk from the first of them on.
type projectDir struct {
	guardedDir
	realm
	slug string
}

func (d *projectDir) dir() string { return session.ProjectPath(d.ref.UID, d.slug) }

func (d *projectDir) kindOf(name string) nameKind {
	switch {
	case name == ctxabi.ProjectMemoryFile:
		return derivedName
	case hidden(name):
		return protected
	}
	return ordinary
}

// refused is the guard of the directory, which is made for the first file in it.
func (d *projectDir) refused(ctx context.Context, op, name string) syscall.Errno {
	switch d.kindOf(name) {
	case derivedName:
		d.realm.t.log.Debug("refused", "op", op, "file", path.Join(d.dir(), name), "reason", "ctxfs makes it from the sessions of the workspace; write "+ctxabi.ProjectNotesFile)
		return syscall.EACCES
	case protected:
		return syscall.EPERM
	}
	if op == "unlink" || op == "rmdir" {
		return 0
	}
	if _, err := d.realm.t.stat(d.dir()); err == nil {
		return 0
	}
	return errnoOf(d.realm.t.store.EnsureProject(d.ref.UID, d.maker(ctx).GID, d.slug))
}

func (d *projectDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	d.realm.fill(&out.Attr, d.dir())
	out.SetTimeout(fixedTimeout)
	return 0
}

func (d *projectDir) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return syscall.EPERM
}

func (d *projectDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if name != ctxabi.ProjectMemoryFile {
		return d.plain.Lookup(ctx, name, out)
	}
	s := &projectMemory{realm: d.realm, slug: d.slug}
	if errno := s.fill(ctx, nil, &out.Attr); errno != 0 {
		return nil, errno
	}
	out.SetEntryTimeout(fixedTimeout)
	return d.NewInode(ctx, newView(s), treeAttr(modeFile, path.Join(d.dir(), name))), 0
}

func (d *projectDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	list := []fuse.DirEntry{dirEntry(ctxabi.ProjectMemoryFile, treeAttr(modeFile, path.Join(d.dir(), ctxabi.ProjectMemoryFile)))}
	names, err := d.realm.t.names(d.dir())
	if err != nil {
		return nil, errnoOf(err)
	}
	for _, e := range names {
		if d.kindOf(e.Name()) == ordinary {
			list = append(list, fuse.DirEntry{Name: e.Name(), Mode: unixType(e)})
		}
	}
	return listing(d.StableAttr(), list), 0
}

// OpendirHandle lists the directory once for an open, as [sessionDir.OpendirHandle] does.
func (d *projectDir) OpendirHandle(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	ds, errno := d.Readdir(ctx)
	return ds, 0, errno
}

// Tmpfile makes the directory first, as all that makes a file does.
func (d *projectDir) Tmpfile(ctx context.Context, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	if errno := d.refused(ctx, "create", ""); errno != 0 {
		return nil, nil, 0, errno
	}
	return d.plain.Tmpfile(ctx, flags, mode, out)
}

func (d *projectDir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return rename(ctx, d, name, newParent, newName, flags)
}

// projectMemory is memory.md of a workspace: made from the sessions of the user that have it, at each stat
// and each open. Nobody who is not the user may look.
type projectMemory struct {
	derivedFacts
	changingSource
	realm
	slug string
}

func (s *projectMemory) text(ctx context.Context) (string, time.Time, error) {
	late, cancel := patient(ctx)
	defer cancel()
	text, at, err := s.t.builder.ProjectMemory(late, s.t.store, s.ref.UID, s.slug, "", project.MaxMemory)
	if at.IsZero() {
		at = s.t.started
	}
	return text, at, err
}

func (s *projectMemory) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	text, at, err := s.text(ctx)
	if err != nil {
		return errnoOf(err)
	}
	o := s.owner()
	o.setFile(a, o.readMode(), int64(len(text)), at)
	return 0
}

func (s *projectMemory) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	text, _, err := s.text(ctx)
	if err != nil {
		return nil, errnoOf(err)
	}
	return bytesHandle(text), 0
}
