package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Where a session is on several hosts, which blobs it has is decided for all of them: a blob is stored
// and removed by changes that are committed in one order. A blob that somebody looks at is used on all
// hosts; that is committed once in a while.

// UsedEvery is how long one look at a blob counts for others. A blob that is shared is not swept before
// it was not used for twice as long, on a host whose store is open for as long.
const UsedEvery = time.Hour

// Change is one change of the blobs of a session.
type Change struct {
	ID   string // "sha256-<hex>"
	Drop bool   // the blob is removed
	If   uint64 // of Drop: only if so many entries of the session were applied before; 0: always
	Used bool   // the blob was used at Time; else, without Drop, it is stored
	Size int64
	UID  uint32
	Time time.Time

	Content io.ReaderAt // of a blob that is stored, as long as it is committed; not part of what is applied
}

// Sharer decides for all hosts. Commit makes a change durable, its content with it, and has it applied
// here by [Store.ApplyBlob] before it returns. Position returns how many entries of the session were
// applied here.
type Sharer interface {
	Commit(c Change) error
	Position() uint64
}

// share is commit where blobs are shared. Stage.mu is held.
func (s *Stage) share() error {
	x := s.x
	if err := s.file.Sync(); err != nil {
		return vfs.Failed("close", Name(s.id), vfs.WithKind(err), "it was not stored")
	}
	x.stagedMu.Lock()
	if x.staged == nil {
		x.staged = map[string]string{}
	}
	x.staged[s.id] = s.name
	x.stagedMu.Unlock()
	err := x.sharer.Commit(Change{ID: s.id, Size: s.size, UID: s.writer.UID, Time: x.dir.Root.Now(), Content: s.file})
	x.stagedMu.Lock()
	delete(x.staged, s.id)
	x.stagedMu.Unlock()
	if err != nil {
		return err
	}
	root := x.dir.Root
	root.FS.Remove(s.name) // where the blob was there already
	s.committed = true
	root.Owned.Delete(s.name)
	root.Staged.Give(s.writer.UID, s.size, true)
	return nil
}

// ApplyBlob makes a change that was committed true, durably. entry is the number of the entry it stands
// in. content returns what a stored blob holds, which is held against its hash; it is asked where no
// handle of this host has it. A change that was applied before is not applied again. ApplyBlob returns
// ctxabi.ErrMalformed for what is no change, the error of content, and that of the disk.
func (x *Store) ApplyBlob(c Change, entry uint64, content func() ([]byte, error)) error {
	if err := ctxabi.ParseContentID(c.ID); err != nil {
		return err
	}
	switch {
	case c.Used:
		x.used(c.ID)
		return nil
	case c.Drop:
		if c.If != 0 && c.If != entry {
			return nil // something was committed since who removes it has looked
		}
		return x.removeBlob(c.ID)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.used(c.ID)
	if b, err := x.blob(c.ID); err == nil && b.Size == c.Size {
		return nil
	}
	x.stagedMu.Lock()
	defer x.stagedMu.Unlock()
	name := x.staged[c.ID]
	if name == "" {
		data, err := content()
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(data); "sha256-"+hex.EncodeToString(sum[:]) != c.ID {
			return ctxabi.E("apply", Name(c.ID), ctxabi.ErrIO, "its %d bytes have another hash", len(data))
		}
		name = x.dir.Root.TmpName()
		if err := vfs.WriteFile(x.dir.Root.FS, name, data, 0o600); err != nil {
			x.dir.Root.FS.Remove(name)
			return vfs.Failed("apply", Name(c.ID), err, "it was not stored")
		}
	}
	return x.place(name, c.ID, c.UID, c.Time)
}

// place moves a synced file to where the blob id lies, which the user uid stored at a time; zero: that of
// the file.
func (x *Store) place(name, id string, uid uint32, at time.Time) error {
	store := x.dir.Root
	store.Move.RLock()
	defer store.Move.RUnlock()
	dir := x.dir.Path(Dir)
	o, err := x.dir.Owner()
	if err != nil {
		return vfs.Failed("close", Name(id), err, "it was not stored")
	}
	if o.Mode&0o070 != 0 { // in a shared space it is its writer's
		o.UID = uid
	}
	err = store.FS.Mkdir(dir, 0o700)
	if err == nil {
		err = store.FS.SyncDir(x.dir.Path(ctxabi.InternalDir))
	} else if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err == nil {
		err = store.Own(name, o, o.FileMode())
	}
	if err == nil && !at.IsZero() {
		err = store.FS.Chtimes(name, at)
	}
	if err == nil {
		err = store.FS.Rename(name, x.dir.Path(Dir, id))
	}
	if err == nil {
		err = store.FS.SyncDir(dir)
	}
	if err != nil {
		return vfs.Failed("close", Name(id), err, "it was not stored")
	}
	return nil
}

// used notes that a blob was used, as all hosts know: at the latest now, when this host learns of it. When it was by the
// clock of the host that says so does not count.
func (x *Store) used(id string) {
	at := x.dir.Root.Now()
	x.lookedMu.Lock()
	defer x.lookedMu.Unlock()
	if x.looked == nil {
		x.looked = map[string]time.Time{}
	}
	if at.After(x.looked[id]) {
		x.looked[id] = at
	}
	if x.told == nil {
		x.told = map[string]time.Time{}
	}
	if at.After(x.told[id]) {
		x.told[id] = at
	}
}

// tell has it committed that a blob is used now, unless that was done lately. Nobody waits for it.
func (x *Store) tell(id string, now time.Time) {
	x.lookedMu.Lock()
	defer x.lookedMu.Unlock()
	if age := now.Sub(x.told[id]); age >= 0 && age < UsedEvery {
		return
	}
	if x.told == nil {
		x.told = map[string]time.Time{}
	}
	x.told[id] = now
	x.toTell = append(x.toTell, id)
	if len(x.toTell) > 1 {
		return // somebody is at it
	}
	go func() {
		for {
			x.lookedMu.Lock()
			if len(x.toTell) == 0 {
				x.lookedMu.Unlock()
				return
			}
			id := x.toTell[0]
			x.lookedMu.Unlock()
			x.sharer.Commit(Change{ID: id, Used: true, Time: now}) // what is lost is told again after UsedEvery
			x.lookedMu.Lock()
			x.toTell = x.toTell[1:]
			x.lookedMu.Unlock()
		}
	}()
}

// sweepShared is SweepBlob where blobs are shared: the change is made if nothing was committed to the
// session since confirm has looked.
func (x *Store) sweepShared(id string, confirm func(Blob) (bool, error)) (freed int64, done bool, err error) {
	at := x.sharer.Position()
	x.mu.Lock()
	b, err := x.blob(id)
	if errors.Is(err, ctxabi.ErrNotFound) {
		err = nil
	} else if err == nil && x.dir.Root.Now().Sub(x.BlobUsed(b)) >= 2*UsedEvery {
		done, err = confirm(b)
	}
	x.mu.Unlock()
	if !done || err != nil {
		return 0, false, err
	}
	if err := x.sharer.Commit(Change{ID: id, Drop: true, If: at}); err != nil {
		return 0, false, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if _, err := x.blob(id); !errors.Is(err, ctxabi.ErrNotFound) {
		return 0, false, nil // it is used again
	}
	return b.Size, true, nil
}
