package session

import (
	"errors"
	"io/fs"
	"path"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// diskDir is the directory of a session, which may be renamed while it is in use. It is safe for concurrent use.
type diskDir struct {
	store   *diskRoot
	id      string
	created time.Time
	place   atomic.Pointer[place]
	removed atomic.Bool // it was taken out of the store
	reports reports
}

func (x *diskDir) init(root *diskRoot, ref ctxabi.Ref, id string, created time.Time) {
	x.store, x.id, x.created = root, id, created
	x.place.Store(&place{ref: ref, dir: root.inStore(ref.Path())})
}

// Names inside a session that only the store has.
const (
	idFile        = ctxabi.InternalDir + "/id"
	quarantineDir = ctxabi.InternalDir + "/quarantine"
	errorsFile    = ctxabi.InternalDir + "/errors.jsonl"
)

// place is where a session is. Renaming replaces it whole.
type place struct {
	ref   ctxabi.Ref
	dir   string
	moves uint64 // before it came here
}

// unchanged is the directory for who may change nothing in it.
func (x *diskDir) unchanged() *diskDir {
	s := x.store
	look := &diskDir{store: &diskRoot{vfs: s.vfs, dir: s.dir, readOnly: true, root: s.root, now: s.now, logger: s.logger}, id: x.id, created: x.created}
	look.place.Store(x.place.Load())
	return look
}

// ID is 32 hex digits, for life.
func (x *diskDir) ID() string { return x.id }

// Ref is where the session is now.
func (x *diskDir) Ref() ctxabi.Ref { return x.place.Load().ref }

// Dir is the session's absolute directory in the store.
func (x *diskDir) Dir() string { return x.place.Load().dir }

// Removed says whether the session was taken out of the store since it was looked up.
func (x *diskDir) Removed() bool { return x.removed.Load() }

// markRemoved notes that the session was taken out of the store.
func (x *diskDir) markRemoved() { x.removed.Store(true) }

// InPlace calls do with where the session is, while nobody moves it, and how often it was moved until now. do must ask nothing of the store.
func (x *diskDir) InPlace(do func(ref ctxabi.Ref, moves uint64)) {
	x.store.move.RLock()
	defer x.store.move.RUnlock()
	p := x.place.Load()
	do(p.ref, p.moves)
}

// put says where the session is from now on. store.move is held for writing.
func (x *diskDir) put(ref ctxabi.Ref) {
	x.place.Store(&place{ref, x.store.inStore(ref.Path()), x.place.Load().moves + 1})
}

// Created is when the session was made.
func (x *diskDir) Created() time.Time { return x.created }

// path gives the absolute name of a file of the session. Callers that open it hold Store.move for reading.
func (x *diskDir) path(rel ...string) string {
	return path.Join(x.Dir(), path.Join(rel...))
}

// owner reads to whom the session's files belong from its directory.
func (x *diskDir) owner() (Owner, error) {
	fi, err := x.store.vfs.Stat(x.Dir())
	if err != nil {
		return Owner{}, err
	}
	uid, gid, ok := vfs.OwnerOf(fi)
	if !ok {
		return Owner{}, errors.New("the disk knows no owners")
	}
	mode := uint32(fi.Mode().Perm())
	if fi.Mode()&fs.ModeSetgid != 0 {
		mode |= 0o2000
	}
	return Owner{UID: uid, GID: gid, Mode: mode}, nil
}

// replace writes a file of the session through a temporary one, as its owner.
func (x *diskDir) replace(name string, data []byte, durable bool) error {
	s := x.store
	o, err := x.owner()
	if err != nil {
		return err
	}
	file, tmp := x.path(name), s.tmpName()
	err = vfs.WriteFile(s.vfs, tmp, data, o.fileMode().Perm())
	if err == nil {
		err = s.own(tmp, o, o.fileMode())
	}
	if err == nil {
		err = s.vfs.Rename(tmp, file)
	}
	if err != nil {
		s.vfs.Remove(tmp)
		return err
	}
	if durable {
		return s.vfs.SyncDir(path.Dir(file))
	}
	return nil
}
