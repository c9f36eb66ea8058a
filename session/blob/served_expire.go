package blob

import (
	"time"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

// At is when a pack was read, see [Row].
type At struct {
	ID string
	At time.Time
}

// Times returns the pack and the time of each row, in their order.
func (s *Served) Times() []At {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]At, len(s.rows))
	for i, r := range s.rows {
		list[i] = At{r.id, r.at}
	}
	return list
}

// Expired is how many bytes [Served.Drop] would give back.
func (s *Served) Expired(before time.Time) (bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := 0
	for rows < len(s.rows) && s.rows[rows].at.Before(before) {
		bytes = s.rows[rows].end
		rows++
	}
	named := map[string]bool{}
	for _, r := range s.rows[rows:] {
		named[r.id] = true
	}
	for _, g := range s.segments {
		if !g.names(named) {
			bytes += g.size
		}
	}
	return bytes
}

// Each calls yield with the bytes of every stored pack that has a row, except those for which known
// returns true. It reads each segment once. It skips packs that cannot be read, because nobody can
// follow the names in them.
func (s *Served) Each(known func(id string) bool, yield func(id string, data []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir.Root.Move.RLock()
	defer s.dir.Root.Move.RUnlock()
	wanted := map[string]bool{}
	for _, r := range s.rows {
		if !wanted[r.id] && !known(r.id) {
			wanted[r.id] = true
		}
	}
	for _, g := range s.segments {
		if !g.names(wanted) {
			continue
		}
		raw, err := vfs.ReadFile(s.dir.Root.FS, s.dir.Path(g.path()))
		if err != nil {
			continue
		}
		var data []byte
		for i := range g.frames {
			h, ok := &g.frames[i], false
			if h.off+int64(h.Len) > int64(len(raw)) {
				break
			}
			if data, ok = h.next(data, raw[h.off:h.off+int64(h.Len)]); !ok {
				break
			}
			if wanted[h.ID] {
				yield(h.ID, data)
			}
		}
	}
}
