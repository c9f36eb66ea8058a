package source

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// stocked is one file as it was read. The same content read again is the same *content.
type stocked struct {
	sign Sign
	*content
}

// content is what a file holds.
type content struct {
	absent bool
	data   []byte
	sum    [sha256.Size]byte
	reason string // why the file, which exists, cannot be used
	big    bool   // the reason is its size
	failed bool   // the reason is the disk
}

var absent = &content{absent: true}

const (
	reasonNoText  = "it is not text"
	reasonOutside = "it does not lie in the agent's home"
	reasonLink    = "it is a link that leads nowhere in the agent's home"
	reasonView    = "ctxfs makes it from the history, and a source reads what was written"
)

// ReasonPack is the reason for a file of the workspace that is a pack: packs are not made from packs.
const ReasonPack = "it leads to a pack; " + reasonView

// file returns the file rel, read anew only when it may have changed. At most most bytes of it are used.
func (h *home) file(rel string, most int64) *stocked {
	rel = path.Clean(rel)
	if f := h.files[rel]; f != nil {
		return f
	}
	f := h.inspect(rel, most, within(rel))
	h.files[rel] = f
	return f
}

// internal is file for one that no source of a recipe may name.
func (h *home) internal(rel string, most int64) *stocked {
	f := h.inspect(rel, most, true)
	h.files[rel] = f
	return f
}

// recheck returns a file that was absent, if it is there by now.
func (h *home) recheck(rel string, most int64) *stocked {
	rel = path.Clean(rel)
	if s := h.sign(rel); s.exists() {
		s.ino = 0 // the scan of its directory was before: the next one reads both
		h.files[rel] = &stocked{sign: s, content: h.read(rel, s, most)}
	}
	return h.files[rel]
}

func (h *home) inspect(rel string, most int64, allowed bool) *stocked {
	before := h.before[rel]
	reason := reasonOutside
	if allowed {
		reason = h.dir(path.Dir(rel)).reason
	}
	if reason != "" {
		if before != nil && before.reason == reason && !before.sign.exists() {
			return before
		}
		return &stocked{content: &content{reason: reason}}
	}

	s := h.sign(rel)
	switch {
	case !s.exists():
		return &stocked{content: absent}
	case before != nil && before.sign == s:
		return before
	}
	c := h.read(rel, s, most)
	if before != nil && before.content.equal(c) {
		c = before.content
	}
	if s.fresh(h.at) {
		s.ino = 0 // it may hide another change, so the next scan reads the file again
	}
	return &stocked{sign: s, content: c}
}

func (c *content) equal(d *content) bool {
	return c.absent == d.absent && c.reason == d.reason && c.sum == d.sum && len(c.data) == len(d.data)
}

// timesRead is how often a file is in memory while it is read.
const timesRead = 3

// read reads a file that exists. It waits for no FIFO and follows no link out of the home.
func (h *home) read(rel string, s Sign, most int64) *content {
	switch {
	case s.mode&unix.S_IFMT == unix.S_IFLNK:
		return &content{reason: reasonLink}
	case !s.regular():
		return &content{reason: "not a regular file"}
	}
	fd, err := h.open(rel, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if errors.Is(err, fs.ErrNotExist) {
		return absent
	}
	if err != nil {
		return &content{reason: why(err), failed: true}
	}
	f := os.NewFile(uintptr(fd), path.Base(rel))
	defer f.Close()
	s = signOf(fd)
	switch {
	case !s.regular():
		return &content{reason: "not a regular file"}
	case !h.space.allows(s, 0o4):
		return &content{reason: "not readable for the session's owner"}
	case s.size > most:
		return &content{reason: fmt.Sprintf("larger than %d bytes", most), big: true}
	}
	release, err := h.memory.Reserve("pack", rel, timesRead*s.size)
	if err != nil {
		h.starved = err
		return &content{reason: why(err), failed: true}
	}
	defer release()
	data, err := io.ReadAll(io.LimitReader(f, most))
	switch {
	case err != nil:
		return &content{reason: why(err), failed: true}
	case !isText(data):
		return &content{reason: reasonNoText, sum: sha256.Sum256(data)}
	}
	return &content{data: data, sum: sha256.Sum256(data)}
}

// why is an error of the system in its own words, without the path.
func why(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}
