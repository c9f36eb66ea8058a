package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"syscall"
	"weak"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
)

// A built file has one inode per build: looking its name up makes the build if
// it is stale and gives the inode of what was built. Whoever holds the old one
// goes on reading the old one. The name is looked up again each time; the
// content of an inode never changes, so the kernel may keep it for good.

// generation is what the tree knows of a build: the hashes of its files.
type generation struct {
	build *pack.Build
	sums  map[string]string // by file, hex SHA-256
}

// builtFile is one file of one build.
type builtFile struct {
	gofs.Inode
	noXattrs
	p    *place
	rel  string
	gen  *generation
	data []byte
}

func rendering(b *pack.Build, rel string) []byte {
	switch rel {
	case ctxabi.PackFile:
		return b.Markdown
	case ctxabi.PackJSONFile:
		return b.JSON
	}
	return b.Report
}

// generation gives what is known of build; the hashes are made once.
func (p *place) generation(build *pack.Build) *generation {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g := p.built.Value(); g != nil && g.build == build {
		return g
	}
	g := &generation{build: build, sums: map[string]string{}}
	for _, rel := range []string{ctxabi.PackFile, ctxabi.PackJSONFile, ctxabi.ReportFile} {
		sum := sha256.Sum256(rendering(build, rel))
		g.sums[rel] = hex.EncodeToString(sum[:])
	}
	p.built = weak.Make(g)
	return g
}

func (d *sessionDir) lookupPack(ctx context.Context, rel string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	build, err := d.p.build(ctx)
	if err != nil {
		return nil, errnoOf(err) // the builder has reported it
	}
	gen := d.p.generation(build)
	n := &builtFile{p: d.p, rel: rel, gen: gen, data: rendering(build, rel)}
	n.fill(&out.Attr)
	out.SetAttrTimeout(foreverValid)
	// Same bytes under another id or time are another inode: attributes are content too.
	key := gen.sums[rel] + build.ID + strconv.FormatInt(build.Made.UnixNano(), 36)
	return d.NewInode(ctx, n, contentAttr(d.p.x.ID(), rel, key)), 0
}

func (n *builtFile) fill(a *fuse.Attr) {
	n.p.own.setFile(a, n.p.own.readMode(), int64(len(n.data)), n.gen.build.Made)
}

var _ = (gofs.NodeGetattrer)((*builtFile)(nil))

func (n *builtFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.fill(&out.Attr)
	out.SetTimeout(foreverValid)
	return 0
}

var _ = (gofs.NodeSetattrer)((*builtFile)(nil))

func (n *builtFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.p.deny(ctx, "change", n.rel, ctxabi.ErrReadOnly, "ctxfs makes it from the session; rm drops the build")
}

var _ = (gofs.NodeOpener)((*builtFile)(nil))

func (n *builtFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		return nil, 0, n.p.deny(ctx, "open", n.rel, ctxabi.ErrReadOnly, "ctxfs makes it from the session; it cannot be written")
	}
	return bytesHandle(n.data), fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH, 0
}

func (n *builtFile) facts() facts {
	return facts{
		"origin":  func() string { return "derived" },
		"pack_id": func() string { return n.gen.build.ID },
		"sha256":  func() string { return n.gen.sums[n.rel] },
		"tokens": func() string {
			if n.rel != ctxabi.PackFile {
				return ""
			}
			return strconv.Itoa(n.gen.build.Tokens)
		},
	}
}

var _ = (gofs.NodeGetxattrer)((*builtFile)(nil))

func (n *builtFile) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	return n.facts().Get(name, dest)
}

var _ = (gofs.NodeListxattrer)((*builtFile)(nil))

func (n *builtFile) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	return n.facts().List(dest)
}
