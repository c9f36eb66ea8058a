package source

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of one directory that a source takes files from.
const (
	maxDirFiles = 2000
	maxDirBytes = 16 << 20
	maxDirDepth = 16
)

// folder is a directory of the home.
type folder struct {
	sign   Sign            // zero if there is none, or if it must not be read
	reason string          // why it must not be read
	listed bool            // names and subs are known
	names  []string        // of its entries, sorted
	subs   map[string]bool // which of names are directories
}

// dir returns the directory rel of the home.
func (h *home) dir(rel string) *folder {
	if d := h.folders[rel]; d != nil {
		return d
	}
	d := &folder{}
	h.folders[rel] = d
	if !within(rel) {
		d.reason = reasonOutside
		return d
	}
	if rel != "." && h.space != nil {
		if outer := h.dir(path.Dir(rel)); !outer.sign.exists() {
			d.reason = outer.reason
			return d
		}
	}
	fd, err := h.open(rel, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.reason = err.Error()
		}
		return d
	}
	defer unix.Close(fd)
	if s := signOf(fd); s.exists() && h.space.allows(s, 0o5) {
		d.sign = s
	} else {
		d.reason = "not readable for the session's owner"
	}
	return d
}

// list returns the directory rel with its entries, without those whose names begin with a dot.
func (h *home) list(rel string) *folder {
	d := h.dir(path.Clean(rel))
	if d.listed || !d.sign.exists() {
		return d
	}
	d.listed, d.subs = true, map[string]bool{}
	fd, err := h.open(rel, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return d
	}
	f := os.NewFile(uintptr(fd), "directory")
	defer f.Close()
	entries, _ := f.ReadDir(-1) // entries after an error are not there
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		d.names = append(d.names, name)
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			if fd, err := h.open(path.Join(rel, name), unix.O_PATH|unix.O_DIRECTORY); err == nil {
				unix.Close(fd)
				isDir = true
			}
		}
		if isDir {
			d.subs[name] = true
		}
	}
	slices.Sort(d.names)
	return d
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
