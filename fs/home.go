package fs

import (
	"context"
	"path"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// realm is the part of the tree that belongs to one user, or to one shared space.
type realm struct {
	t   *tree
	ref ctxabi.Ref // Agent and Session are empty
}

// dir returns "home/1000" or "shared/team".
func (r realm) dir() string { return r.ref.Owner() }

// owner returns to whom the realm's directories belong. A home that does not exist yet belongs to
// its user.
func (r realm) owner() owner {
	o := owner{uid: r.ref.UID, gid: r.ref.UID, group: r.ref.Space != ""}
	if x, err := r.t.stat(r.dir()); err == nil {
		o.uid, o.gid = x.Uid, x.Gid
	} else if !r.t.asRoot {
		o.gid = r.t.gid
	}
	return o
}

// maker returns the owner of what the caller makes in the realm. What root makes in a home belongs
// to the home's user.
func (r realm) maker(ctx context.Context) disk.Owner {
	o, c := r.owner(), callerOf(ctx)
	switch {
	case o.group:
		return disk.Owner{UID: c.Uid, GID: o.gid, Mode: 0o2770}
	case c.Uid == r.ref.UID:
		return disk.Owner{UID: c.Uid, GID: c.Gid, Mode: 0o700}
	}
	return disk.Owner{UID: r.ref.UID, GID: o.gid, Mode: 0o700}
}

// fill fills in the attributes of the realm's directory rel, whether it is on the disk or not.
func (r realm) fill(a *fuse.Attr, rel string) {
	if x, err := r.t.stat(rel); err == nil && x.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		attrFromStatx(a, x)
		return
	}
	o := r.owner()
	o.setDir(a, o.dirMode(), r.t.started)
}

// storeDir is embedded by the directories of a realm that are always there, on the disk or not.
type storeDir struct {
	gofs.Inode
	denyDir
	realm
	rel string // in the store: "home/1000/agent"
}

func (d *storeDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	d.realm.fill(&out.Attr, d.rel)
	out.SetTimeout(fixedTimeout)
	return 0
}

// node answers a lookup of d with n, which embeds it.
func (d *storeDir) node(ctx context.Context, parent *gofs.Inode, n gofs.InodeEmbedder, out *fuse.EntryOut) *gofs.Inode {
	d.realm.fill(&out.Attr, d.rel)
	cacheFixed(out)
	return parent.NewInode(ctx, n, treeAttr(modeDir, d.rel))
}

// cacheFixed sets the timeouts of a directory that is always there.
func cacheFixed(out *fuse.EntryOut) {
	out.SetEntryTimeout(fixedTimeout)
	out.SetAttrTimeout(fixedTimeout)
}

// topDir is home/ or shared/. It belongs to whoever mounted.
type topDir struct {
	gofs.Inode
	denyDir
	t   *tree
	rel string
}

func (d *topDir) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	owner{uid: d.t.uid, gid: d.t.gid}.setDir(a, 0o755, d.t.dirTime(d.rel))
	return 0
}

func (d *topDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return d.fill(ctx, f, &out.Attr)
}

// usersDir is home/. Every uid resolves there, for everyone.
type usersDir struct{ topDir }

func (d *usersDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	uid, ok := ctxabi.ParseUID(name)
	if !ok {
		return nil, syscall.ENOENT
	}
	n := newRealmDir(realm{d.t, ctxabi.Ref{UID: uid}})
	return n.node(ctx, d.EmbeddedInode(), n, out), 0
}

// Mkdir returns EEXIST for a uid, because mkdir -p asks for every directory on its way.
func (d *usersDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if _, ok := ctxabi.ParseUID(name); !ok {
		return nil, syscall.EINVAL
	}
	return nil, syscall.EEXIST
}

func (d *usersDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	return d.t.list(d.StableAttr(), ctxabi.HomeDir, func(name string) (gofs.StableAttr, bool) {
		_, ok := ctxabi.ParseUID(name)
		return treeAttr(syscall.S_IFDIR, path.Join(ctxabi.HomeDir, name)), ok
	})
}

// list returns the listing of a directory of the store whose entries are directories. pick returns
// whether a name counts, and its identity.
func (t *tree) list(self gofs.StableAttr, rel string, pick func(name string) (gofs.StableAttr, bool)) (gofs.DirStream, syscall.Errno) {
	names, err := t.names(rel)
	if err != nil {
		return nil, errnoOf(err)
	}
	var list []fuse.DirEntry
	for _, e := range names {
		if attr, ok := pick(e.Name()); ok && e.IsDir() {
			list = append(list, dirEntry(e.Name(), attr))
		}
	}
	return listing(self, list), 0
}

// spacesDir is shared/.
type spacesDir struct{ topDir }

func (d *spacesDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if ctxabi.ValidName(name) != nil {
		return nil, syscall.ENOENT
	}
	n := newRealmDir(realm{d.t, ctxabi.Ref{Space: name}})
	x, err := d.t.stat(n.rel)
	if handles.IsShort(err) {
		return nil, errnoOf(err)
	}
	if err != nil || x.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return nil, syscall.ENOENT
	}
	attrFromStatx(&out.Attr, x)
	cacheFixed(out)
	return d.NewInode(ctx, n, treeAttr(modeDir, n.rel)), 0
}

func (d *spacesDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	return d.t.list(d.StableAttr(), ctxabi.SharedDir, func(name string) (gofs.StableAttr, bool) {
		return treeAttr(syscall.S_IFDIR, path.Join(ctxabi.SharedDir, name)), ctxabi.ValidName(name) == nil
	})
}

// realmDir is home/<uid> or shared/<space>. It holds `agent`, on the disk or not, and
// `search`, which it does not list; a home also has `project`, and may have the trust file.
type realmDir struct{ storeDir }

func newRealmDir(r realm) *realmDir { return &realmDir{storeDir{realm: r, rel: r.dir()}} }

func (d *realmDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if d.isTrust(name) {
		return d.lookupTrust(ctx, out)
	}
	if name == ctxabi.HomeSearchDir {
		return d.lookupSearch(ctx, d.EmbeddedInode(), out)
	}
	if name == ctxabi.ProjectsDir && d.ref.Space == "" {
		n := &projectsDir{storeDir{realm: d.realm, rel: session.ProjectPath(d.ref.UID)}}
		return n.node(ctx, d.EmbeddedInode(), n, out), 0
	}
	if name != ctxabi.AgentDir {
		return nil, syscall.ENOENT
	}
	n := &agentsDir{storeDir{realm: d.realm, rel: path.Join(d.rel, ctxabi.AgentDir)}}
	return n.node(ctx, d.EmbeddedInode(), n, out), 0
}

func (d *realmDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	list := []fuse.DirEntry{dirEntry(ctxabi.AgentDir, treeAttr(syscall.S_IFDIR, path.Join(d.rel, ctxabi.AgentDir)))}
	if d.ref.Space == "" {
		list = append(list, dirEntry(ctxabi.ProjectsDir, treeAttr(syscall.S_IFDIR, session.ProjectPath(d.ref.UID))))
		if _, err := d.t.store.TrustInfo(d.ref.UID); err == nil {
			list = append(list, dirEntry(ctxabi.TrustFile, treeAttr(syscall.S_IFREG, path.Join(d.rel, ctxabi.TrustFile))))
		}
	}
	return listing(d.StableAttr(), list), 0
}

// agentsDir is home/<uid>/agent.
type agentsDir struct{ storeDir }

func (d *agentsDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if ctxabi.ValidName(name) != nil {
		return nil, syscall.ENOENT
	}
	x, err := d.t.stat(path.Join(d.rel, name))
	if handles.IsShort(err) {
		return nil, errnoOf(err)
	}
	if err != nil || x.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return nil, syscall.ENOENT
	}
	d.t.setPlainEntry(out, x)
	n := &agentDir{guardedDir: guardedDir{plain: newPlain(d.t, x)}, realm: d.realm}
	n.guard = n.refused
	n.ref.Agent = name
	return d.NewInode(ctx, n, plainAttr(x, d.t.rootDev)), 0
}

func (d *agentsDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if err := ctxabi.ValidName(name); err != nil {
		d.t.log.Debug("refused", "op", "mkdir", "reason", err)
		return nil, errnoOf(err)
	}
	if _, err := d.t.stat(path.Join(d.rel, name)); err == nil {
		return nil, syscall.EEXIST
	}
	ref := d.ref
	ref.Agent = name
	if err := d.t.store.EnsureAgent(ref, d.maker(ctx)); err != nil {
		return nil, errnoOf(err)
	}
	return d.Lookup(ctx, name, out)
}

// Rmdir removes an agent that has no sessions and no files.
func (d *agentsDir) Rmdir(ctx context.Context, name string) syscall.Errno {
	if ctxabi.ValidName(name) != nil {
		return syscall.ENOENT
	}
	home := path.Join(d.rel, name)
	for _, dir := range []string{home, path.Join(home, ctxabi.SessionDir)} {
		names, err := d.t.names(dir)
		if err != nil {
			return errnoOf(err)
		}
		for _, e := range names {
			if dir != home || e.Name() != ctxabi.SessionDir {
				return syscall.ENOTEMPTY
			}
		}
	}
	return errnoOf(d.t.unlinkHome(home))
}

// unlinkHome removes the empty home of an agent, and the directory of its sessions.
func (t *tree) unlinkHome(home string) error {
	for _, dir := range []string{path.Join(home, ctxabi.SessionDir), home} {
		fd, err := beneath.Open(t.rootFd, path.Dir(dir), unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		err = unix.Unlinkat(fd, path.Base(dir), unix.AT_REMOVEDIR)
		unix.Close(fd)
		if err != nil && (dir == home || err != syscall.ENOENT) {
			return err
		}
	}
	return nil
}

func (d *agentsDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	return d.t.list(d.StableAttr(), d.rel, func(name string) (gofs.StableAttr, bool) {
		return gofs.StableAttr{Mode: syscall.S_IFDIR}, ctxabi.ValidName(name) == nil
	})
}
