package fs

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// statfs gives the store's disk: what df shows, and what a program asks before
// it writes. Left out, everything would be zero and editors refuse to save.
func (t *tree) statfs(out *fuse.StatfsOut) syscall.Errno {
	var s syscall.Statfs_t
	fd, err := openBeneath(t.rootFd, "", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(fd)
	if err := syscall.Fstatfs(fd, &s); err != nil {
		return errnoOf(err)
	}
	out.FromStatfsT(&s)
	return 0
}
