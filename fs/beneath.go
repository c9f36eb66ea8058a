package fs

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/beneath"
)

// No path of the store is ever handed to the kernel as a string to be
// followed: package beneath opens it. The inode that comes back is compared with the one the
// kernel asked for; and what is then done is done to that descriptor, or to a
// single name within it without following it. A link that is planted in time
// gives ELOOP, a swapped directory ESTALE, and neither is ever entered.

// procPath names an open descriptor as a path, for the calls that take no
// descriptor opened with O_PATH.
func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// statName stats one name within a directory, without following it.
func statName(dir int, name string) (*unix.Statx_t, error) {
	var x unix.Statx_t
	err := unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &x)
	return &x, err
}

// stat stats rel in the store.
func (t *tree) stat(rel string) (*unix.Statx_t, error) {
	fd, err := beneath.Open(t.rootFd, rel, unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return beneath.Stat(fd)
}

// names lists a directory of the store, hidden names left out. A directory
// that is not there yet is empty.
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
