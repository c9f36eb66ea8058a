package source

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/internal/handles"
)

// Bounds of one directory that a source takes files from.
const (
	maxDirFiles = 2000
	maxDirBytes = 16 << 20
	maxDirDepth = 16
)

// dirFD is a directory that was opened for this scan; fd is -1 when it is not there or must not be entered. It is that of the home's own
// or one of home.held, which the next call of home.dir may close.
type dirFD struct {
	fd     int
	closed bool // it is opened again when it is needed
	sign   Sign
	same   bool // its sign is that of the last scan, and tells
	reason string
}

// listed is one directory.
type listed struct {
	sign  Sign
	names []string        // of files, links and what else is no directory; in order
	subs  map[string]bool // which of names are directories
}

// maxHeldDirs is how many directories a scan has open at once, where the limit allows it.
const maxHeldDirs = 64

// hold keeps a directory open until the scan is over, or many others were opened.
func (h *home) hold(d *dirFD, fd int) {
	d.fd, d.closed = fd, false
	h.held = append(h.held, d)
	if len(h.held) > min(maxHeldDirs, handles.Idle()/8) {
		first := h.held[0]
		h.held = h.held[1:]
		unix.Close(first.fd)
		first.fd, first.closed = -1, true
	}
}

// dir opens the directory rel of the home for this scan.
func (h *home) dir(rel string) *dirFD {
	if d := h.dirs[rel]; d != nil {
		if d.closed {
			if fd, err := h.open(rel, unix.O_PATH|unix.O_DIRECTORY); err == nil {
				h.hold(d, fd)
			}
		}
		return d
	}
	d := &dirFD{fd: -1}
	h.dirs[rel] = d
	if !within(rel) {
		d.reason = reasonOutside
		return d
	}
	if up := path.Dir(rel); rel != "." && h.space != nil {
		if outer := h.dir(up); outer.fd < 0 {
			d.reason = outer.reason
			return d
		}
	}
	if was, ok := h.last.dirs[rel]; ok && !was.exists() && h.dir(path.Dir(rel)).same {
		h.now.dirs[rel] = was // what is not there appears with a change of its directory
		return d
	}
	fd, err := h.fd, error(nil)
	if rel != "." {
		fd, err = h.open(rel, unix.O_PATH|unix.O_DIRECTORY)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.reason = err.Error()
		} else if h.sign(rel) == (Sign{}) { // no link that leads to nothing yet
			h.now.dirs[rel] = Sign{}
		}
		return d
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || !h.space.allows(signFrom(&st), 0o5) {
		if fd != h.fd {
			unix.Close(fd)
		}
		d.reason = "not readable for the session's owner"
		return d
	}
	d.sign = signFrom(&st)
	if d.fd = fd; fd != h.fd {
		h.hold(d, fd)
	}
	d.same = h.last.dirs[rel] == d.sign
	h.now.entered++
	if !d.sign.fresh(h.at) {
		h.now.dirs[rel] = d.sign
	}
	return d
}

// list returns the names in the directory rel, dot-names left out; nil when there is none.
func (h *home) list(rel string) *listed {
	rel = path.Clean(rel)
	if l := h.now.lists[rel]; l != nil {
		return l
	}
	l := &listed{}
	d := h.dir(rel)
	switch before := h.last.lists[rel]; {
	case d.fd < 0:
	case before != nil && d.same && before.sign == d.sign:
		l = before
	default:
		l = h.readList(rel, d)
	}
	h.now.lists[rel] = l
	return l
}

func (h *home) readList(rel string, d *dirFD) *listed {
	l := &listed{sign: d.sign, subs: map[string]bool{}}
	fd, err := beneath.Open(d.fd, "", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		h.lacks(err)
		return l
	}
	f := os.NewFile(uintptr(fd), "directory")
	defer f.Close()
	entries, _ := f.ReadDir(-1) // what can be listed; the rest is not there
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		l.names = append(l.names, name)
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			if fd, err := h.open(path.Join(rel, name), unix.O_PATH|unix.O_DIRECTORY); err == nil {
				unix.Close(fd)
				isDir = true
			}
		}
		if isDir {
			l.subs[name] = true
		}
	}
	slices.Sort(l.names)
	return l
}

// walk returns the files below the directory rel, in the order of their paths, with maxDirDepth directories one in another at most.
// A directory that links lead to as well is gone through once. more says that there are others beyond the bound of files.
func (h *home) walk(rel string) (files []string, more bool) {
	return h.walkOn(rel, maxDirDepth, map[uint64]bool{})
}

// walkOn is walk below the directories that were entered, by their inodes.
func (h *home) walkOn(rel string, depth int, entered map[uint64]bool) (files []string, more bool) {
	l := h.list(rel)
	if ino := l.sign.ino; ino != 0 {
		if entered[ino] {
			return nil, false
		}
		entered[ino] = true
	}
	for _, name := range l.names {
		at := path.Join(rel, name)
		switch {
		case !l.subs[name]:
			files = append(files, at)
		case depth > 1:
			below, m := h.walkOn(at, depth-1, entered)
			files, more = append(files, below...), more || m
		}
		if len(files) > maxDirFiles {
			return files[:maxDirFiles], true
		}
	}
	return files, more
}
