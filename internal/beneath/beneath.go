package beneath

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/handles"
)

// noOpenat2 is set once the kernel, or a seccomp filter, has refused openat2.
var noOpenat2 atomic.Bool

// Open opens rel beneath root without following any symbolic link, the
// last component included. rel "" is root itself. It may be longer than a path that the kernel takes.
// It returns the errno of the kernel: ELOOP for a link, EXDEV for a path that leaves root.
func Open(root int, rel string, flags int, mode uint32) (int, error) {
	const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
	return open(root, rel, flags|unix.O_CLOEXEC|unix.O_NOFOLLOW, mode, resolve)
}

// openLong opens what the kernel does not take as one path: it goes down as far as one path leads, and on from there.
func openLong(root int, rel string, flags int, mode uint32) (int, error) {
	cut := strings.LastIndexByte(rel[:unix.PathMax], '/')
	if cut <= 0 {
		return -1, syscall.ENAMETOOLONG
	}
	dir, err := Open(root, rel[:cut], unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(dir)
	return Open(dir, strings.TrimLeft(rel[cut:], "/"), flags, mode)
}

// Follow opens rel beneath root for reading and follows symbolic links as long as they
// stay beneath root. A link that leads out of it is an error, and so is an absolute one. Where the
// kernel has no openat2, no link is followed, and none in a path that is longer than the kernel takes.
func Follow(root int, rel string, flags int) (int, error) {
	return open(root, rel, flags|unix.O_CLOEXEC, 0, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_MAGICLINKS)
}

// open opens rel with openat2 or, if the kernel refuses openat2 or the path is too long for it,
// without following links.
func open(root int, rel string, flags int, mode uint32, resolve uint64) (int, error) {
	if len(rel) >= unix.PathMax {
		return openLong(root, rel, flags, mode)
	}
	if rel == "" {
		rel = "."
	}
	if !noOpenat2.Load() {
		fd, err := openat2(root, rel, flags, mode, resolve)
		if err == nil || !refused(root, err) {
			return fd, err
		}
	}
	return Walk(root, rel, flags, mode)
}

// Real returns the path of an open file below the open directory root, as it is called now.
// It returns an error if the file was removed or lies elsewhere.
func Real(root, fd int) (string, error) {
	var names [2]string
	for i, n := range []int{root, fd} {
		buf := make([]byte, 2*unix.PathMax)
		size, err := unix.Readlink(procPath(n), buf)
		if err != nil {
			return "", err
		}
		names[i] = string(buf[:size])
	}
	if names[0] == names[1] {
		return "", nil
	}
	rel, ok := strings.CutPrefix(names[1], strings.TrimSuffix(names[0], "/")+"/")
	if !ok {
		return "", fmt.Errorf("%s does not lie beneath %s", path.Base(names[1]), names[0])
	}
	return rel, nil
}

// Stat returns the attributes of the open descriptor fd, which may be O_PATH.
// It returns the errno of the kernel if there are none.
func Stat(fd int) (*unix.Statx_t, error) {
	var x unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &x)
	return &x, err
}

func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

func openat2(root int, rel string, flags int, mode uint32, resolve uint64) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags), Mode: uint64(mode), Resolve: resolve}
	for {
		fd, err := handles.Open(func() (int, error) { return unix.Openat2(root, rel, &how) })
		if err != syscall.EINTR && err != syscall.EAGAIN { // EAGAIN: a rename went by
			return fd, err
		}
	}
}

// refused reports whether it was openat2 itself that failed, not the file.
func refused(root int, err error) bool {
	if err == syscall.ENOSYS || err == syscall.EPERM && !works(root) {
		noOpenat2.Store(true)
		return true
	}
	return false
}

// works reports whether openat2 works here: a seccomp filter may refuse it, as a file may.
func works(root int) bool {
	fd, err := unix.Openat2(root, ".", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC})
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// Walk does what [Open] does without openat2, one component at a time. Its errors are the same.
func Walk(root int, rel string, flags int, mode uint32) (int, error) {
	dir := root
	defer func() {
		if dir != root {
			unix.Close(dir)
		}
	}()
	if path.IsAbs(rel) {
		return -1, syscall.EXDEV
	}
	flags |= unix.O_CLOEXEC | unix.O_NOFOLLOW
	parts := strings.Split(rel, "/")
	for _, name := range parts[:len(parts)-1] {
		if name == ".." {
			return -1, syscall.EXDEV
		}
		if name == "" || name == "." {
			continue
		}
		next, err := At(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, err
		}
		if dir != root {
			unix.Close(dir)
		}
		dir = next
	}
	if last := parts[len(parts)-1]; last != ".." {
		return At(dir, last, flags, mode)
	}
	return -1, syscall.EXDEV
}

// At is openat(2), made again when a signal came. It returns the errno of the kernel.
func At(dir int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := handles.Open(func() (int, error) { return unix.Openat(dir, name, flags, mode) })
		if err != syscall.EINTR {
			return fd, err
		}
	}
}
