package pack

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/session"
)

// Bounds of one directory that a source takes files from.
const (
	maxDirFiles = 2000
	maxDirBytes = 16 << 20
	maxDirDepth = 16
)

// home is an agent's home as one look at it finds it. The names in it belong to whoever owns
// it, so all of it is opened beneath its descriptor: a link may lead about within the home, and never out of it.
// What did not change since the last look is taken from there.
type home struct {
	fd    int // O_PATH
	space *spaceRules
	last  *look
	now   *look
	at    time.Time
	dirs  map[string]*dirFD
}

// look is what was seen in a home. It does not change once the look is over.
type look struct {
	files map[string]*stocked // by path relative to the home
	lists map[string]*listed
	dirs  map[string]sign
	// entered counts the directories that were; those that changed so lately that their sign does not tell are not in dirs.
	entered int
	linked  bool // something was reached by a link

	way    []sighted // see still
	walked bool      // way is known
}

// stocked is one file as it was read. The same content read again is the same *content.
type stocked struct {
	sign sign
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

// listed is one directory.
type listed struct {
	sign  sign
	names []string        // of files, links and what else is no directory; in order
	subs  map[string]bool // which of names are directories
}

// dirFD is a directory that was opened for this look; fd is -1 when it is not there or must not be entered.
type dirFD struct {
	fd     int
	sign   sign
	same   bool // its sign is that of the last look, and tells
	reason string
}

// spaceRules say who may read what in a shared space, where files of several users lie side by side.
type spaceRules struct{ uid, gid uint32 }

// storeRoot is the open directory of a store; it stays open as long as it is the builder's.
func (b *Builder) storeRoot(dir string) (*os.File, error) {
	if f, ok := b.roots.Load(dir); ok {
		return f.(*os.File), nil
	}
	f, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if first, loaded := b.roots.LoadOrStore(dir, f); loaded {
		f.Close()
		return first.(*os.File), nil
	}
	return f, nil
}

// openHome opens the home of the session's agent. rel is the session's directory in it.
func (b *Builder) openHome(x *session.Session, last *look) (h *home, rel string, err error) {
	ref := x.Ref()
	store, ok := strings.CutSuffix(x.Dir(), "/"+ref.Path())
	if !ok { // it was renamed between the two
		ref = x.Ref()
		store, ok = strings.CutSuffix(x.Dir(), "/"+ref.Path())
	}
	failed := func(err error) error {
		return &ctxabi.Error{Op: "pack", Kind: ctxabi.ErrIO, Why: "the agent's home cannot be opened", Err: err}
	}
	if !ok {
		return nil, "", failed(errors.New("the session is being renamed"))
	}
	root, err := b.storeRoot(store)
	if err != nil {
		return nil, "", failed(err)
	}
	fd, err := beneath.Open(int(root.Fd()), ref.AgentHome(), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, "", failed(err)
	}
	if last == nil {
		last = &look{}
	}
	h = &home{fd: fd, last: last, at: time.Now(), dirs: map[string]*dirFD{},
		now: &look{files: make(map[string]*stocked, len(last.files)), lists: map[string]*listed{}, dirs: map[string]sign{}}}
	rel = path.Join(ctxabi.SessionDir, ref.Session)
	if ref.Space != "" {
		var st unix.Stat_t
		if unix.Fstatat(fd, rel, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			h.space = &spaceRules{uid: st.Uid, gid: st.Gid}
		}
	}
	return h, rel, nil
}

func (h *home) close() {
	for _, d := range h.dirs {
		if d.fd >= 0 && d.fd != h.fd {
			unix.Close(d.fd)
		}
	}
	unix.Close(h.fd)
}

// within says whether rel names something that sources may see: beneath the home and not internal.
func within(rel string) bool {
	if rel == ".." || strings.HasPrefix(rel, "../") || path.IsAbs(rel) {
		return false
	}
	for name := range strings.SplitSeq(rel, "/") {
		if strings.HasPrefix(name, ctxabi.InternalDir) {
			return false
		}
	}
	return true
}

const (
	reasonNoText  = "it is not text"
	reasonOutside = "it does not lie in the agent's home"
	reasonLink    = "it is a link that leads nowhere in the agent's home"
)

// dir opens the directory rel of the home for this look.
func (h *home) dir(rel string) *dirFD {
	if d := h.dirs[rel]; d != nil {
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
		} else if h.sign(rel) == (sign{}) { // no link that leads to nothing yet
			h.now.dirs[rel] = sign{}
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
	d.fd, d.sign = fd, signFrom(&st)
	d.same = h.last.dirs[rel] == d.sign
	h.now.entered++
	if !d.sign.fresh(h.at) {
		h.now.dirs[rel] = d.sign
	}
	return d
}

// open opens rel, following links within the home.
func (h *home) open(rel string, flags int) (int, error) {
	fd, err := beneath.Open(h.fd, rel, flags, 0)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return fd, err
	}
	return h.follow(rel, flags)
}

// follow opens what the link rel leads to, where that lies in the home.
func (h *home) follow(rel string, flags int) (int, error) {
	h.now.linked = true
	fd, err := beneath.Follow(h.fd, rel, flags)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return -1, err
		}
		return -1, errors.New(reasonLink)
	}
	real, err := beneath.Real(h.fd, fd)
	if err != nil || !within(real) {
		unix.Close(fd)
		return -1, errors.New(reasonLink)
	}
	return fd, nil
}

// allows says whether the session's owner may do what bits say (of one class) with a file or directory.
func (r *spaceRules) allows(s sign, bits uint32) bool {
	switch {
	case r == nil: // in a home, all is its owner's
		return true
	case s.uid == r.uid:
		return s.mode>>6&bits == bits
	case s.gid == r.gid:
		return s.mode>>3&bits == bits
	}
	return s.mode&bits == bits
}

// sign looks at rel; that of a link is what the link leads to within the home, or its own where it leads elsewhere.
func (h *home) sign(rel string) sign {
	d := h.dir(path.Dir(rel))
	if d.fd < 0 {
		return sign{}
	}
	s := directory(d.fd).sign(path.Base(rel))
	if s.mode&unix.S_IFMT == unix.S_IFLNK {
		if fd, err := h.follow(rel, unix.O_PATH); err == nil {
			var st unix.Stat_t
			if unix.Fstat(fd, &st) == nil {
				s = signFrom(&st)
			}
			unix.Close(fd)
		}
	}
	return s
}

// file gives the file rel, read anew only when it may have changed. At most most bytes of it are used.
func (h *home) file(rel string, most int64) *stocked {
	rel = path.Clean(rel)
	if f := h.now.files[rel]; f != nil {
		return f
	}
	f := h.lookAt(rel, most)
	h.now.files[rel] = f
	return f
}

func (h *home) lookAt(rel string, most int64) *stocked {
	before := h.last.files[rel]
	refused := func(reason string) *stocked {
		if before != nil && before.reason == reason && !before.sign.exists() {
			return before
		}
		return &stocked{content: &content{reason: reason}}
	}
	if !within(rel) {
		return refused(reasonOutside)
	}
	if d := h.dir(path.Dir(rel)); d.fd < 0 && d.reason != "" {
		return refused(d.reason)
	} else if before != nil && before.absent && d.same {
		return before // what is not there appears with a change of its directory
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
		s.ino = 0 // it may hide another change: no look will find the same
	}
	return &stocked{sign: s, content: c}
}

func (c *content) equal(d *content) bool {
	return c.absent == d.absent && c.reason == d.reason && c.sum == d.sum && len(c.data) == len(d.data)
}

// read reads a file that exists. It waits for no FIFO and follows no link out of the home.
func (h *home) read(rel string, s sign, most int64) *content {
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
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &content{reason: why(err), failed: true}
	}
	switch s := signFrom(&st); {
	case !s.regular():
		return &content{reason: "not a regular file"}
	case !h.space.allows(s, 0o4):
		return &content{reason: "not readable for the session's owner"}
	case s.size > most:
		return &content{reason: fmt.Sprintf("larger than %d bytes", most), big: true}
	}
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

// list gives the names in the directory rel, dot-names left out; nil when there is none.
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

// walk gives the files below the directory rel, in the order of their paths, with depth directories at most.
// more says that there are others beyond the bound of files.
func (h *home) walk(rel string, depth int) (files []string, more bool) {
	l := h.list(rel)
	for _, name := range l.names {
		at := path.Join(rel, name)
		switch {
		case !l.subs[name]:
			files = append(files, at)
		case depth > 1:
			below, m := h.walk(at, depth-1)
			files, more = append(files, below...), more || m
		}
		if len(files) > maxDirFiles {
			return files[:maxDirFiles], true
		}
	}
	return files, more
}
