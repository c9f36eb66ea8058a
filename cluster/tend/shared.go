package tend

import (
	"errors"
	"io/fs"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
)

// SharedFile is where a session keeps what its journal says of parts and snapshots, relative to it.
const SharedFile = ".ctxfs/shared"

// note remembers how far the last snapshot of x reaches.
func (s *Shelf) note(x *session.Session, sh *bulk.Shared) mark {
	m := mark{sh.Saved.At.I, sh.Bytes}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved[x.ID()] = m
	delete(s.later, x.ID())
	return m
}

// load returns what a session knows of its parts and snapshots. It returns bulk.ErrDamaged and the error
// of the disk.
func load(x *session.Session) (*bulk.Shared, error) {
	root := x.Disk().Root
	root.Move.RLock()
	data, err := vfs.ReadFile(root.FS, x.Disk().Path(SharedFile))
	root.Move.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		return new(bulk.Shared), nil
	}
	if err != nil {
		return nil, err
	}
	return bulk.ParseShared(data)
}

// keep keeps it, durably.
func keep(x *session.Session, sh *bulk.Shared) error {
	root := x.Disk().Root
	root.Move.RLock()
	defer root.Move.RUnlock()
	return x.Disk().Replace(SharedFile, sh.Encode(), true)
}
