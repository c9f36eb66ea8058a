package fs

import (
	"container/list"
	"sync"

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

	mu    sync.Mutex
	order list.List // of *generation, the last used first; guarded by mu
	at    map[*generation]*list.Element
	sizes map[*generation]int // as they were counted last; guarded by mu
	size  int                 // bytes of all; guarded by mu
}

// put moves g to the front and evicts builds from the end until the rest is within the bound.
func (s *shelf) put(g *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at, s.sizes = map[*generation]*list.Element{}, map[*generation]int{}
	}
	if e, ok := s.at[g]; ok {
		s.order.MoveToFront(e)
	} else {
		s.at[g] = s.order.PushFront(g)
	}
	size := g.size() // native renderings may have come since
	s.size += size - s.sizes[g]
	s.sizes[g] = size
	for s.size > s.limit.Share(maxShelf) && s.order.Len() > 1 {
		old := s.order.Remove(s.order.Back()).(*generation)
		s.size -= s.sizes[old]
		delete(s.at, old)
		delete(s.sizes, old)
	}
}

// A shelf is a cache of memory.Limit, which is asked while all kinds of locks are held.

func (s *shelf) Loosen() {}

func (s *shelf) Size() int64 {
	if !s.mu.TryLock() {
		return 0
	}
	defer s.mu.Unlock()
	return int64(s.size)
}

func (s *shelf) LetGo() {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	s.order.Init()
	clear(s.at)
	clear(s.sizes)
	s.size = 0
}
