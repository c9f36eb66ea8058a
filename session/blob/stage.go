package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Stage holds what one open handle writes to a new blob, in a file of the store's tmp directory. It
// becomes the blob once its content has the hash that is the blob's name. It is safe for concurrent
// use.
//
//   - A Flush with that content commits it: durable, and unchanging from then on.
//   - A Flush with other content gives ErrMalformed and keeps it, because a program's close is not always the last
//     one: that of a child which wrote a part of it comes first. One before the first write gives nothing.
//   - Release drops what was not committed, with a row in errors.jsonl where the last Flush did not say so.
type Stage struct {
	x      *Store
	id     string
	writer disk.Writer

	mu        sync.Mutex
	file      vfs.File
	name      string // of file
	kept      func() // ends what file counts for
	size      int64
	written   bool
	refused   bool // the last Flush was, and nothing was written since
	committed bool
	running   digest // of the first hashed bytes; nil: they were not written in order
	hashed    int64
}

type digest interface {
	io.Writer
	Sum(b []byte) []byte
}

// NewBlobStage begins a blob for a handle opened by w. Only a content id can be its name. It
// returns ctxabi.ErrMalformed for another, ctxabi.ErrQuota if its writer has too many stages,
// ctxabi.ErrReadOnly, and the error of the disk.
func (x *Store) NewBlobStage(id string, w disk.Writer) (*Stage, error) {
	err := ctxabi.ParseContentID(id)
	if err == nil {
		err = x.dir.Root.Writable("create")
	}
	if err == nil {
		err = x.dir.Root.Staged.Take(w.UID, 0, true)
	}
	if err != nil {
		return nil, err
	}
	s := &Stage{x: x, id: id, writer: w, name: x.dir.Root.TmpName(), running: sha256.New()}
	x.dir.Root.Owned.Store(s.name, nil)
	if s.kept, err = handles.Keep(w.UID); err == nil {
		if s.file, err = x.dir.Root.FS.OpenFile(s.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			s.kept()
		}
	}
	if err != nil {
		err = vfs.WithKind(err)
		x.dir.Root.Owned.Delete(s.name)
		x.dir.Root.Staged.Give(w.UID, 0, true)
		return nil, vfs.Failed("create", Name(id), err, "it could not be staged")
	}
	return s, nil
}

// Size is the number of bytes staged or committed.
func (s *Stage) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// Committed reports whether the blob is stored.
func (s *Stage) Committed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.committed
}

// ReadAt reads what is staged or committed. It returns io.EOF behind that.
func (s *Stage) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.ReadAt(p, off)
}

// WriteAt stages bytes, anywhere. What does not fit into ctxabi.MaxBlob gives ErrOverBudget, into
// what its writer may stage ErrQuota.
func (s *Stage) WriteAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := max(s.size, off+int64(len(p)))
	if err := s.grow("write", end); err != nil {
		return 0, err
	}
	var err error
	if at, anywhere := s.file.(io.WriterAt); anywhere {
		_, err = at.WriteAt(p, off)
		err = vfs.WithKind(err)
	} else if off == s.size {
		err = vfs.WriteFull(s.file, p)
	} else {
		err = errors.ErrUnsupported
	}
	if err != nil {
		s.running = nil
		s.x.dir.Root.Staged.Give(s.writer.UID, end-s.size, false)
		return 0, vfs.Failed("write", Name(s.id), err, "this write was not stored")
	}
	if s.running != nil && off == s.hashed {
		s.running.Write(p)
		s.hashed += int64(len(p))
	} else {
		s.running = nil
	}
	s.size, s.written, s.refused = end, true, false
	return len(p), nil
}

// Truncate cuts what is staged, or extends it with NULs. It returns ctxabi.ErrOverBudget,
// ctxabi.ErrQuota, ctxabi.ErrMalformed once the blob is committed, and the error of the disk.
func (s *Stage) Truncate(size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size == s.size {
		return nil
	}
	if err := s.grow("truncate", max(s.size, size)); err != nil {
		return err
	}
	if err := s.file.Truncate(size); err != nil {
		s.x.dir.Root.Staged.Give(s.writer.UID, max(0, size-s.size), false)
		return vfs.Failed("truncate", Name(s.id), vfs.WithKind(err), "its size is unchanged")
	}
	s.x.dir.Root.Staged.Give(s.writer.UID, max(0, s.size-size), false)
	s.size, s.running, s.written, s.refused = size, nil, true, false
	return nil
}

// grow takes the room for size bytes.
func (s *Stage) grow(op string, size int64) error {
	switch {
	case s.committed:
		return ctxabi.E(op, Name(s.id), ctxabi.ErrMalformed, "its content matches its name already; it cannot be changed")
	case size > ctxabi.MaxBlob:
		return ctxabi.E(op, Name(s.id), ctxabi.ErrOverBudget, "it would have %d bytes, the limit is %d", size, ctxabi.MaxBlob)
	}
	return s.x.dir.Root.Staged.Take(s.writer.UID, size-s.size, false)
}

// Flush commits the blob if its content has the hash that is its name; see [Stage]. It returns
// ctxabi.ErrMalformed if it has not, and the error of the disk.
func (s *Stage) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.committed {
		return nil
	}
	sum, err := s.sum()
	switch {
	case err != nil:
		return vfs.Failed("close", Name(s.id), err, "the written bytes cannot be read back")
	case sum == s.id:
		return s.commit()
	case !s.written:
		return nil
	}
	s.refused = true
	return ctxabi.E("close", Name(s.id), ctxabi.ErrMalformed, "the %d bytes written so far have the hash %s", s.size, sum)
}

func (s *Stage) sum() (string, error) {
	if s.running != nil && s.hashed == s.size {
		return "sha256-" + hex.EncodeToString(s.running.Sum(nil)), nil
	}
	return SumOf(s.file, s.size)
}

// commit moves the staged file into its place.
func (s *Stage) commit() error {
	store := s.x.dir.Root
	s.x.mu.RLock()
	defer s.x.mu.RUnlock()
	if err := s.file.Sync(); err != nil {
		return vfs.Failed("close", Name(s.id), err, "it was not stored")
	}
	if err := s.x.place(s.name, s.id, s.writer.UID); err != nil {
		return err
	}
	s.committed = true
	store.Owned.Delete(s.name)
	store.Staged.Give(s.writer.UID, s.size, true)
	return nil
}

// place moves a synced file to the path of the blob id, which the user uid stored.
func (x *Store) place(name, id string, uid uint32) error {
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

// Release ends the stage.
func (s *Stage) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file.Close()
	s.kept()
	if s.committed {
		return
	}
	store := s.x.dir.Root
	store.FS.Remove(s.name)
	store.Owned.Delete(s.name)
	store.Staged.Give(s.writer.UID, s.size, true)
	if !s.refused {
		s.x.dir.Report(disk.RowOf("close", Name(s.id), s.writer.UID, ctxabi.E("close", Name(s.id), ctxabi.ErrMalformed,
			"it was closed with %d bytes that do not match its name; they were dropped", s.size)))
	}
}
