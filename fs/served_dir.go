package fs

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/blob"
)

// context/served has what was read of the session's packs, each under its id.

func listServed(ctx context.Context, d *fixedDir) (list []fuse.DirEntry, _ syscall.Errno) {
	s, err := d.p.x.Served()
	if err != nil {
		return nil, d.p.refuse(ctx, "read", ctxabi.ServedDir, err)
	}
	for _, k := range s.Packs() {
		list = append(list, dirEntry(k.ID+".md", d.p.servedAttr(k)))
	}
	return list, 0
}

// servedAttr returns the identity of a pack that was read.
func (p *mountedSession) servedAttr(k blob.Pack) gofs.StableAttr {
	return contentAttr(p.x.ID(), ctxabi.ServedDir, k.ID+k.SHA256+strconv.FormatInt(k.First.UnixNano(), 36))
}

func findServed(ctx context.Context, d *fixedDir, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	id, ok := strings.CutSuffix(name, ".md")
	if !ok || ctxabi.ParseContentID(id) != nil {
		return nil, syscall.ENOENT
	}
	s, err := d.p.x.Served()
	if err != nil {
		return nil, d.p.refuse(ctx, "read", ctxabi.ServedDir, err)
	}
	k, ok := s.Find(id)
	if !ok {
		return nil, syscall.ENOENT
	}
	n := &servedSource{p: d.p, pack: k}
	n.fill(ctx, nil, &out.Attr)
	out.SetAttrTimeout(foreverValid)
	return d.NewInode(ctx, newView(n), d.p.servedAttr(k)), 0
}

// servedSource is the pack.md of a pack that was read. It never changes, but it may expire.
type servedSource struct {
	constantSource
	p    *mountedSession
	pack blob.Pack
}

func (n *servedSource) rel() string { return ctxabi.ServedDir + "/" + n.pack.ID + ".md" }

func (n *servedSource) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	n.p.own.setFile(a, n.p.own.readMode(), int64(n.pack.Size), n.pack.First)
	return 0
}

func (n *servedSource) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	if n.p.t.builder.Redacts() && n.pack.Redact == "" {
		return nil, n.p.deny(ctx, "read", n.rel(), ctxabi.ErrReadOnly, "this pack was made before --redact was set; a mount without --redact shows it until pack_ttl ends")
	}
	n.p.noteOpen(ctx, n.rel())
	s, err := n.p.x.Served()
	var data []byte
	if err == nil {
		data, err = s.Pack(n.pack.ID)
	}
	switch {
	case errors.Is(err, ctxabi.ErrNotFound): // it expired
		return nil, syscall.ENOENT
	case err != nil:
		return nil, n.p.refuse(ctx, "read", n.rel(), err)
	}
	return bytesHandle(data), 0
}

func (n *servedSource) facts(context.Context) (facts, syscall.Errno) {
	return facts{
		"origin":  func() string { return "derived" },
		"pack_id": func() string { return n.pack.ID },
		"sha256":  func() string { return n.pack.SHA256 },
		"tokens":  func() string { return strconv.Itoa(n.pack.Tokens) },
	}, 0
}

// packsSource is context/packs.jsonl: which packs were read, and when. A handle sees what is
// appended while it is open.
type packsSource struct {
	derivedFacts
	changingSource
	p *mountedSession
}

func packsNode(p *mountedSession, rel string) tableNode { return newView(&packsSource{p: p}) }

func (n *packsSource) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	s, err := n.p.x.Served()
	if err != nil {
		return n.p.refuse(ctx, "read", ctxabi.PacksFile, err)
	}
	size, at := s.Size()
	n.p.own.setFile(a, n.p.own.readMode(), size, at)
	return 0
}

func (n *packsSource) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	n.p.noteOpen(ctx, ctxabi.PacksFile)
	h := &packsHandle{p: n.p}
	return h, h.refresh(ctx)
}

// packsHandle reads packs.jsonl as it was when it was opened, and behind that what was appended
// since. Who reads from the beginning a second time, as tail -f does after old rows were dropped,
// reads it as it is then.
type packsHandle struct {
	p *mountedSession

	mu    sync.Mutex
	rows  []byte // guarded by mu
	begin int64  // where they begin, as blob.Served counts; guarded by mu
	read  bool   // something was; guarded by mu
}

func (h *packsHandle) refresh(ctx context.Context) syscall.Errno {
	s, err := h.p.x.Served()
	if err == nil {
		h.rows, h.begin, err = s.Rows()
	}
	if err != nil {
		return h.p.refuse(ctx, "read", ctxabi.PacksFile, err)
	}
	return 0
}

var _ = (gofs.FileReader)((*packsHandle)(nil))

func (h *packsHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if off == 0 && h.read {
		if errno := h.refresh(ctx); errno != 0 {
			return nil, errno
		}
	}
	h.read = true
	rest := h.rows[min(off, int64(len(h.rows))):]
	if len(rest) == 0 {
		s, err := h.p.x.Served()
		if err == nil {
			rest, err = s.RowsFrom(h.begin + off)
		}
		if err != nil {
			return nil, h.p.refuse(ctx, "read", ctxabi.PacksFile, err)
		}
	}
	return fuse.ReadResultData(rest[:min(len(rest), len(dest))]), 0
}
