package fs

import (
	"context"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// controlHandle is one open control file: a copy of its content that becomes
// the file's when it is committed.
//
// When is that? A program's close arrives as FLUSH, but so does that of each
// duplicate: a shell's `echo x > f` opens f, flushes it once before it writes
// anything, and once after. So a flush commits what was written since the last
// commit; a truncation at open alone waits for a second flush or the release.
//
// What can be judged at the write is refused at the write: shells do not look
// at what close returns.
type controlHandle struct {
	n         *controlFile
	opener    uint32        // the user who opened it; close and release come from who has the descriptor by then
	releasing chan struct{} // closed when the release came
	released  chan struct{} // closed when it committed

	mu        sync.Mutex
	data      []byte
	written   bool          // something was written or cut since the last commit
	truncated bool          // emptied at open, and neither written nor committed since
	flushed   bool          // flushed at least once while truncated
	by        uint32        // the process that did; guarded by the place's mu
	failed    bool          // the last commit was refused: the release does not try again
	refused   syscall.Errno // a write was refused: nothing is committed before the copy is emptied
	edit      noteEdit      // what was done to the copy
}

// newHandle returns a handle with a copy of the file, which is empty if errno is not 0.
func (n *controlFile) newHandle(ctx context.Context, flags uint32) (h *controlHandle, errno syscall.Errno) {
	h = &controlHandle{n: n, opener: callerOf(ctx).Uid, releasing: make(chan struct{}), released: make(chan struct{}), edit: noteEdit{replaced: true}}
	if session.NamesWorkspace(n.rel) && flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		h.edit.foreign = isForeign(ctx)
	}
	switch {
	case flags&syscall.O_TRUNC != 0:
		h.truncated = true
	case session.IsNote(n.rel):
		v, err := n.p.note(ctx, n.rel)
		if err != nil {
			return h, errnoOf(err)
		}
		h.data = v.text()
		h.edit = noteEdit{derived: len(v.derived), base: len(h.data)}
	default:
		data, err := n.p.content(ctx, n.rel)
		if err != nil {
			return h, errnoOf(err)
		}
		h.data = data
	}
	return h, 0
}

func (h *controlHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return readFrom(h.data, dest, off), 0
}

// readFrom returns a copy of the bytes of data from off on.
func readFrom(data, dest []byte, off int64) fuse.ReadResult {
	if off >= int64(len(data)) {
		return fuse.ReadResultData(nil)
	}
	return fuse.ReadResultData(dest[:copy(dest, data[off:])])
}

// resize returns the copy cut, or extended with NULs. It returns ctxabi.ErrTooLarge for a size
// beyond the limit.
func (h *controlHandle) resize(size int64) ([]byte, error) {
	derived := 0
	if !h.edit.replaced {
		derived = h.edit.derived
	}
	return resize(h.n.rel, h.data, size, derived)
}

// resize returns data cut, or extended with NULs. The first derived bytes do not count for the
// limit; it returns ctxabi.ErrTooLarge beyond it.
func resize(rel string, data []byte, size int64, derived int) ([]byte, error) {
	if own := size - int64(derived); own > ctxabi.MaxControl {
		return nil, ctxabi.E("write", rel, ctxabi.ErrTooLarge, "it would have %d bytes, the limit is %d", own, ctxabi.MaxControl)
	}
	if size <= int64(len(data)) {
		return data[:size:size], nil
	}
	return append(data, make([]byte, size-int64(len(data)))...), nil
}

func (h *controlHandle) Write(ctx context.Context, p []byte, off int64) (uint32, syscall.Errno) {
	req := h.n.p.t.raw.request(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if req.flags&syscall.O_APPEND != 0 {
		off = int64(len(h.data)) // the kernel's idea of the end is that of the committed file
	}
	if h.refused != 0 {
		return 0, h.refused
	}
	was, end := len(h.data), off+int64(len(p))
	h.edit.change(off)
	if end > int64(was) {
		data, err := h.resize(end)
		if err != nil {
			return 0, h.refuse(ctx, err)
		}
		h.data = data
	}
	copy(h.data[off:], p)
	err := h.n.p.judge(h.n.rel, h.edit.own(h.data), h.opener)
	if err == nil && !h.n.p.t.hasRoom(len(h.data)) {
		err = ctxabi.E("write", h.n.rel, ctxabi.ErrNoSpace, "the old content stays; make room on the disk of the store and write it again")
	}
	if err != nil && off >= int64(was) {
		h.data = h.data[:was]
		return 0, h.refuse(ctx, err)
	}
	h.written, h.truncated, h.failed = true, false, false
	h.n.p.unpend(h)
	return uint32(len(p)), 0
}

// refuse records that a write was refused. The caller holds mu.
func (h *controlHandle) refuse(ctx context.Context, err error) syscall.Errno {
	h.refused, h.failed = h.n.p.refuse(ctx, "write", h.n.rel, err), true
	h.n.p.unpend(h)
	return h.refused
}

func (h *controlHandle) truncate(ctx context.Context, size int64) syscall.Errno {
	h.mu.Lock()
	defer h.mu.Unlock()
	data, err := h.resize(size)
	if err != nil {
		return h.n.p.refuse(ctx, "truncate", h.n.rel, err)
	}
	h.edit.change(min(size, int64(len(h.data))))
	h.data, h.failed = data, false
	if size == 0 {
		h.refused, h.edit.replaced = 0, true
	}
	if size == 0 && !h.written {
		h.truncated = true // ftruncate(0) before the first write is the same as O_TRUNC
	} else {
		h.written, h.truncated = true, false
	}
	return 0
}

func (h *controlHandle) Flush(ctx context.Context) syscall.Errno {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.refused != 0:
		return h.refused
	case h.written:
		return h.commit(ctx, "write")
	case h.truncated && h.flushed && session.CheckControl(h.n.rel, nil) == nil:
		// The second close and still nothing written: `: > file`. What may be
		// empty is, now; the release could be long in coming.
		h.n.p.unpend(h)
		return h.commit(ctx, "write")
	case h.truncated:
		h.flushed = true
		h.n.p.mu.Lock()
		if h.n.p.pending == nil {
			h.n.p.pending = map[*controlHandle]struct{}{}
		}
		h.n.p.pending[h], h.by = struct{}{}, callerOf(ctx).Pid
		h.n.p.mu.Unlock()
	}
	return 0
}

// commit replaces the file by the copy. A refused copy stays, so that a later close of a duplicate
// returns the same errno. The caller holds mu.
func (h *controlHandle) commit(ctx context.Context, op string) syscall.Errno {
	errno := h.n.p.commitEdit(ctx, op, h.n.rel, h.data, &h.edit, h.opener)
	h.failed = errno != 0
	if errno == 0 {
		h.written, h.truncated = false, false
	}
	return errno
}

func (h *controlHandle) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.refused != 0:
		return h.refused
	case h.written:
		return h.commit(ctx, "fsync")
	}
	return 0
}

func (h *controlHandle) Release(ctx context.Context) syscall.Errno {
	close(h.releasing)
	h.mu.Lock()
	defer h.mu.Unlock()
	if (h.written || h.truncated) && !h.failed {
		h.commit(ctx, "close") // nobody hears the errno; errors.jsonl has the reason
	}
	h.n.p.unpend(h)
	close(h.released)
	return 0
}
