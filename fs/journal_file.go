package fs

import (
	"context"
	"errors"
	"io"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/session"
)

// journalSource is a file that is rendered from messages.jsonl while it is read: context/journal.jsonl
// and context/requests.md. A handle sees messages that are appended while it is open.
type journalSource struct {
	derivedFacts
	changingSource
	p    *mountedSession
	rel  string
	view *session.LogView
}

func journalNode(p *mountedSession, rel string) tableNode {
	return newView(&journalSource{p: p, rel: rel, view: session.JournalView})
}

func requestsNode(p *mountedSession, rel string) tableNode {
	return newView(&journalSource{p: p, rel: rel, view: session.RequestsView})
}

func (n *journalSource) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	late, cancel := patient(ctx)
	defer cancel()
	size, err := n.p.x.ViewSize(late, n.view)
	if err != nil {
		return n.p.refuse(ctx, "read", n.rel, err)
	}
	n.p.own.setFile(a, n.p.own.readMode(), size, n.p.x.Messages().ModTime())
	return 0
}

func (n *journalSource) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	n.p.noteOpen(ctx, "")
	return &journalHandle{n.p, n.rel, n.p.x.OpenView(n.view)}, 0
}

// journalHandle is an open view.
type journalHandle struct {
	p   *mountedSession
	rel string
	r   *session.ViewReader
}

var _ = (gofs.FileReader)((*journalHandle)(nil))

func (h *journalHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	late, cancel := patient(ctx)
	defer cancel()
	n, err := h.r.ReadAt(late, dest, off)
	if err != nil && !errors.Is(err, io.EOF) && n == 0 {
		return nil, h.p.refuse(ctx, "read", h.rel, err)
	}
	return fuse.ReadResultData(dest[:n]), 0
}

var _ = (gofs.FileReleaser)((*journalHandle)(nil))

func (h *journalHandle) Release(ctx context.Context) syscall.Errno {
	h.r.Close()
	return 0
}
