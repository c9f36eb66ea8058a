package session

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// diskRoot is the directory of a store, whose files belong to many users. It is safe for concurrent use.
type diskRoot struct {
	vfs      vfs.FS
	dir      string // absolute
	readOnly bool   // nothing is written
	root     bool   // files are given to their owners
	now      func() time.Time
	logger   *slog.Logger

	seq   atomic.Uint64
	owned sync.Map // names of files in tmp that an open handle has

	staged quotas

	making sync.Mutex   // one directory is made at a time; no lock is taken under it
	move   sync.RWMutex // held for writing while a directory of sessions is renamed
	moving sync.RWMutex // the same for the rename alone, for who may hold move already; no lock of the store but its list of sessions is taken under it
}

// tmpDir holds what is being built; whatever a daemon finds there is garbage of a crash.
const tmpDir = "tmp"

// tmpName gives a name for something that is being built.
func (s *diskRoot) tmpName() string {
	return path.Join(s.dir, tmpDir, fmt.Sprintf("%s-%d", newID()[:8], s.seq.Add(1)))
}

func (s *diskRoot) writable(op string) error {
	if s.readOnly {
		return ctxabi.E(op, "", ctxabi.ErrReadOnly, "the store is open for reading only")
	}
	return nil
}

func newID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// inStore gives the absolute name of a path relative to the store.
func (s *diskRoot) inStore(elem ...string) string {
	return path.Join(s.dir, path.Join(elem...))
}

// removeAll removes what is called name in the store, and what is in it, as far as it can. Where the disk can go down from the
// store's directory step by step, nothing outside of that goes, whatever is moved about in there meanwhile.
func (s *diskRoot) removeAll(name string) {
	v, can := s.vfs.(interface{ RemoveBelow(dir, rel string) error })
	if rel, below := strings.CutPrefix(name, s.dir+"/"); can && below {
		if err := v.RemoveBelow(s.dir, rel); err != nil {
			s.logger.Warn("not all could be removed", "path", rel, "err", err)
		}
		return
	}
	vfs.RemoveAll(s.vfs, name)
}
