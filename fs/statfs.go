package fs

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/beneath"
)

// statfs gives the store's disk: what df shows, and what a program asks before
// it writes. Left out, everything would be zero and editors refuse to save.
func (t *tree) statfs(out *fuse.StatfsOut) syscall.Errno {
	var s syscall.Statfs_t
	if err := t.disk(&s); err != nil {
		return errnoOf(err)
	}
	out.FromStatfsT(&s)
	return 0
}

func (t *tree) disk(s *syscall.Statfs_t) error {
	fd, err := beneath.Open(t.rootFd, "", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return syscall.Fstatfs(fd, s)
}

// hasRoom says whether the store's disk has room for a new file of size bytes, as far as it tells.
func (t *tree) hasRoom(size int) bool {
	var s syscall.Statfs_t
	if t.disk(&s) != nil || s.Blocks == 0 {
		return true
	}
	free := s.Bavail
	if t.asRoot {
		free = s.Bfree
	}
	return free > uint64(size)/uint64(s.Bsize)
}
