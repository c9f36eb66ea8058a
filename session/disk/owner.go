package disk

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

// DirMode is the mode of directories.
func (o Owner) DirMode() fs.FileMode { return vfs.UnixMode(o.Mode) }

// FileMode is the mode of files.
func (o Owner) FileMode() fs.FileMode { return vfs.UnixMode(o.Mode & 0o666) }

// Mkdir makes a directory that belongs to o and syncs its parent; it is no error when it exists. It
// is made aside: whoever looks while it is being made sees none, never one that is not o's yet.
func (s *Root) Mkdir(name string, o Owner) error {
	s.making.Lock()
	defer s.making.Unlock()
	fi, err := s.FS.Stat(name)
	switch {
	case err == nil && !fi.IsDir():
		return ctxabi.E("mkdir", "", ctxabi.ErrExists, "%s is not a directory", name)
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	tmp := s.TmpName()
	if err = s.FS.Mkdir(tmp, o.DirMode().Perm()); err == nil {
		if err = s.Own(tmp, o, o.DirMode()); err == nil {
			err = s.FS.Rename(tmp, name)
		}
		if err != nil {
			s.FS.Remove(tmp)
		} else {
			err = s.FS.SyncDir(path.Dir(name))
		}
	}
	if err != nil {
		return fmt.Errorf("mkdir %s: %w", name, err)
	}
	return nil
}

// Own makes name belong to o. The mode is set explicitly because the umask took bits of it. It
// returns the error of the disk.
func (s *Root) Own(name string, o Owner, mode fs.FileMode) error {
	if s.AsRoot {
		if err := s.FS.Chown(name, int(o.UID), int(o.GID)); err != nil {
			return err
		}
	}
	return s.FS.Chmod(name, mode) // after chown, which clears setgid
}
