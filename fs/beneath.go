package fs

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// The daemon may be root while the names below a home are in their owner's
// hands: he can put a symbolic link wherever a directory was a moment ago. So
// no path of the store is ever handed to the kernel as a string to be
// followed. It is opened beneath the store's directory with no link allowed
// in any component; the inode that comes back is compared with the one the
// kernel asked for; and what is then done is done to that descriptor, or to a
// single name within it without following it. A link that is planted in time
// gives ELOOP, a swapped directory ESTALE, and neither is ever entered.

// noOpenat2 is set once the kernel, or a seccomp filter, has refused openat2.
var noOpenat2 atomic.Bool

// openBeneath opens rel beneath root without following any symbolic link, the
// last component included. rel "" is root itself.
func openBeneath(root int, rel string, flags int, mode uint32) (int, error) {
	if rel == "" {
		rel = "."
	}
	flags |= unix.O_CLOEXEC | unix.O_NOFOLLOW
	if !noOpenat2.Load() {
		how := unix.OpenHow{
			Flags:   uint64(flags),
			Mode:    uint64(mode),
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		}
		for {
			fd, err := unix.Openat2(root, rel, &how)
			switch {
			case err == syscall.EINTR || err == syscall.EAGAIN: // EAGAIN: a rename went by
				continue
			case err == syscall.ENOSYS || err == syscall.EPERM && !openat2Works(root):
				noOpenat2.Store(true)
			default:
				return fd, err
			}
			break
		}
	}
	return walkBeneath(root, rel, flags, mode)
}

// openat2Works tells an EPERM of a seccomp filter from one of the file.
func openat2Works(root int) bool {
	fd, err := unix.Openat2(root, ".", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC})
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// walkBeneath does what openat2 does, one component at a time.
func walkBeneath(root int, rel string, flags int, mode uint32) (int, error) {
	dir := root
	defer func() {
		if dir != root {
			unix.Close(dir)
		}
	}()
	flags |= unix.O_CLOEXEC | unix.O_NOFOLLOW
	parts := strings.Split(rel, "/")
	for _, name := range parts[:len(parts)-1] {
		if name == ".." {
			return -1, syscall.EXDEV
		}
		next, err := openRetry(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, err
		}
		if dir != root {
			unix.Close(dir)
		}
		dir = next
	}
	if last := parts[len(parts)-1]; last != ".." {
		return openRetry(dir, last, flags, mode)
	}
	return -1, syscall.EXDEV
}

func openRetry(dir int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, mode)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// procPath names an open descriptor as a path, for the calls that take no
// descriptor opened with O_PATH.
func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// statFd gives all that stat knows of an open descriptor, O_PATH included.
func statFd(fd int) (*unix.Statx_t, error) {
	var x unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &x)
	return &x, err
}

// statName stats one name within a directory, without following it.
func statName(dir int, name string) (*unix.Statx_t, error) {
	var x unix.Statx_t
	err := unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &x)
	return &x, err
}

// stat stats rel in the store.
func (t *tree) stat(rel string) (*unix.Statx_t, error) {
	fd, err := openBeneath(t.rootFd, rel, unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return statFd(fd)
}

// names lists a directory of the store, hidden names left out. A directory
// that is not there yet is empty.
func (t *tree) names(rel string) ([]os.DirEntry, error) {
	fd, err := openBeneath(t.rootFd, rel, unix.O_RDONLY|unix.O_DIRECTORY, 0)
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
