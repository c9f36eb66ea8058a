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

// sessionDir is a session's directory, its context/, its context/pinned/ or, in
// a [childDir], that of a child: the names that ctxfs knows, and beside them
// whatever scratch files an editor puts there.
type sessionDir struct {
	plain
	p    *place
	here string // relative to the session: "", "context", "context/pinned"; of a child's directory the one it is in
}

func newSessionDir(p *place, here string) *sessionDir {
	return &sessionDir{plain: plain{t: p.t}, p: p, here: here}
}

func (d *sessionDir) place() *place { return d.p }

// dir is the directory relative to the session. That of a child has the name that it has now.
func (d *sessionDir) dir() string {
	if d.here != ctxabi.ChildDir {
		return d.here
	}
	name, _ := d.Parent()
	return path.Join(d.here, name)
}

func (d *sessionDir) rel(name string) string { return path.Join(d.dir(), name) }

// Files of a session that ctxfs makes itself.
var derivedFiles = map[string]bool{
	ctxabi.LatestFile: true, ctxabi.CreatedFile: true, ctxabi.UpdatedFile: true, ctxabi.ErrorsFile: true,
	ctxabi.PackFile: true, ctxabi.PackJSONFile: true, ctxabi.ReportFile: true,
	ctxabi.OpenAIFile: true, ctxabi.AnthropicFile: true, ctxabi.ResponsesFile: true, ctxabi.GeminiFile: true, ctxabi.GenAIFile: true,
	ctxabi.PacksFile: true, ctxabi.JournalFile: true, ctxabi.GCReportFile: true, ctxabi.RecentFile: true,
}

func packFile(rel string) bool {
	return rel == ctxabi.PackFile || rel == ctxabi.PackJSONFile || rel == ctxabi.ReportFile || nativeFiles[rel] != ""
}

// madeDirs are the directories of a session that ctxfs makes up, by their path.
var madeDirs = map[string]func(p *place) madeDir{
	ctxabi.LineDir:   func(p *place) madeDir { return &lineDir{fixedDir{p: p}} },
	ctxabi.AtDir:     func(p *place) madeDir { return &atDir{fixedDir{p: p}} },
	ctxabi.ServedDir: func(p *place) madeDir { return &servedDir{fixedDir{p: p}} },
	ctxabi.ChildDir:  func(p *place) madeDir { return &childrenDir{fixedDir{p: p}} },
	ctxabi.SearchDir: func(p *place) madeDir { return &searchDir{fixedDir{p: p}} },
}

// madeDir is such a directory.
type madeDir interface {
	gofs.InodeEmbedder
	fill(*fuse.Attr)
}

// fixedNames lists what each directory always shows.
var fixedNames = map[string][]struct {
	name string
	mode uint32
}{
	"": {
		{ctxabi.MessagesFile, syscall.S_IFREG}, {ctxabi.EventsFile, syscall.S_IFREG}, {ctxabi.LatestFile, syscall.S_IFREG},
		{ctxabi.CreatedFile, syscall.S_IFREG}, {ctxabi.UpdatedFile, syscall.S_IFREG}, {ctxabi.ContextDir, syscall.S_IFDIR},
	},
	ctxabi.ContextDir: {
		{"pack.md", syscall.S_IFREG}, {"pack.json", syscall.S_IFREG}, {"pack.report.md", syscall.S_IFREG},
		{"pack.openai.json", syscall.S_IFREG}, {"pack.anthropic.json", syscall.S_IFREG}, {"pack.responses.json", syscall.S_IFREG}, {"pack.gemini.json", syscall.S_IFREG}, {"pack.genai.json", syscall.S_IFREG},
		{"errors.jsonl", syscall.S_IFREG}, {"gc.report", syscall.S_IFREG}, {"pinned", syscall.S_IFDIR}, {"line", syscall.S_IFDIR},
		{"packs.jsonl", syscall.S_IFREG}, {"served", syscall.S_IFDIR}, {"at", syscall.S_IFDIR}, {"journal.jsonl", syscall.S_IFREG},
		{"search", syscall.S_IFDIR}, {"search.recent", syscall.S_IFREG},
		{"swap", syscall.S_IFDIR}, {"dedup", syscall.S_IFDIR}, {"child", syscall.S_IFDIR},
		{"summary.md", syscall.S_IFREG}, {"facts.jsonl", syscall.S_IFREG}, {"decisions.jsonl", syscall.S_IFREG},
		{"todo.md", syscall.S_IFREG}, {"refs.jsonl", syscall.S_IFREG},
	},
	ctxabi.ChildDir: { // of each child
		{ctxabi.ChildAgent, syscall.S_IFREG}, {ctxabi.ChildSession, syscall.S_IFREG}, {ctxabi.ChildStatus, syscall.S_IFREG},
		{ctxabi.ChildHandoff, syscall.S_IFREG}, {ctxabi.ChildResult, syscall.S_IFREG}, {ctxabi.ChildRefs, syscall.S_IFREG},
	},
}

func (d *sessionDir) kindOf(name string) nameKind {
	rel := d.rel(name)
	switch _, _, sealed := session.SealedNumber(rel); {
	case hidden(name), sealed, rel == ctxabi.MessagesFile, rel == ctxabi.EventsFile, rel == ctxabi.ContextDir, rel == ctxabi.PinnedDir,
		madeDirs[rel] != nil, nodeNames[rel], d.here == ctxabi.ChildDir && name == ctxabi.ChildArtifact:
		return protected
	case derivedFiles[rel]:
		return derivedName
	case isControl(rel):
		return control
	}
	return ordinary
}

func (d *sessionDir) getattr(out *fuse.AttrOut) syscall.Errno {
	out.SetTimeout(fixedTimeout)
	x, err := d.p.stat(d.dir())
	if err != nil {
		if d.here == "" || d.here == ctxabi.ChildDir {
			return errnoOf(err)
		}
		d.p.own.setDir(&out.Attr, d.p.own.dirMode(), d.p.x.Created())
		return 0
	}
	attrFromStatx(&out.Attr, x)
	return 0
}

func (d *sessionDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return d.getattr(out)
}

func (d *sessionDir) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := d.getattr(out); errno != 0 {
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
	switch d.kindOf(name) {
	case protected:
		return d.lookupFixed(ctx, rel, out)
	case derivedName:
		if packFile(rel) && d.p.goneFor(ctx, rel, 2) {
			out.SetEntryTimeout(0)
			return nil, syscall.ENOENT
		}
		if packFile(rel) {
			return d.lookupPack(ctx, rel, out)
		}
		if rel == ctxabi.PacksFile || rel == ctxabi.JournalFile {
			return d.lookupFixed(ctx, rel, out)
		}
		n := d.p.derived(rel)
		if errno := n.fill(&out.Attr); errno != 0 {
			return nil, errno
		}
		out.SetEntryTimeout(fixedTimeout)
		return d.NewInode(ctx, n, d.p.attr(syscall.S_IFREG, rel)), 0
	case control:
		if d.p.goneFor(ctx, rel, 1) {
			out.SetEntryTimeout(0)
			return nil, syscall.ENOENT
		}
		n := &controlFile{p: d.p, rel: rel}
		if errno := n.fill(ctx, &out.Attr); errno != 0 {
			return nil, errno
		}
		return d.NewInode(ctx, n, d.p.attr(syscall.S_IFREG, rel)), 0
	}
	n, errno := d.plain.Lookup(ctx, name, out)
	out.SetEntryTimeout(0) // it may be renamed over a control file at any moment
	return n, errno
}

func (d *sessionDir) lookupFixed(ctx context.Context, rel string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	out.SetEntryTimeout(fixedTimeout)
	var a fuse.AttrOut
	switch rel {
	case ctxabi.MessagesFile, ctxabi.EventsFile:
		n := newLogFile(d.p, rel)
		if errno := n.fill(&out.Attr); errno != 0 {
			return nil, errno
		}
		return d.NewInode(ctx, n, d.p.attr(syscall.S_IFREG, rel)), 0
	case ctxabi.ContextDir, ctxabi.PinnedDir:
		n := newSessionDir(d.p, rel)
		if errno := n.getattr(&a); errno != 0 {
			return nil, errno
		}
		out.Attr = a.Attr
		keepFixed(out)
		return d.NewInode(ctx, n, d.p.attr(syscall.S_IFDIR, rel)), 0
	case ctxabi.PacksFile:
		n := &packsFile{p: d.p}
		if errno := n.fill(ctx, &out.Attr); errno != 0 {
			return nil, errno
		}
		return d.NewInode(ctx, n, d.p.attr(syscall.S_IFREG, rel)), 0
	}
	if rel == ctxabi.JournalFile {
		n := &journalFile{p: d.p}
		if errno := n.fill(ctx, &out.Attr); errno != 0 {
			return nil, errno
		}
		return d.NewInode(ctx, n, d.p.attr(syscall.S_IFREG, rel)), 0
	}
	if nodeNames[rel] {
		return d.p.lookupNodes(ctx, d.EmbeddedInode(), rel, out)
	}
	if of := madeDirs[rel]; of != nil {
		n := of(d.p)
		n.fill(&out.Attr)
		keepFixed(out)
		return d.NewInode(ctx, n, d.p.attr(syscall.S_IFDIR, rel)), 0
	}
	out.SetEntryTimeout(0)
	return nil, syscall.ENOENT
}

func (d *sessionDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	var list []fuse.DirEntry
	seen := map[string]bool{}
	for _, e := range fixedNames[d.here] {
		seen[e.name] = true
		list = append(list, entry(e.name, d.p.attr(e.mode, d.rel(e.name))))
	}
	names, err := d.t.names(d.p.path(d.dir()))
	if err != nil {
		return nil, errnoOf(err)
	}
	for _, e := range names {
		if seen[e.Name()] {
			continue
		}
		switch d.kindOf(e.Name()) {
		case control:
			list = append(list, entry(e.Name(), d.p.attr(syscall.S_IFREG, d.rel(e.Name()))))
		case ordinary:
			list = append(list, fuse.DirEntry{Name: e.Name(), Mode: unixType(e)})
		case protected:
			if d.here == ctxabi.ChildDir { // artifact
				list = append(list, fuse.DirEntry{Name: e.Name(), Mode: unixType(e)})
			}
		}
	}
	return listing(d.StableAttr(), list), 0
}

// OpendirHandle lists once an open: an editor's rename does not move entries under a reader.
func (d *sessionDir) OpendirHandle(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	d.p.opens(ctx, "")
	ds, errno := d.Readdir(ctx)
	return ds, 0, errno
}

// refused answers a request to make or remove name where that is not allowed, 0 where it is.
func (d *sessionDir) refused(ctx context.Context, op, name string, want nameKind) syscall.Errno {
	rel := d.rel(name)
	switch kind := d.kindOf(name); {
	case kind == want:
		return 0
	case rel == ctxabi.MessagesFile || rel == ctxabi.EventsFile:
		return d.p.deny(ctx, op, rel, ctxabi.ErrAppendOnly, "records are appended; the file cannot be removed, replaced or linked")
	case kind == derivedName:
		return d.p.deny(ctx, op, rel, ctxabi.ErrReadOnly, "ctxfs makes it from the session")
	}
	return d.p.deny(ctx, op, rel, ctxabi.ErrProtected, "a session's directories hold regular files; this name is not free for it")
}

func (d *sessionDir) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	rel := d.rel(name)
	if d.kindOf(name) == control {
		n := &controlFile{p: d.p, rel: rel}
		if d.p.isThere(rel) {
			if flags&syscall.O_EXCL != 0 {
				return nil, nil, 0, syscall.EEXIST
			}
			return nil, nil, 0, syscall.ESTALE // there since the kernel looked: let it look again
		}
		d.p.opens(ctx, rel)
		h, _ := n.newHandle(ctx, flags|syscall.O_TRUNC)
		d.p.own.setFile(&out.Attr, d.p.own.fileMode(), 0, d.p.x.Updated())
		return d.NewInode(ctx, n, d.p.attr(syscall.S_IFREG, rel)), h, fuse.FOPEN_DIRECT_IO, 0
	}
	if errno := d.refused(ctx, "create", name, ordinary); errno != 0 {
		return nil, nil, 0, errno
	}
	n, fh, ff, errno := d.plain.Create(ctx, name, flags, mode, out)
	out.SetEntryTimeout(0)
	return n, fh, ff, errno
}

func (d *sessionDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	switch rel := d.rel(name); {
	case rel == ctxabi.ContextDir || rel == ctxabi.PinnedDir || madeDirs[rel] != nil || nodeNames[rel]:
		return nil, syscall.EEXIST
	default:
		return nil, d.p.deny(ctx, "mkdir", rel, ctxabi.ErrProtected, "a session has its own directories; put others in the agent's home")
	}
}

func (d *sessionDir) Mknod(ctx context.Context, name string, mode, rdev uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if errno := d.refused(ctx, "mknod", name, ordinary); errno != 0 {
		return nil, errno
	}
	n, errno := d.plain.Mknod(ctx, name, mode, rdev, out)
	out.SetEntryTimeout(0)
	return n, errno
}

// Symlink is for editors that lock a file with one.
func (d *sessionDir) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if errno := d.refused(ctx, "symlink", name, ordinary); errno != 0 {
		return nil, errno
	}
	n, errno := d.plain.Symlink(ctx, target, name, out)
	out.SetEntryTimeout(0)
	return n, errno
}

func (d *sessionDir) Link(ctx context.Context, target gofs.InodeEmbedder, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if errno := d.refused(ctx, "link", name, ordinary); errno != 0 {
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
	switch {
	case packFile(rel):
		d.t.builder.Drop(d.p.x)
		return d.p.removedBy(ctx, rel)
	case session.IsNote(rel):
		return d.p.removeNote(ctx, rel)
	case d.kindOf(name) == control:
		err := d.p.drop(ctx, rel)
		if err == nil && ctxabi.IsChildFile(rel) {
			return d.p.removedBy(ctx, rel)
		}
		return errnoOf(err)
	}
	if errno := d.refused(ctx, "remove", name, ordinary); errno != 0 {
		return errno
	}
	return d.plain.Unlink(ctx, name)
}

func (d *sessionDir) Rmdir(ctx context.Context, name string) syscall.Errno {
	return d.p.deny(ctx, "rmdir", d.rel(name), ctxabi.ErrProtected, "it is part of the session, which its owner removes as a whole with ctxfs session rm")
}

func (d *sessionDir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return rename(ctx, d, name, newParent, newName, flags)
}

// Tmpfile would make files that no rule sees.
func (d *sessionDir) Tmpfile(ctx context.Context, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	return nil, nil, 0, syscall.ENOTSUP
}

func (d *sessionDir) Removexattr(ctx context.Context, name string) syscall.Errno {
	return noXattrs{}.Removexattr(ctx, name)
}
