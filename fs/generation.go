package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"strconv"
	"sync"
	"syscall"
	"time"
	"weak"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/build"
	"github.com/ctxfs/ctxfs/pack/native"
)

// A built file has one inode per build: looking its name up makes the build if
// it is stale and gives the inode of what was built. Whoever holds the old one
// goes on reading the old one. The name is looked up again each time; the
// content of an inode never changes, so the kernel may keep it for good.

// generation is what the tree knows of a build: the hashes of its files.
type generation struct {
	build *pack.Build

	mu   sync.Mutex
	sums map[string]string // by file, hex SHA-256; guarded by mu

	stands map[string]*standIn // by file, what was looked up when it was awaited; guarded by the place's mu
}

func (g *generation) size() int { return g.build.Size() }

// file gives the bytes and the hash of a file of the build; native renderings are made when they are asked for.
func (p *place) file(g *generation, rel string) (data []byte, sum string, err error) {
	if data, err = p.rendering(g.build, rel); err != nil {
		return nil, "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sums[rel] == "" {
		digest := sha256.Sum256(data)
		g.sums[rel] = hex.EncodeToString(digest[:])
	}
	return data, g.sums[rel], nil
}

// builtFile is one file of one build. What it holds itself is small, because
// the kernel decides how long it lives; the bytes are on the [shelf].
type builtFile struct {
	gofs.Inode
	noXattrs
	p      *place
	rel    string
	past   bool // below context/at: the pack of the first at messages
	at     int
	gen    weak.Pointer[generation]
	size   int64
	made   time.Time
	id     string // of the build
	sum    string // SHA-256 of the bytes, hex
	tokens int
}

// name is the file's path in the session. What opens below context/at is not what was read of the present pack.
func (n *builtFile) name() string {
	if n.past {
		return ctxabi.AtDir + "/" + strconv.Itoa(n.at) + "/" + path.Base(n.rel)
	}
	return n.rel
}

// build makes the build that took the place of the one that is gone.
func (n *builtFile) build(ctx context.Context) (*pack.Build, error) {
	if n.past {
		return n.p.buildAt(ctx, n.at)
	}
	return n.p.build(ctx)
}

// data gives the file's bytes; ok is false when its build is gone and another one took its place.
func (n *builtFile) data(ctx context.Context) (b []byte, build *pack.Build, ok bool, err error) {
	g := n.gen.Value()
	if g == nil {
		build, err := n.build(ctx)
		if err != nil {
			return nil, nil, false, err
		}
		g = n.p.generation(build)
	}
	b, sum, err := n.p.file(g, n.rel)
	if err != nil {
		return nil, nil, false, err
	}
	n.p.t.shelf.keep(g)
	return b, g.build, sum == n.sum, nil
}

// nativeFiles are the files of the native renderings.
var nativeFiles = map[string]native.Format{
	ctxabi.OpenAIFile: native.OpenAI, ctxabi.AnthropicFile: native.Anthropic,
	ctxabi.ResponsesFile: native.Responses, ctxabi.GeminiFile: native.Gemini, ctxabi.GenAIFile: native.GenAI,
}

func (p *place) rendering(b *pack.Build, rel string) ([]byte, error) {
	switch rel {
	case ctxabi.PackFile:
		return b.Markdown, nil
	case ctxabi.PackJSONFile:
		return b.JSON(), nil
	case ctxabi.ReportFile:
		return b.Report, nil
	}
	return p.t.builder.Native(p.x, b, nativeFiles[rel])
}

// generation gives what is known of build.
func (p *place) generation(build *pack.Build) *generation {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := weak.Make(build)
	if g := p.built[key].Value(); g != nil {
		return g
	}
	if len(p.built) >= p.sweepAt {
		maps.DeleteFunc(p.built, func(_ weak.Pointer[pack.Build], g weak.Pointer[generation]) bool { return g.Value() == nil })
		p.sweepAt = max(16, 2*len(p.built))
	}
	if p.built == nil {
		p.built = map[weak.Pointer[pack.Build]]weak.Pointer[generation]{}
	}
	g := &generation{build: build, sums: map[string]string{}}
	p.built[key] = weak.Make(g)
	return g
}

func (d *sessionDir) lookupPack(ctx context.Context, rel string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	return d.p.lookupBuilt(ctx, &d.Inode, &builtFile{p: d.p, rel: rel}, out)
}

// lookupBuilt looks up n, which says what file of which pack it is to be. No look-up waits for generators.
func (p *place) lookupBuilt(ctx context.Context, parent *gofs.Inode, n *builtFile, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	compiled, err := n.build(build.AtOnce(ctx))
	switch {
	case build.Waits(err):
		a := &awaitedFile{what: n, standIn: p.standIn(n.name())}
		p.own.setFile(&out.Attr, p.own.readMode(), 0, p.x.Updated())
		return parent.NewInode(ctx, a, a.attr), 0
	case err != nil:
		page, ok := p.failureReport(n.rel, err)
		if !ok {
			return nil, errnoOf(err) // the builder has reported it
		}
		f := &derivedFile{own: p.own, mode: p.own.readMode(), p: p, content: func() ([]byte, time.Time, error) { return page, p.x.Updated(), nil }}
		f.fill(&out.Attr)
		return parent.NewInode(ctx, f, contentAttr(p.x.ID(), n.name(), "failure "+string(page))), 0
	}
	return p.showBuild(ctx, parent, compiled, n, out)
}

// failureReport returns the page that pack.report.md is while there is no pack.
func (p *place) failureReport(rel string, err error) (page []byte, ok bool) {
	if rel != ctxabi.ReportFile {
		return nil, false
	}
	return p.t.builder.FailureReport(p.x, err)
}

// showBuild fills in n as the inode of its file of build.
func (p *place) showBuild(ctx context.Context, parent *gofs.Inode, build *pack.Build, n *builtFile, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	gen, err := p.fillIn(n, build)
	if err != nil {
		return nil, errnoOf(err)
	}
	n.fill(&out.Attr)
	if s := p.standsFor(ctx, gen, n, nil); s != nil {
		return parent.NewInode(ctx, n, s.attr), 0
	}
	out.SetAttrTimeout(foreverValid)
	// Same bytes under another id or time are another inode: attributes are content too.
	key := n.sum + build.ID + strconv.FormatInt(build.Made.UnixNano(), 36)
	return parent.NewInode(ctx, n, contentAttr(p.x.ID(), n.name(), key)), 0
}

// fillIn makes n the file of build.
func (p *place) fillIn(n *builtFile, build *pack.Build) (*generation, error) {
	gen := p.generation(build)
	data, sum, err := p.file(gen, n.rel)
	if err != nil {
		return nil, err
	}
	p.t.shelf.keep(gen)
	n.p, n.gen, n.size, n.made = p, weak.Make(gen), int64(len(data)), build.Made
	n.id, n.sum, n.tokens = build.ID, sum, build.Tokens
	return gen, nil
}

func (n *builtFile) fill(a *fuse.Attr) {
	n.p.own.setFile(a, n.p.own.readMode(), n.size, n.made)
}

var _ = (gofs.NodeGetattrer)((*builtFile)(nil))

func (n *builtFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.fill(&out.Attr)
	out.SetTimeout(foreverValid)
	return 0
}

var _ = (gofs.NodeSetattrer)((*builtFile)(nil))

func (n *builtFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.p.deny(ctx, "change", n.name(), ctxabi.ErrReadOnly, "ctxfs makes it from the session; rm drops the build")
}

var _ = (gofs.NodeOpener)((*builtFile)(nil))

func (n *builtFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		return nil, 0, n.p.deny(ctx, "open", n.name(), ctxabi.ErrReadOnly, "ctxfs makes it from the session; it cannot be written")
	}
	data, build, ok, err := n.data(ctx)
	switch {
	case err != nil:
		return nil, 0, errnoOf(err)
	case !ok:
		return nil, 0, syscall.ESTALE // the kernel looks the name up again and finds the present build
	}
	n.read(ctx, build)
	return bytesHandle(data), fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH, 0
}

// read notes that somebody reads n, a file of build.
func (n *builtFile) read(ctx context.Context, build *pack.Build) {
	n.p.opens(ctx, n.rel)
	if !n.past {
		n.p.opened(ctx, n.rel, build)
	}
}

// opened notes that the file rel of a present build was opened.
func (p *place) opened(ctx context.Context, rel string, compiled *pack.Build) {
	p.found(rel)
	who := callerOf(ctx)
	p.t.builder.Opened(p.x, compiled, build.Opening{File: rel, UID: who.Uid, PID: who.Pid, At: time.Now()})
}

func (n *builtFile) facts() facts {
	return facts{
		"origin":  func() string { return "derived" },
		"pack_id": func() string { return n.id },
		"sha256":  func() string { return n.sum },
		"tokens": func() string {
			if n.rel != ctxabi.PackFile {
				return ""
			}
			return strconv.Itoa(n.tokens)
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
