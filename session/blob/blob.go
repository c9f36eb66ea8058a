package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Dir holds the blobs that users stored, each under its content id.
const Dir = ctxabi.InternalDir + "/blobs"

// Blob is content that a user stored under its own hash.
type Blob struct {
	ID   string // "sha256-<hex>"
	Size int64
	UID  uint32 // who stored it
	Time time.Time
}

// Store is what users stored in one session. It is safe for concurrent use.
type Store struct {
	dir      *disk.Dir
	mu       sync.RWMutex         // comes before Root.Move; held for writing while a blob is judged and swept
	lookedMu sync.Mutex           // held for moments only
	looked   map[string]time.Time // when a blob was looked at last; guarded by lookedMu
}

// Init makes x the store of the blobs in dir. It is called once, before x is used.
func (x *Store) Init(dir *disk.Dir) { x.dir = dir }

// Blobs lists what users stored, by id.
func (x *Store) Blobs() (list []Blob) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.dir.Root.Move.RLock()
	entries, _ := x.dir.Root.FS.ReadDir(x.dir.Path(Dir))
	x.dir.Root.Move.RUnlock()
	for _, e := range entries {
		if b, err := x.blob(e.Name()); err == nil {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b Blob) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Blob returns the blob called id. It returns ctxabi.ErrNotFound if no user stored it. To ask for a
// blob is to use it: see [Store.BlobUsed].
func (x *Store) Blob(id string) (Blob, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	b, err := x.blob(id)
	if err == nil {
		x.look(id)
	}
	return b, err
}

// blob is Blob; x.mu is held.
func (x *Store) blob(id string) (Blob, error) {
	if ctxabi.ParseContentID(id) != nil {
		return Blob{}, noBlob(id)
	}
	x.dir.Root.Move.RLock()
	defer x.dir.Root.Move.RUnlock()
	fi, err := x.dir.Root.FS.Stat(x.dir.Path(Dir, id))
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !fi.Mode().IsRegular():
		return Blob{}, noBlob(id)
	case err != nil:
		return Blob{}, vfs.Failed("read", Name(id), err, "it cannot be examined")
	}
	uid, _, _ := vfs.OwnerOf(fi)
	return Blob{ID: id, Size: fi.Size(), UID: uid, Time: fi.ModTime()}, nil
}

func noBlob(id string) error {
	return ctxabi.E("read", Name(id), ctxabi.ErrNotFound, "nobody stored it")
}

// OpenBlob opens what a user stored as id, once all of it was read and has that hash: else
// ctxabi.ErrIO, and a row in the session's report; ctxabi.ErrNotFound when no user stored it, or it
// was removed. The caller closes it.
func (x *Store) OpenBlob(id string) (vfs.File, error) {
	b, f, err := x.openBlob(id)
	if err != nil {
		return nil, err
	}
	sum, err := SumOf(f, b.Size)
	if err != nil {
		err = vfs.Failed("read", Name(id), err, "it cannot be read")
	} else if sum != id {
		err = ctxabi.E("read", Name(id), ctxabi.ErrIO, "its %d bytes have the hash %s", b.Size, sum)
	}
	if err != nil {
		f.Close()
		x.dir.ReportError("read", Name(id), err)
		return nil, err
	}
	return f, nil
}

func (x *Store) openBlob(id string) (Blob, vfs.File, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	b, err := x.blob(id)
	if err != nil {
		return b, nil, err
	}
	x.look(id)
	x.dir.Root.Move.RLock()
	defer x.dir.Root.Move.RUnlock()
	f, err := x.dir.Root.FS.OpenFile(x.dir.Path(Dir, id), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) { // removed since
		return b, nil, noBlob(id)
	} else if err != nil {
		return b, nil, vfs.Failed("read", Name(id), err, "it cannot be opened")
	}
	return b, f, nil
}

// RemoveBlob removes what the user uid, or anybody when uid is 0, stored as id. It fails with
// ctxabi.ErrNotFound when nobody did and with ctxabi.ErrDenied when somebody else did.
func (x *Store) RemoveBlob(id string, uid uint32) error {
	if err := x.dir.Root.Writable("remove"); err != nil {
		return err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	b, err := x.blob(id)
	if err != nil {
		return err
	}
	if uid != 0 && b.UID != uid {
		return ctxabi.E("remove", Name(id), ctxabi.ErrDenied, "uid %d stored it", b.UID)
	}
	return x.removeBlob(id)
}

func (x *Store) removeBlob(id string) error {
	x.dir.Root.Move.RLock()
	defer x.dir.Root.Move.RUnlock()
	if err := x.dir.Root.FS.Remove(x.dir.Path(Dir, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return vfs.Failed("remove", Name(id), err, "it was not removed")
	}
	x.lookedMu.Lock()
	delete(x.looked, id)
	x.lookedMu.Unlock()
	return nil
}

// Name is the path of a blob as the tree shows it.
func Name(id string) string { return path.Join(ctxabi.DedupBlobDir, id) }

// SumOf returns the content id of the first size bytes of r. It returns the error of a read.
func SumOf(r io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, 0, size)); err != nil {
		return "", err
	}
	return "sha256-" + hex.EncodeToString(h.Sum(nil)), nil
}

// SweepBlob removes blob id if confirm, called with the blob's current state under the lock of
// blobs, returns true. Until it returns, nobody finds out whether the blob is there: confirm sees
// what named it before, and who names it later did not see it. SweepBlob returns
// ctxabi.ErrReadOnly, the error of confirm, and that of the disk; the blob stays then. A blob that
// is not there is no error.
func (x *Store) SweepBlob(id string, confirm func(Blob) (bool, error)) (freed int64, done bool, err error) {
	if err := x.dir.Root.Writable("collect"); err != nil {
		return 0, false, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	b, err := x.blob(id)
	if errors.Is(err, ctxabi.ErrNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	if ok, err := confirm(b); !ok || err != nil {
		return 0, false, err
	}
	if err := x.removeBlob(id); err != nil {
		return 0, false, err
	}
	return b.Size, true, nil
}

// BlobUsed returns the time when b was last looked up since the store was opened, or else when it
// was stored.
func (x *Store) BlobUsed(b Blob) time.Time {
	x.lookedMu.Lock()
	defer x.lookedMu.Unlock()
	used := b.Time
	if at := x.looked[b.ID]; at.After(used) {
		used = at
	}
	return used
}

// look notes that somebody looked at a blob.
func (x *Store) look(id string) {
	now := x.dir.Root.Now()
	x.lookedMu.Lock()
	if x.looked == nil {
		x.looked = map[string]time.Time{}
	}
	x.looked[id] = now
	x.lookedMu.Unlock()
}
