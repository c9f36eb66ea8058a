package fs

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/internal/memory"
)

// rawFS stands between the kernel and go-fuse's tree of nodes. It counts every request and records
// what the tree drops: the flags that a descriptor has now, the number of the request, the lock
// owner.
type rawFS struct {
	fuse.RawFileSystem // go-fuse's tree
	t                  *tree

	work    *memory.Idle // counts requests
	open    atomic.Int64
	files   openFiles
	numbers numbers

	// What the tree drops, by the request's cancel channel: that is the one
	// thing of a request which it does hand on. A map per shard costs about
	// 100 ns a request, a tenth of one switch to the kernel.
	shards [16]struct {
		mu   sync.Mutex
		live map[<-chan struct{}]request
	}
}

// request is what go-fuse does not hand on of a request.
type request struct {
	unique    uint64 // the kernel's number of it, unique in this connection
	flags     uint32 // of the descriptor, at this moment
	lockOwner uint64 // who closes, in a flush

	file openFile // that it opens; its handler sets it
}

func (r *rawFS) shard(cancel <-chan struct{}) int {
	return int(reflect.ValueOf(cancel).Pointer() >> 7 % uintptr(len(r.shards)))
}

func (r *rawFS) put(cancel <-chan struct{}, req request) {
	r.work.Busy()
	s := &r.shards[r.shard(cancel)]
	s.mu.Lock()
	if s.live == nil {
		s.live = map[<-chan struct{}]request{}
	}
	s.live[cancel] = req
	s.mu.Unlock()
}

func (r *rawFS) drop(cancel <-chan struct{}) request {
	s := &r.shards[r.shard(cancel)]
	s.mu.Lock()
	defer s.mu.Unlock()
	req := s.live[cancel]
	delete(s.live, cancel)
	return req
}

// request returns what was recorded of the request behind ctx.
func (r *rawFS) request(ctx context.Context) request {
	cancel := ctx.Done()
	s := &r.shards[r.shard(cancel)]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[cancel]
}

func (r *rawFS) String() string { return "ctxfs" }

func (r *rawFS) Lookup(cancel <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	r.work.Busy()
	return r.given(r.RawFileSystem.Lookup(cancel, header, name, out), out)
}

func (r *rawFS) Forget(nodeid, nlookup uint64) {
	r.work.Busy()
	r.numbers.forget(nodeid, nlookup)
	r.RawFileSystem.Forget(nodeid, nlookup)
}

// given counts that the kernel is handed the node of out, and sets the number that programs see.
func (r *rawFS) given(code fuse.Status, out *fuse.EntryOut) fuse.Status {
	if code.Ok() && out.NodeId > fuse.FUSE_ROOT_ID {
		out.Ino = r.numbers.take(out.NodeId)
	}
	return code
}

// shown returns the number that programs see of a node that the kernel has.
func (r *rawFS) shown(node uint64) uint64 {
	if node == fuse.FUSE_ROOT_ID {
		return node
	}
	return r.numbers.of(node)
}

func (r *rawFS) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	r.work.Busy()
	code := r.RawFileSystem.GetAttr(cancel, in, out)
	out.Ino = r.shown(in.NodeId)
	return code
}

func (r *rawFS) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	r.put(cancel, request{unique: in.Unique, lockOwner: in.LockOwner})
	defer r.drop(cancel)
	code := r.RawFileSystem.SetAttr(cancel, in, out)
	out.Ino = r.shown(in.NodeId)
	return code
}

func (r *rawFS) Mknod(cancel <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	r.work.Busy()
	return r.given(r.RawFileSystem.Mknod(cancel, in, name, out), out)
}

func (r *rawFS) Mkdir(cancel <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	r.work.Busy()
	return r.given(r.RawFileSystem.Mkdir(cancel, in, name, out), out)
}

func (r *rawFS) Unlink(cancel <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.Unlink(cancel, header, name)
}

func (r *rawFS) Rmdir(cancel <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.Rmdir(cancel, header, name)
}

// Rename holds moves, so that a request which finds a file gone from where the tree has it can
// wait: the disk renames first, the tree after it.
func (r *rawFS) Rename(cancel <-chan struct{}, in *fuse.RenameIn, oldName, newName string) fuse.Status {
	r.work.Busy()
	r.t.moves.RLock()
	defer r.t.moves.RUnlock()
	return r.RawFileSystem.Rename(cancel, in, oldName, newName)
}

func (r *rawFS) Link(cancel <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	r.work.Busy()
	return r.given(r.RawFileSystem.Link(cancel, in, name, out), out)
}

func (r *rawFS) Symlink(cancel <-chan struct{}, header *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	r.work.Busy()
	return r.given(r.RawFileSystem.Symlink(cancel, header, target, name, out), out)
}

func (r *rawFS) Readlink(cancel <-chan struct{}, header *fuse.InHeader) ([]byte, fuse.Status) {
	r.work.Busy()
	return r.RawFileSystem.Readlink(cancel, header)
}

func (r *rawFS) Access(cancel <-chan struct{}, in *fuse.AccessIn) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.Access(cancel, in)
}

func (r *rawFS) GetXAttr(cancel <-chan struct{}, header *fuse.InHeader, attr string, dest []byte) (uint32, fuse.Status) {
	r.work.Busy()
	return r.RawFileSystem.GetXAttr(cancel, header, attr, dest)
}

func (r *rawFS) ListXAttr(cancel <-chan struct{}, header *fuse.InHeader, dest []byte) (uint32, fuse.Status) {
	r.work.Busy()
	return r.RawFileSystem.ListXAttr(cancel, header, dest)
}

func (r *rawFS) SetXAttr(cancel <-chan struct{}, in *fuse.SetXAttrIn, attr string, data []byte) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.SetXAttr(cancel, in, attr, data)
}

func (r *rawFS) RemoveXAttr(cancel <-chan struct{}, header *fuse.InHeader, attr string) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.RemoveXAttr(cancel, header, attr)
}

func (r *rawFS) Create(cancel <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	r.put(cancel, request{unique: in.Unique, flags: in.Flags})
	code := r.given(r.RawFileSystem.Create(cancel, in, name, out), &out.EntryOut)
	return r.opened(code, out.Fh, r.drop(cancel))
}

func (r *rawFS) Tmpfile(cancel <-chan struct{}, in *fuse.CreateIn, out *fuse.CreateOut) fuse.Status {
	r.put(cancel, request{unique: in.Unique, flags: in.Flags})
	code := r.given(r.RawFileSystem.Tmpfile(cancel, in, out), &out.EntryOut)
	return r.opened(code, out.Fh, r.drop(cancel))
}

func (r *rawFS) Open(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	r.put(cancel, request{unique: in.Unique, flags: in.Flags})
	code := r.RawFileSystem.Open(cancel, in, out)
	return r.opened(code, out.Fh, r.drop(cancel))
}

// opened counts the handle that req opened.
func (r *rawFS) opened(code fuse.Status, handle uint64, req request) fuse.Status {
	if code.Ok() {
		r.open.Add(1)
		r.files.add(handle, req.file)
	}
	return code
}

func (r *rawFS) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	r.work.Busy()
	return r.RawFileSystem.Read(cancel, in, buf)
}

func (r *rawFS) Lseek(cancel <-chan struct{}, in *fuse.LseekIn, out *fuse.LseekOut) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.Lseek(cancel, in, out)
}

func (r *rawFS) GetLk(cancel <-chan struct{}, in *fuse.LkIn, out *fuse.LkOut) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.GetLk(cancel, in, out)
}

func (r *rawFS) SetLk(cancel <-chan struct{}, in *fuse.LkIn) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.SetLk(cancel, in)
}

func (r *rawFS) SetLkw(cancel <-chan struct{}, in *fuse.LkIn) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.SetLkw(cancel, in)
}

func (r *rawFS) Release(cancel <-chan struct{}, in *fuse.ReleaseIn) {
	r.put(cancel, request{unique: in.Unique, flags: in.Flags, lockOwner: in.LockOwner})
	defer r.drop(cancel)
	file := r.files.take(in.Fh)
	r.RawFileSystem.Release(cancel, in)
	r.files.done(file)
	r.open.Add(-1)
}

func (r *rawFS) Write(cancel <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	r.put(cancel, request{unique: in.Unique, flags: in.Flags, lockOwner: in.LockOwner})
	defer r.drop(cancel)
	return r.RawFileSystem.Write(cancel, in, data)
}

func (r *rawFS) Writev(cancel <-chan struct{}, in *fuse.WriteIn, data [][]byte) (uint32, fuse.Status) {
	r.put(cancel, request{unique: in.Unique, flags: in.Flags, lockOwner: in.LockOwner})
	defer r.drop(cancel)
	return r.RawFileSystem.Writev(cancel, in, data)
}

func (r *rawFS) CopyFileRange(cancel <-chan struct{}, in *fuse.CopyFileRangeIn) (uint32, fuse.Status) {
	r.work.Busy()
	return r.RawFileSystem.CopyFileRange(cancel, in)
}

func (r *rawFS) Ioctl(cancel <-chan struct{}, in *fuse.IoctlIn, inbuf []byte, out *fuse.IoctlOut, outbuf []byte) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.Ioctl(cancel, in, inbuf, out, outbuf)
}

func (r *rawFS) Flush(cancel <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	r.put(cancel, request{unique: in.Unique, lockOwner: in.LockOwner})
	defer r.drop(cancel)
	return r.RawFileSystem.Flush(cancel, in)
}

func (r *rawFS) Fsync(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	r.put(cancel, request{unique: in.Unique})
	defer r.drop(cancel)
	return r.RawFileSystem.Fsync(cancel, in)
}

func (r *rawFS) Fallocate(cancel <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.Fallocate(cancel, in)
}

func (r *rawFS) OpenDir(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	r.put(cancel, request{unique: in.Unique, flags: in.Flags})
	code := r.RawFileSystem.OpenDir(cancel, in, out)
	return r.opened(code, out.Fh, r.drop(cancel))
}

func (r *rawFS) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.ReadDir(cancel, in, out)
}

func (r *rawFS) ReadDirPlus(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.ReadDirPlus(cancel, in, out)
}

func (r *rawFS) ReleaseDir(in *fuse.ReleaseIn) {
	r.work.Busy()
	file := r.files.take(in.Fh)
	r.RawFileSystem.ReleaseDir(in)
	r.files.done(file)
	r.open.Add(-1)
}

func (r *rawFS) FsyncDir(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	r.work.Busy()
	return r.RawFileSystem.FsyncDir(cancel, in)
}

// StatFs answers for every node, because go-fuse would answer with a disk of no blocks for those
// that have no StatFs.
func (r *rawFS) StatFs(cancel <-chan struct{}, in *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	r.work.Busy()
	return fuse.Status(r.t.statfs(out))
}

func (r *rawFS) Statx(cancel <-chan struct{}, in *fuse.StatxIn, out *fuse.StatxOut) fuse.Status {
	r.work.Busy()
	code := r.RawFileSystem.Statx(cancel, in, out)
	out.Ino = r.shown(in.NodeId)
	return code
}
