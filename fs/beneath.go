package fs

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/beneath"
)

// No path of the store is ever handed to the kernel as a string to be followed: package beneath
// opens it. The inode that comes back is compared with the one that the kernel asked for. What is
// then done is done to that descriptor, or to a single name within it without following it. A link
// that is planted in time returns ELOOP, a swapped directory ESTALE, and neither is ever entered.

// procPath returns a path of an open descriptor, for the calls that take no O_PATH descriptor.
func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// statName returns the attributes of name in the open directory dir. It does not follow a link.
func statName(dir int, name string) (*unix.Statx_t, error) {
	var x unix.Statx_t
	err := unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &x)
	return &x, err
}

// stat returns the attributes of the file rel of the store.
func (t *tree) stat(rel string) (*unix.Statx_t, error) {
	fd, err := beneath.Open(t.rootFd, rel, unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return beneath.Stat(fd)
}

// names lists a directory of the store without the names that [hidden] reports. It returns nothing
// for a directory that is not there yet.
func (t *tree) names(rel string) ([]os.DirEntry, error) {
	fd, err := beneath.Open(t.rootFd, rel, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	f := os.NewFile(uintptr(fd), rel)
	defer f.Close()
	all, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for _, e := range all {
		if !hidden(e.Name()) {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// statfs fills in the figures of the store's disk: what df shows, and what editors ask for before
// they save.
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

// hasRoom reports whether the store's disk has room for a new file of size bytes. It reports true
// if the disk does not tell.
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
