package disk

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

// Root is the directory of a store, whose files belong to many users. It is safe for concurrent use.
type Root struct {
	FS       vfs.FS
	Dir      string // absolute
	ReadOnly bool   // nothing is written
	AsRoot   bool   // files are given to their owners
	Now      func() time.Time
	Logger   *slog.Logger

	seq   atomic.Uint64
	Owned sync.Map // names of files in tmp that an open handle has

	Staged Quotas

	watch atomic.Pointer[func(*Dir)] // see Watch; nil: none

	making sync.Mutex   // one directory is made at a time; no lock is taken under it
	Move   sync.RWMutex // held for writing while a directory of sessions is renamed
	Moving sync.RWMutex // the same for the rename alone, for who may hold move already; no lock of the store but its list of sessions is taken under it
}

// TmpDir holds what is being built; whatever a daemon finds there is garbage of a crash.
const TmpDir = "tmp"

// TmpName returns a name for something that is being built.
func (s *Root) TmpName() string {
	return path.Join(s.Dir, TmpDir, fmt.Sprintf("%s-%d", NewID()[:8], s.seq.Add(1)))
}

// Watch makes the store call grew when a session grows for the first time since its last [Dir.Seen]; nil
// ends that.
func (s *Root) Watch(grew func(x *Dir)) {
	if grew == nil {
		s.watch.Store(nil)
		return
	}
	s.watch.Store(&grew)
}

// Writable returns ctxabi.ErrReadOnly, for who wants to do op, if nothing may be written.
func (s *Root) Writable(op string) error {
	if s.ReadOnly {
		return ctxabi.E(op, "", ctxabi.ErrReadOnly, "the store is open for reading only")
	}
	return nil
}

// NewID returns 128 random bits in hex.
func NewID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Join returns the absolute name of a path relative to the store.
func (s *Root) Join(elem ...string) string {
	return path.Clean(s.Dir + "/" + strings.Join(elem, "/")) // path.Join copies more often
}

// RemoveAll removes what is called name in the store, and what is in it, as far as it can. Where
// the disk can go down from the store's directory step by step, nothing outside of that goes,
// whatever is moved about in there meanwhile.
func (s *Root) RemoveAll(name string) {
	v, can := s.FS.(interface{ RemoveBelow(dir, rel string) error })
	if rel, below := strings.CutPrefix(name, s.Dir+"/"); can && below {
		if err := v.RemoveBelow(s.Dir, rel); err != nil {
			s.Logger.Warn("some of it could not be removed", "path", rel, "err", err)
		}
		return
	}
	vfs.RemoveAll(s.FS, name)
}

// Dirs returns the names of the directories in a path of the store, in order; none if it cannot be
// listed.
func (s *Root) Dirs(rel ...string) []string {
	entries, _ := s.FS.ReadDir(s.Join(rel...))
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
