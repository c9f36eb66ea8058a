package runner

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/pack/source"
)

// settleTime is longer than the steps in which any filesystem counts time: a
// file that changed less than this ago may change again and keep its times.
const settleTime = 2 * time.Second

// answerTo does what a request asks, as whoever this process is.
func answerTo(req request) answer {
	if req.Kind == inputsBelow {
		return findInputs(req)
	}
	return readFile(req)
}

// readFile reads what req asks for, as whoever this process is. It never waits
// for a fifo or a device: it looks at the file through O_PATH, which opens
// nothing, and opens only what is a regular file, by the descriptor.
func readFile(req request) answer {
	path := string(req.Path)
	if !filepath.IsAbs(path) || len(path) > maxPath || strings.IndexByte(path, 0) >= 0 {
		return answer{Reason: "not an absolute path"}
	}
	look, a := openUnlessPack(path)
	if look < 0 {
		return a
	}
	defer unix.Close(look)
	for try := 0; ; try++ {
		before, a := identify(look)
		if a.Reason != "" {
			return a
		}
		if req.Kind == identityOf {
			return answer{Exists: true, ID: before}
		}
		if req.Known != nil && *req.Known == before {
			return answer{Exists: true, Unchanged: true, ID: before, Settled: true}
		}
		if before.Size > req.Max {
			return tooLarge(req.Max, before)
		}
		data, err := readAll(look, req.Max)
		if err != nil {
			a = refused(err)
			a.Exists, a.ID = true, before
			return a
		}
		if int64(len(data)) > req.Max {
			return tooLarge(req.Max, before)
		}
		after, a := identify(look)
		if a.Reason != "" {
			return a
		}
		if same := before == after && int64(len(data)) == after.Size; same || try == 2 {
			// A file that is written all the time is taken as it is; it is read anew next time.
			return answer{Exists: true, ID: after, Settled: same && settled(after), Data: data}
		}
	}
}

// openUnlessPack opens a path through O_PATH; fd is negative where it does not.
func openUnlessPack(name string) (fd int, a answer) {
	itself := answer{Exists: true, Reason: source.ReasonPack}
	if isPack(name) {
		return -1, itself
	}
	const flags = unix.O_PATH | unix.O_CLOEXEC
	fd, err := openAlone(name, flags|unix.O_NOFOLLOW)
	if err != nil {
		return -1, refused(err)
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return fd, answer{}
	}
	unix.Close(fd)
	if leadsToPack(name) {
		return -1, itself
	}
	if fd, err = openAlone(name, flags); err != nil {
		return -1, refused(err)
	}
	return fd, answer{}
}

// openAlone opens a path without os.File, whose care for files that are kept
// takes longer than a look at one.
func openAlone(path string, flags int) (fd int, err error) {
	return openAt(unix.AT_FDCWD, path, flags)
}

// openAt is openAlone for a path that is relative to the directory dir.
func openAt(dir int, path string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Openat(dir, path, flags, 0)
		if !isInterrupted(err) {
			return fd, err
		}
	}
}

// isInterrupted reports whether err is EINTR, whose name belongs to package fs.
func isInterrupted(err error) bool {
	var e interface {
		Temporary() bool
		Timeout() bool
	}
	return errors.As(err, &e) && e.Temporary() && !e.Timeout()
}

// identify returns the identity of a regular file; for anything else an answer with a Reason, and its identity if it has one.
func identify(fd int) (identity, answer) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		a := refused(err)
		a.Exists = true
		return identity{}, a
	}
	id := identity{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), UID: uint64(st.Uid)}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return id, answer{Exists: true, ID: id, Reason: typeName(st.Mode) + ", not a regular file"}
	}
	return id, answer{}
}

func typeName(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	}
	return "a device"
}

// readAll reads at most max+1 bytes of the file that look stands for.
func readAll(look int, max int64) ([]byte, error) {
	f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", look), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, max+1))
}

func tooLarge(max int64, id identity) answer {
	return answer{Exists: true, ID: id, Reason: fmt.Sprintf("larger than %d bytes", max)}
}

// refused returns the answer for a failed open: absent, or the system's words without the path.
func refused(err error) answer {
	if errors.Is(err, fs.ErrNotExist) {
		return answer{}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return answer{Reason: err.Error()}
}
