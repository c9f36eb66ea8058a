package fs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// logHandle is one open log. The stage does the work. What is here is what only FUSE knows: one
// write(2) can be several requests, the kernel hides the errno of all but the first of them, and a
// program which got an errno may send the same bytes again.
type logHandle struct {
	n      *logFile
	writer disk.Writer // who opened it
	stage  *log.Stage  // nil on a handle that only reads

	mu    sync.Mutex
	noted uint64 // the round of syncs this log is noted for, see tree.noteWrite
	// split is set if the last request was as large as requests get: the next
	// one may belong to the same write(2).
	split bool
	// hidden is an errno that the kernel may have kept from the program: that
	// of a record which is too large, in a later request of a split write(2).
	// The next write gets it, unless that begins a record.
	hidden syscall.Errno
	// refused is a request that had good records before a bad one. They are in
	// the log and the program was told EINVAL: when it sends the same again, as
	// buffered writers do when they are closed, it must not be taken twice.
	refused struct {
		len   int
		sum   [sha256.Size]byte
		errno syscall.Errno
	}
}

func (h *logHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if v, ok := h.n.log.View(off, len(dest)); ok {
		return &viewed{v, [1][]byte{v.Bytes}}, 0
	}
	n, err := h.n.log.ReadAt(dest, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, h.n.p.refuse(ctx, "read", h.n.log.Name(), err)
	}
	return fuse.ReadResultData(dest[:n]), 0
}

// viewed is the answer of a read by bytes of a log that the daemon never looks at: the kernel copies
// them from the file to the reader. Where it cannot, the reader gets EIO.
type viewed struct {
	view   log.View
	slices [1][]byte
}

func (r *viewed) Size() int { return len(r.slices[0]) }

// Slices returns the bytes for writev(2); go-fuse asks an answer that has this method for nothing else.
func (r *viewed) Slices() ([][]byte, fuse.Status) { return r.slices[:], fuse.OK }

// Bytes is never called, see Slices.
func (r *viewed) Bytes([]byte) ([]byte, fuse.Status) { return nil, fuse.EIO }

// Done is called when the answer was sent.
func (r *viewed) Done() { r.view.Release() }

func (h *logHandle) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	if h.stage == nil {
		return 0, syscall.EBADF
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	continued := h.split
	h.split = len(data) > maxWrite-4096
	if errno := h.hidden; errno != 0 {
		h.hidden = 0
		if !bytes.HasPrefix(data, []byte{'{'}) {
			return 0, errno
		}
	}
	if h.isRetry(data) {
		return 0, h.refused.errno
	}
	req := h.n.p.t.raw.request(ctx)
	// An interrupt must not take back what is taken: the commit does not see it.
	n, err := h.stage.Write(context.Background(), data, off, req.flags&syscall.O_APPEND != 0, h.n.p.t.key(req))
	h.noted = h.n.p.t.noteWrite(h.n.log, h.noted)
	if err == nil {
		h.refused.len = 0
		return uint32(len(data)), 0
	}
	errno := errnoOf(err) // the stage has reported it
	judged := errors.Is(err, ctxabi.ErrMalformed) || errors.Is(err, ctxabi.ErrTooLarge)
	switch {
	case n > 0 && (continued || !judged):
		// Of a split write(2) the errno would be lost and with it how far the
		// call came; a disk that is full after some records is a short write.
		return uint32(n), 0
	case n > 0:
		h.refused.len, h.refused.sum, h.refused.errno = len(data), sha256.Sum256(data), errno
	case continued && errors.Is(err, ctxabi.ErrTooLarge):
		h.hidden = errno
	}
	return 0, errno
}

// isRetry reports whether data begins with the request that was refused last.
func (h *logHandle) isRetry(data []byte) bool {
	n := h.refused.len
	return n > 0 && len(data) >= n && sha256.Sum256(data[:n]) == h.refused.sum
}

var _ = (gofs.FileWritever)((*logHandle)(nil))

// Writev writes a large request whose bytes lie in pieces.
func (h *logHandle) Writev(ctx context.Context, data [][]byte, off int64) (uint32, syscall.Errno) {
	return h.Write(ctx, bytes.Join(data, nil), off)
}

// Flush handles some descriptor's close, which need not be the last one's. It commits a record that
// lacks only its newline; it refuses one that lacks more, and leaves it in the stage.
func (h *logHandle) Flush(ctx context.Context) syscall.Errno {
	if h.stage == nil {
		return 0
	}
	req := h.n.p.t.raw.request(ctx)
	err := h.stage.Flush(context.WithoutCancel(ctx), h.n.p.t.key(req))
	return errnoOf(err)
}

// Fsync syncs the log. It returns an error if staged bytes are not a record yet, because they are
// on no disk.
func (h *logHandle) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	errno := h.Flush(ctx)
	if err := h.n.log.Sync(context.WithoutCancel(ctx)); err != nil {
		return errnoOf(err)
	}
	return errno
}

func (h *logHandle) Release(ctx context.Context) syscall.Errno {
	if h.stage != nil {
		h.stage.Release()
	}
	return 0
}

// noteWrite records that log has to be synced at the end, and returns the round of syncs for which
// it is recorded. noted is what it returned to the handle before.
func (t *tree) noteWrite(log *log.Log, noted uint64) uint64 {
	if noted == t.syncRound.Load() {
		return noted
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written[log] = struct{}{}
	return t.syncRound.Load()
}

// key returns the idempotency key of a request. The connection's number is random, so that no
// request of the next mount has the same key.
func (t *tree) key(req request) arrival.Key { return arrival.Key{Conn: t.conn, Unique: req.unique} }
