package session

import (
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Internal reads a small file that the daemon keeps for itself in the session's internal directory;
// fs.ErrNotExist when there is none. What it holds is a cache or a report, never the truth.
func (x *Session) Internal(name string) ([]byte, error) {
	x.store.move.RLock()
	defer x.store.move.RUnlock()
	return readWhole(x.store.vfs, x.path(ctxabi.InternalDir, path.Base(name)))
}

// SetInternal replaces such a file atomically; nil data removes it. A loss of power may bring back what was
// there before. On a store that is open for reading only it does nothing.
func (x *Session) SetInternal(name string, data []byte) error {
	if x.store.o.ReadOnly {
		return nil
	}
	x.store.move.RLock()
	defer x.store.move.RUnlock()
	file := path.Join(ctxabi.InternalDir, path.Base(name))
	if data == nil {
		if _, err := x.store.vfs.Stat(x.path(file)); err != nil {
			return nil
		}
		return x.store.vfs.Remove(x.path(file))
	}
	return x.replace(file, data, false)
}

// Loaded calls yield for every session that was looked up since the store was opened.
func (s *Store) Loaded(yield func(*Session) bool) {
	s.mu.Lock()
	loaded := make([]*Session, 0, len(s.sessions))
	for _, x := range s.sessions {
		loaded = append(loaded, x)
	}
	s.mu.Unlock()
	for _, x := range loaded {
		if !yield(x) {
			return
		}
	}
}
