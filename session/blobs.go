package session

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
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// blobDir holds the blobs that users stored, each under its content id.
const blobDir = ctxabi.InternalDir + "/blobs"

// Blob is content that a user stored under its own hash.
type Blob struct {
	ID   string // "sha256-<hex>"
	Size int64
	UID  uint32 // who stored it
	Time time.Time
}

// Blobs lists what users stored, by id.
func (x *Session) Blobs() (list []Blob) {
	x.blobs.RLock()
	defer x.blobs.RUnlock()
	x.store.move.RLock()
	entries, _ := x.store.vfs.ReadDir(x.path(blobDir))
	x.store.move.RUnlock()
	for _, e := range entries {
		if b, err := x.blob(e.Name()); err == nil {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b Blob) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Blob tells of the blob called id; ctxabi.ErrNotFound when no user stored it. Who asks uses it: see [Session.BlobUsed].
func (x *Session) Blob(id string) (Blob, error) {
	x.blobs.RLock()
	defer x.blobs.RUnlock()
	b, err := x.blob(id)
	if err == nil {
		x.look(id)
	}
	return b, err
}

// blob is Blob; x.blobs is held.
func (x *Session) blob(id string) (Blob, error) {
	if ctxabi.ParseContentID(id) != nil {
		return Blob{}, noBlob(id)
	}
	x.store.move.RLock()
	defer x.store.move.RUnlock()
	fi, err := x.store.vfs.Stat(x.path(blobDir, id))
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !fi.Mode().IsRegular():
		return Blob{}, noBlob(id)
	case err != nil:
		return Blob{}, vfs.Failed("read", blobName(id), err, "it cannot be looked at")
	}
	uid, _, _ := vfs.OwnerOf(fi)
	return Blob{ID: id, Size: fi.Size(), UID: uid, Time: fi.ModTime()}, nil
}

func noBlob(id string) error {
	return ctxabi.E("read", blobName(id), ctxabi.ErrNotFound, "nobody stored it")
}

// OpenBlob opens what a user stored as id, once all of it was read and has that hash: else ctxabi.ErrIO, and a row in the
// session's report; ctxabi.ErrNotFound when no user stored it, or it was removed. The caller closes it.
func (x *Session) OpenBlob(id string) (File, error) {
	b, f, err := x.openBlob(id)
	if err != nil {
		return nil, err
	}
	sum, err := sumOf(f, b.Size)
	if err != nil {
		err = vfs.Failed("read", blobName(id), err, "it cannot be read")
	} else if sum != id {
		err = ctxabi.E("read", blobName(id), ctxabi.ErrIO, "its %d bytes are those of %s", b.Size, sum)
	}
	if err != nil {
		f.Close()
		x.report("read", blobName(id), err)
		return nil, err
	}
	return f, nil
}

func (x *Session) openBlob(id string) (Blob, File, error) {
	x.blobs.RLock()
	defer x.blobs.RUnlock()
	b, err := x.blob(id)
	if err != nil {
		return b, nil, err
	}
	x.look(id)
	x.store.move.RLock()
	defer x.store.move.RUnlock()
	f, err := x.store.vfs.OpenFile(x.path(blobDir, id), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) { // removed since
		return b, nil, noBlob(id)
	} else if err != nil {
		return b, nil, vfs.Failed("read", blobName(id), err, "it cannot be opened")
	}
	return b, f, nil
}

// RemoveBlob removes what the user uid, or anybody when uid is 0, stored as id. It fails with ctxabi.ErrNotFound when nobody did
// and with ctxabi.ErrDenied when somebody else did.
func (x *Session) RemoveBlob(id string, uid uint32) error {
	if err := x.store.writable("remove"); err != nil {
		return err
	}
	x.blobs.RLock()
	defer x.blobs.RUnlock()
	b, err := x.blob(id)
	if err != nil {
		return err
	}
	if uid != 0 && b.UID != uid {
		return ctxabi.E("remove", blobName(id), ctxabi.ErrDenied, "uid %d stored it", b.UID)
	}
	return x.removeBlob(id)
}

func (x *Session) removeBlob(id string) error {
	x.store.move.RLock()
	defer x.store.move.RUnlock()
	if err := x.store.vfs.Remove(x.path(blobDir, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return vfs.Failed("remove", blobName(id), err, "it stays")
	}
	x.lookedMu.Lock()
	delete(x.looked, id)
	x.lookedMu.Unlock()
	return nil
}

func blobName(id string) string { return path.Join(ctxabi.DedupBlobDir, id) }

// sumOf gives the content id of the first size bytes of r.
func sumOf(r io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, 0, size)); err != nil {
		return "", err
	}
	return "sha256-" + hex.EncodeToString(h.Sum(nil)), nil
}
