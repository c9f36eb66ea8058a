package source

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/session"
)

// home is the home of an agent during one scan. All of it is opened beneath its descriptor: a link
// may lead to another place in the home, and never out of it.
type home struct {
	fd    int        // O_PATH
	ref   ctxabi.Ref // of the session, when the home was opened
	moves uint64     // moves of the session until then
	space *spaceRules
	at    time.Time

	before  map[string]*stocked // files of the previous scan
	files   map[string]*stocked // by path relative to the home
	folders map[string]*folder

	memory  *memory.Limit
	short   error // a file could not be opened, because no descriptor was free
	starved error // a file could not be read, because no memory was free
}

// spaceRules say who may read what in a shared space, where files of several users lie side by side.
type spaceRules struct{ uid, gid uint32 }

// storeRoot is the open directory of a store; it stays open as long as it is the builder's.
func (gr *Gatherer) storeRoot(dir string) (*os.File, error) {
	if f, ok := gr.roots.Load(dir); ok {
		return f.(*os.File), nil
	}
	f, err := handles.Open(func() (*os.File, error) { return os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0) })
	if err != nil {
		return nil, err
	}
	if first, loaded := gr.roots.LoadOrStore(dir, f); loaded {
		f.Close()
		return first.(*os.File), nil
	}
	return f, nil
}

// openHome opens the home of the session's agent. rel is the session's directory in it.
func (gr *Gatherer) openHome(x *session.Session, before map[string]*stocked) (h *home, rel string, err error) {
	failed := func(err error) error {
		kind := ctxabi.ErrIO
		if handles.IsShort(err) {
			kind = ctxabi.ErrNoFiles
		}
		return &ctxabi.Error{Op: "pack", Kind: kind, Why: "the agent's home cannot be opened", Err: err}
	}
	root, err := gr.storeRoot(x.Store().Dir())
	if err != nil {
		return nil, "", failed(err)
	}
	var ref ctxabi.Ref
	var fd int
	var moves uint64
	x.InPlace(func(at ctxabi.Ref, n uint64) {
		ref, moves = at, n
		fd, err = beneath.Open(int(root.Fd()), ref.AgentHome(), unix.O_PATH|unix.O_DIRECTORY, 0)
	})
	if err != nil {
		return nil, "", failed(err)
	}
	h = &home{memory: gr.Config.Memory, fd: fd, ref: ref, moves: moves, at: time.Now(), before: before,
		files: make(map[string]*stocked, len(before)), folders: map[string]*folder{}}
	rel = path.Join(ctxabi.SessionDir, ref.Session)
	if ref.Space != "" {
		var st unix.Stat_t
		if unix.Fstatat(fd, rel, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			h.space = &spaceRules{uid: st.Uid, gid: st.Gid}
		}
	}
	return h, rel, nil
}

// moved reports whether the session was moved, or removed, since the home was opened: what was not found in it may be elsewhere.
func (h *home) moved(x *session.Session) (moved bool) {
	x.InPlace(func(_ ctxabi.Ref, n uint64) { moved = n != h.moves })
	return moved
}

func (h *home) close() { unix.Close(h.fd) }

// within reports whether rel names something that sources may see: beneath the home and not internal.
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

// open opens rel, following links within the home.
func (h *home) open(rel string, flags int) (int, error) {
	fd, err := beneath.Open(h.fd, rel, flags, 0)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return fd, err
	}
	if h.lacks(err) {
		return -1, err
	}
	return h.follow(rel, flags)
}

// lacks reports whether err is that there are no descriptors. Then what the scan finds is not what there is.
func (h *home) lacks(err error) bool {
	if !handles.IsShort(err) {
		return false
	}
	h.short = &ctxabi.Error{Op: "pack", Kind: ctxabi.ErrNoFiles, Why: "the agent's home cannot be read at this moment", Err: err}
	return true
}

// follow opens what the link rel leads to, where that lies in the home.
func (h *home) follow(rel string, flags int) (int, error) {
	fd, err := beneath.Follow(h.fd, rel, flags)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || h.lacks(err) {
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

// allows reports whether the session's owner may do what bits say (of one class) with a file or directory.
func (r *spaceRules) allows(s Sign, bits uint32) bool {
	switch {
	case r == nil: // in a home, all is its owner's
		return true
	case s.UID == r.uid:
		return s.mode>>6&bits == bits
	case s.GID == r.gid:
		return s.mode>>3&bits == bits
	}
	return s.mode&bits == bits
}

// sign returns the sign of a file or directory: of a link, that of its target in the home, or its own
// if it leads elsewhere.
func (h *home) sign(rel string) Sign {
	if !h.dir(path.Dir(rel)).sign.exists() {
		return Sign{}
	}
	fd, err := beneath.Open(h.fd, rel, unix.O_PATH, 0)
	if err != nil && (errors.Is(err, fs.ErrNotExist) || h.lacks(err)) {
		return Sign{}
	}
	if err != nil { // a link leads to its directory
		if fd, err = h.follow(rel, unix.O_PATH|unix.O_NOFOLLOW); err != nil {
			return Sign{}
		}
	}
	s := signOf(fd)
	unix.Close(fd)
	if s.mode&unix.S_IFMT == unix.S_IFLNK {
		if fd, err := h.follow(rel, unix.O_PATH); err == nil {
			s = signOf(fd)
			unix.Close(fd)
		}
	}
	return s
}
