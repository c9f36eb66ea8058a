package disk

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Dir is the directory of a session, which may be renamed while it is in use. It is safe for
// concurrent use.
type Dir struct {
	Root    *Root
	id      string
	created int64 // unix ns
	place   atomic.Pointer[place]
	removed atomic.Bool // it was taken out of the store
	grown   atomic.Bool // a watcher was told that it grew, and has not looked yet
	reports Lazy[reports]
}

// Init makes x the directory of the session at ref, which has an id and was made at a time. It is
// called once, before x is used.
func (x *Dir) Init(root *Root, ref ctxabi.Ref, id string, created time.Time) {
	x.Root, x.id, x.created = root, id, created.UnixNano()
	x.place.Store(&place{ref: ref, dir: root.Join(ref.Path())})
}

// Names inside a session that only the store has.
const (
	IDFile        = ctxabi.InternalDir + "/id"
	QuarantineDir = ctxabi.InternalDir + "/quarantine"
	ErrorsFile    = ctxabi.InternalDir + "/errors.jsonl"
)

// place is where a session is. Renaming replaces it whole.
type place struct {
	ref   ctxabi.Ref
	dir   string
	moves uint64 // before it came here
}

// Unchanged returns a read-only view of the directory.
func (x *Dir) Unchanged() *Dir {
	s := x.Root
	look := &Dir{Root: &Root{FS: s.FS, Dir: s.Dir, ReadOnly: true, AsRoot: s.AsRoot, Now: s.Now, Logger: s.Logger}, id: x.id, created: x.created}
	look.place.Store(x.place.Load())
	return look
}

// ID is 32 hex digits, for life.
func (x *Dir) ID() string { return x.id }

// Ref is where the session is now.
func (x *Dir) Ref() ctxabi.Ref { return x.place.Load().ref }

// Dir is the session's absolute directory in the store.
func (x *Dir) Dir() string { return x.place.Load().dir }

// Removed reports whether the session was taken out of the store since it was looked up.
func (x *Dir) Removed() bool { return x.removed.Load() }

// MarkRemoved notes that the session was taken out of the store.
func (x *Dir) MarkRemoved() { x.removed.Store(true) }

// Grew is called when a log of the session has more records: who watches the store, see
// [Root.Watch], learns of it once until Seen.
func (x *Dir) Grew() {
	if x.grown.Load() {
		return
	}
	if tell := x.Root.watch.Load(); tell != nil && !x.grown.Swap(true) {
		(*tell)(x)
	}
}

// Seen has the watcher told of the next growth: it is about to look at how long the logs are.
func (x *Dir) Seen() { x.grown.Store(false) }

// InPlace calls do with where the session is, while nobody moves it, and how often it was moved
// until now. do must ask nothing of the store.
func (x *Dir) InPlace(do func(ref ctxabi.Ref, moves uint64)) {
	x.Root.Move.RLock()
	defer x.Root.Move.RUnlock()
	p := x.place.Load()
	do(p.ref, p.moves)
}

// SetRef notes where the session is from now on. Root.Move is held for writing.
func (x *Dir) SetRef(ref ctxabi.Ref) {
	x.place.Store(&place{ref, x.Root.Join(ref.Path()), x.place.Load().moves + 1})
}

// Created is when the session was made.
func (x *Dir) Created() time.Time { return time.Unix(0, x.created) }

// Path returns the absolute name of a file of the session. Callers that open it hold Root.Move for
// reading.
func (x *Dir) Path(rel ...string) string {
	return path.Clean(x.Dir() + "/" + strings.Join(rel, "/"))
}

// Owner reads to whom the session's files belong from its directory. It returns the error of a disk
// that cannot tell.
func (x *Dir) Owner() (Owner, error) {
	fi, err := x.Root.FS.Stat(x.Dir())
	if err != nil {
		return Owner{}, err
	}
	uid, gid, ok := vfs.OwnerOf(fi)
	if !ok {
		return Owner{}, errors.New("the disk does not store owners")
	}
	mode := uint32(fi.Mode().Perm())
	if fi.Mode()&fs.ModeSetgid != 0 {
		mode |= 0o2000
	}
	return Owner{UID: uid, GID: gid, Mode: mode}, nil
}

// Replace writes a file of the session through a temporary one, as its owner. It returns the error
// of the disk; the old content stays then, unless only its directory could not be synced.
func (x *Dir) Replace(name string, data []byte, durable bool) error {
	s := x.Root
	o, err := x.Owner()
	if err != nil {
		return err
	}
	file, tmp := x.Path(name), s.TmpName()
	err = vfs.WriteFile(s.FS, tmp, data, o.FileMode().Perm())
	if err == nil {
		err = s.Own(tmp, o, o.FileMode())
	}
	if err == nil {
		err = s.FS.Rename(tmp, file)
	}
	if err != nil {
		s.FS.Remove(tmp)
		return err
	}
	if durable {
		return s.FS.SyncDir(path.Dir(file))
	}
	return nil
}
