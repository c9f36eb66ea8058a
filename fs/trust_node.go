package fs

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// trustFile is home/<uid>/trust.jsonl: what may be run as that user. Only the user may read it. It
// is checked as a whole when it is closed, and may be removed.
type trustFile struct {
	gofs.Inode
	noXattrs
	realm
}

func (n *trustFile) fill(a *fuse.Attr) syscall.Errno {
	fi, err := n.t.store.TrustInfo(n.ref.UID)
	if err != nil {
		return errnoOf(err)
	}
	n.owner().setFile(a, 0o600, fi.Size(), fi.ModTime())
	return 0
}

func (n *trustFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	errno := n.fill(&out.Attr)
	if errno == syscall.ENOENT { // just made, and still open
		n.owner().setFile(&out.Attr, 0o600, 0, time.Now())
		errno = 0
	}
	return errno
}

func (n *trustFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := n.Getattr(ctx, f, out); errno != 0 {
		return errno
	}
	if !sameOwner(in, &out.Attr) {
		return syscall.EPERM
	}
	size, ok := in.GetSize()
	if !ok {
		return 0
	}
	if h, open := f.(*trustHandle); open {
		h.mu.Lock()
		defer h.mu.Unlock()
		data, err := resize(ctxabi.TrustFile, h.data, int64(size), 0)
		if err != nil {
			return errnoOf(err)
		}
		h.data, h.changed = data, true
		out.Size = size
		return 0
	}
	data, err := n.t.store.Trust(n.ref.UID)
	if err == nil {
		data, err = resize(ctxabi.TrustFile, data, int64(size), 0)
	}
	if err == nil {
		err = n.set(data)
	}
	if err != nil {
		return errnoOf(err)
	}
	return n.Getattr(ctx, f, out)
}

func (n *trustFile) set(data []byte) error {
	if data == nil {
		data = []byte{}
	}
	return n.t.store.SetTrust(n.ref.UID, n.owner().gid, data)
}

// trustPath returns the trust file's path in the store.
func (r realm) trustPath() string { return r.dir() + "/" + ctxabi.TrustFile }

func (n *trustFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	data, err := n.t.store.Trust(n.ref.UID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, errnoOf(err)
	}
	h := &trustHandle{n: n, data: data}
	if flags&syscall.O_TRUNC != 0 {
		h.data, h.changed = nil, true
	}
	return h, fuse.FOPEN_DIRECT_IO, 0
}

// trustHandle is a copy of the file that replaces the file at the close.
type trustHandle struct {
	n *trustFile

	mu      sync.Mutex
	data    []byte
	changed bool
}

func (h *trustHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return readFrom(h.data, dest, off), 0
}

func (h *trustHandle) Write(ctx context.Context, p []byte, off int64) (uint32, syscall.Errno) {
	req := h.n.t.raw.request(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if req.flags&syscall.O_APPEND != 0 {
		off = int64(len(h.data)) // the kernel's idea of the end is that of the committed file
	}
	if end := off + int64(len(p)); end > int64(len(h.data)) {
		data, err := resize(ctxabi.TrustFile, h.data, end, 0)
		if err != nil {
			return 0, errnoOf(err)
		}
		h.data = data
	}
	copy(h.data[off:], p)
	h.changed = true
	return uint32(len(p)), 0
}

func (h *trustHandle) Flush(ctx context.Context) syscall.Errno {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.changed || len(h.data) == 0 { // a shell flushes what it truncated before it writes
		return 0
	}
	return h.commit()
}

// commit replaces the file by the copy. The caller holds mu.
func (h *trustHandle) commit() syscall.Errno {
	err := h.n.set(h.data)
	if err == nil {
		h.changed = false
	} else {
		h.n.t.log.Warn("refused", "file", h.n.trustPath(), "reason", err)
	}
	return errnoOf(err)
}

func (h *trustHandle) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.changed {
		return 0
	}
	return h.commit()
}

func (h *trustHandle) Release(ctx context.Context) syscall.Errno {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed && len(h.data) == 0 {
		return h.commit()
	}
	return 0
}

// lookupTrust answers a look-up of the trust file of a home.
func (d *realmDir) lookupTrust(ctx context.Context, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	n := &trustFile{realm: d.realm}
	if errno := n.fill(&out.Attr); errno != 0 {
		return nil, errno
	}
	return d.NewInode(ctx, n, treeAttr(syscall.S_IFREG, d.trustPath())), 0
}

// isTrust reports whether name is the trust file here. A space has none.
func (d *realmDir) isTrust(name string) bool { return name == ctxabi.TrustFile && d.ref.Space == "" }

// Create makes the trust file. It is on the disk when it is closed.
func (d *realmDir) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	if !d.isTrust(name) {
		return d.denyDir.Create(ctx, name, flags, mode, out)
	}
	n := &trustFile{realm: d.realm}
	if n.fill(&out.Attr) == 0 {
		if flags&syscall.O_EXCL != 0 {
			return nil, nil, 0, syscall.EEXIST
		}
		return nil, nil, 0, syscall.ESTALE // made since the kernel looked: it looks the name up again
	}
	n.owner().setFile(&out.Attr, 0o600, 0, time.Now())
	h := &trustHandle{n: n, changed: true}
	return d.NewInode(ctx, n, treeAttr(syscall.S_IFREG, d.trustPath())), h, fuse.FOPEN_DIRECT_IO, 0
}

func (d *realmDir) Unlink(ctx context.Context, name string) syscall.Errno {
	if !d.isTrust(name) {
		return d.denyDir.Unlink(ctx, name)
	}
	if _, err := d.t.store.TrustInfo(d.ref.UID); err != nil {
		return errnoOf(err)
	}
	return errnoOf(d.t.store.SetTrust(d.ref.UID, 0, nil))
}
