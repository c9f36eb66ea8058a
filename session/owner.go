package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Owner is to whom the files of a session belong in the store. For a home:
// uid and gid of the user, Mode 0700. For a shared space: the session maker's
// uid, the space's gid, Mode 02770.
type Owner struct {
	UID, GID uint32
	Mode     uint32 // of directories; files get its rw bits
}

func (o Owner) dirMode() fs.FileMode { return vfs.UnixMode(o.Mode) }

func (o Owner) fileMode() fs.FileMode { return vfs.UnixMode(o.Mode & 0o666) }

// mkdir makes a directory that belongs to o and syncs its parent; it is no error when it exists. It is made aside: whoever
// looks while it is being made sees none, never one that is not o's yet.
func (s *diskRoot) mkdir(name string, o Owner) error {
	s.making.Lock()
	defer s.making.Unlock()
	fi, err := s.vfs.Stat(name)
	switch {
	case err == nil && !fi.IsDir():
		return ctxabi.E("mkdir", "", ctxabi.ErrExists, "%s is not a directory", name)
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	tmp := s.tmpName()
	if err = s.vfs.Mkdir(tmp, o.dirMode().Perm()); err == nil {
		if err = s.own(tmp, o, o.dirMode()); err == nil {
			err = s.vfs.Rename(tmp, name)
		}
		if err != nil {
			s.vfs.Remove(tmp)
		} else {
			err = s.vfs.SyncDir(path.Dir(name))
		}
	}
	if err != nil {
		return fmt.Errorf("mkdir %s: %w", name, err)
	}
	return nil
}

// own gives name to o: the mode is set explicitly because the umask took bits of it.
func (s *diskRoot) own(name string, o Owner, mode fs.FileMode) error {
	if s.root {
		if err := s.vfs.Chown(name, int(o.UID), int(o.GID)); err != nil {
			return err
		}
	}
	return s.vfs.Chmod(name, mode) // after chown, which clears setgid
}
