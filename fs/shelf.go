package fs

import (
	"sync"

	"github.com/ctxfs/ctxfs/internal/lru"
	"github.com/ctxfs/ctxfs/internal/memory"
)

// maxShelf is the most bytes of builds that are cached for inodes, the last one not counted.
const maxShelf = 48 << 20

// shelf caches the builds that were looked up last. The kernel remembers inodes for as long as it
// has memory: if each of them held its build, the daemon's memory would be as large as all packs of
// all sessions together. So an inode has a weak pointer to its build. The shelf holds the build, or
// the builder does, or the next look-up makes it again.
type shelf struct {
	limit *memory.Limit // nil: none

	mu     sync.Mutex
	builds lru.Cache[*generation, struct{}] // with their bytes, as they were counted last; guarded by mu
}

// put moves g to the front and evicts builds from the end until the rest is within the bound.
func (s *shelf) put(g *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.builds.Put(g, struct{}{}, int64(g.size())) // native renderings may have come since
	s.builds.Trim(int64(s.limit.Share(maxShelf)), nil)
}

// A shelf is a cache of memory.Limit, which is asked while all kinds of locks are held.

func (s *shelf) Loosen() {}

func (s *shelf) Size() int64 {
	if !s.mu.TryLock() {
		return 0
	}
	defer s.mu.Unlock()
	return s.builds.Size()
}

func (s *shelf) LetGo() {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	s.builds.Clear()
}
