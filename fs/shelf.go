package fs

import (
	"container/list"
	"sync"
)

// maxShelf is how many bytes of builds are kept for inodes, the last one not counted.
const maxShelf = 48 << 20

// shelf keeps the builds that were looked up last. The kernel remembers inodes
// for as long as it has memory; were each of them to hold its build, the
// daemon's memory would be as large as all packs of all sessions together. So
// an inode of a build only knows where it stood, and the shelf has it, or the
// builder, or whoever looks the name up makes it again.
type shelf struct {
	mu    sync.Mutex
	order list.List // of *generation, the last used first; guarded by mu
	at    map[*generation]*list.Element
	size  int // bytes of all; guarded by mu
}

// keep puts g in front and lets go of the last ones beyond the bound.
func (s *shelf) keep(g *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.at[g]; ok {
		s.order.MoveToFront(e)
		return
	}
	if s.at == nil {
		s.at = map[*generation]*list.Element{}
	}
	s.at[g] = s.order.PushFront(g)
	s.size += g.size()
	for s.size > maxShelf && s.order.Len() > 1 {
		old := s.order.Remove(s.order.Back()).(*generation)
		delete(s.at, old)
		s.size -= old.size()
	}
}
