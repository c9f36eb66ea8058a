package fs

import (
	"context"
	"errors"
	"io"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// journalSource is context/journal.jsonl: the conversation as the journal of Delta Engine, made of messages.jsonl as it is
// read, a piece at a time. A handle sees what is appended while it is open.
type journalSource struct {
	derivedFacts
	changingSource
	p *mountedSession
}

func journalNode(p *mountedSession, rel string) tableNode { return newView(&journalSource{p: p}) }

func (n *journalSource) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	late, cancel := patient(ctx)
	defer cancel()
	size, err := n.p.x.JournalSize(late)
	if err != nil {
		return n.p.refuse(ctx, "read", ctxabi.JournalFile, err)
	}
	n.p.own.setFile(a, n.p.own.readMode(), size, n.p.x.Messages().ModTime())
	return 0
}

func (n *journalSource) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	n.p.noteOpen(ctx, "")
	return &journalHandle{n.p, n.p.x.OpenJournal()}, 0
}

// journalHandle is an open journal.
type journalHandle struct {
	p *mountedSession
	r *session.JournalReader
}

var _ = (gofs.FileReader)((*journalHandle)(nil))

func (h *journalHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	late, cancel := patient(ctx)
	defer cancel()
	n, err := h.r.ReadAt(late, dest, off)
	if err != nil && !errors.Is(err, io.EOF) && n == 0 {
		return nil, h.p.refuse(ctx, "read", ctxabi.JournalFile, err)
	}
	return fuse.ReadResultData(dest[:n]), 0
}

var _ = (gofs.FileReleaser)((*journalHandle)(nil))

func (h *journalHandle) Release(ctx context.Context) syscall.Errno {
	h.r.Close()
	return 0
}
