package fs

import (
	"context"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// view is the node of every file that ctxfs makes and nobody may write. What it shows is its source's.
type view struct {
	gofs.Inode
	noXattrs
	source
}

// source is what a [view] shows. The kernel decides how long a node lives, so that a source holds
// little: the bytes are made, or found again, when the file is opened.
type source interface {
	// fill fills in the attributes, as the handle open sees them, or a look-up if open is nil.
	fill(ctx context.Context, open gofs.FileHandle, a *fuse.Attr) syscall.Errno
	// open returns a handle for reading; ESTALE makes the kernel look the name up again.
	open(ctx context.Context) (gofs.FileHandle, syscall.Errno)
	// facts returns the file's user.ctx.* attributes.
	facts(ctx context.Context) (facts, syscall.Errno)
	// constant reports whether neither bytes nor attributes ever change. The kernel keeps those of a
	// constant view.
	constant() bool
}

// refuser is a source that reports refusals in errors.jsonl. The others answer with EACCES alone.
type refuser interface {
	// refuse answers a request to "change" the file, or to "open" it for writing.
	refuse(ctx context.Context, op string) syscall.Errno
}

func newView(s source) *view { return &view{source: s} }

func (n *view) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if n.constant() {
		out.SetTimeout(foreverValid)
	}
	return n.fill(ctx, f, &out.Attr)
}

func (n *view) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.refused(ctx, "change")
}

func (n *view) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		return nil, 0, n.refused(ctx, "open")
	}
	h, errno := n.source.open(ctx)
	if errno != 0 {
		return nil, 0, errno
	}
	if n.constant() {
		return h, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH, 0
	}
	return h, fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0
}

func (n *view) refused(ctx context.Context, op string) syscall.Errno {
	if r, ok := n.source.(refuser); ok {
		return r.refuse(ctx, op)
	}
	return syscall.EACCES
}

func (n *view) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	f, errno := n.facts(ctx)
	if errno != 0 {
		return 0, errno
	}
	return f.Get(name, dest)
}

func (n *view) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	f, errno := n.facts(ctx)
	if errno != 0 {
		return 0, errno
	}
	return f.List(dest)
}

// derivedFacts answers [source.facts] for the sources that have no facts of their own.
type derivedFacts struct{}

func (derivedFacts) facts(context.Context) (facts, syscall.Errno) {
	return facts{"origin": func() string { return "derived" }}, 0
}

// constantSource and changingSource answer [source.constant] for the sources that embed them.
type (
	constantSource struct{}
	changingSource struct{}
)

func (constantSource) constant() bool { return true }
func (changingSource) constant() bool { return false }

// bytesHandle is an open file whose content is known and does not change.
type bytesHandle []byte

var _ = (gofs.FileReader)(bytesHandle(nil))

func (h bytesHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if off >= int64(len(h)) {
		return fuse.ReadResultData(nil), 0
	}
	return fuse.ReadResultData(h[off:min(off+int64(len(dest)), int64(len(h)))]), 0
}

// textSource is a small file whose text is made anew at each stat and each open. A handle has the
// text that it was opened on.
type textSource struct {
	derivedFacts
	changingSource
	own  owner
	mode uint32
	text func() ([]byte, time.Time, error)
	p    *mountedSession // nil: it is of no session
}

func (s *textSource) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	data, at, err := s.text()
	if err != nil {
		return errnoOf(err)
	}
	s.own.setFile(a, s.mode, int64(len(data)), at)
	return 0
}

func (s *textSource) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	if s.p != nil {
		s.p.noteOpen(ctx, "")
	}
	data, _, err := s.text()
	if err != nil {
		return nil, errnoOf(err)
	}
	return bytesHandle(data), 0
}

// textNode returns the constructor of a derived file of a session.
func textNode(text func(p *mountedSession) ([]byte, time.Time, error)) func(*mountedSession, string) tableNode {
	return func(p *mountedSession, _ string) tableNode {
		return newView(&textSource{own: p.own, mode: p.own.readMode(), p: p, text: func() ([]byte, time.Time, error) { return text(p) }})
	}
}
