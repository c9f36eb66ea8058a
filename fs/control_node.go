package fs

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/session"
)

// controlFile is a file of a session whose content is checked: settings, pins,
// and what the agent writes about its own history. Every handle has a copy of
// its own; the file changes as a whole, at the commit. Handles are DIRECT_IO,
// because the page cache would show one handle's copy to all.
type controlFile struct {
	gofs.Inode
	noXattrs
	p   *mountedSession
	rel string // relative to the session
}

func controlNode(p *mountedSession, rel string) tableNode { return &controlFile{p: p, rel: rel} }

// fill fills in the attributes of the committed content.
func (n *controlFile) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	if session.IsNote(n.rel) {
		return errnoOf(n.p.fillNote(ctx, n.rel, a))
	}
	x, err := n.p.stat(n.rel)
	if err == nil && x.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return syscall.ENOENT
	}
	if err == nil {
		n.p.own.setFile(a, n.p.own.fileMode(), int64(x.Size), time.Unix(x.Mtime.Sec, int64(x.Mtime.Nsec)))
		a.Ctime, a.Ctimensec = uint64(x.Ctime.Sec), x.Ctime.Nsec
		a.Uid, a.Gid = x.Uid, x.Gid
		return 0
	}
	if errors.Is(err, fs.ErrNotExist) && ctxabi.IsChildFile(n.rel) {
		child, file, _ := ctxabi.SplitChild(n.rel)
		var data []byte
		var at time.Time
		if data, at, _, err = n.p.x.ChildFile(child, file); err == nil {
			n.p.own.setFile(a, n.p.own.fileMode(), int64(len(data)), at)
			return 0
		}
	}
	return errnoOf(err)
}

func (n *controlFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	// A program looks at its own output before it writes there, as cat does: `cat > file` is not to
	// wait for itself.
	emptied := n.p.emptiedBy(n.rel, callerOf(ctx).Pid)
	if !emptied {
		n.p.settle(n.rel)
	}
	errno := n.fill(ctx, f, &out.Attr)
	if errno == syscall.ENOENT { // just made, or removed, and still open
		n.p.own.setFile(&out.Attr, n.p.own.fileMode(), 0, n.p.x.Updated())
		errno = 0
	}
	if emptied && session.CheckControl(n.rel, nil) == nil {
		out.Size = 0 // as it is when it is closed now
	}
	return errno
}

func (n *controlFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := n.Getattr(ctx, f, out); errno != 0 {
		return errno
	}
	if !sameOwner(in, &out.Attr) {
		return n.p.deny(ctx, "chown", n.rel, ctxabi.ErrProtected, "the files of a session belong to its owner")
	}
	// A mode is accepted and ignored, because the session has one for all files. cp -p and editors set one.
	if size, ok := in.GetSize(); ok {
		if h, open := f.(*controlHandle); open {
			if errno := h.truncate(ctx, int64(size)); errno != 0 {
				return errno
			}
			out.Size = size
			return 0
		}
		n.p.settle(n.rel)
		h, errno := n.newHandle(ctx, 0)
		if errno != 0 && errno != syscall.ENOENT {
			return errno
		}
		if errno := h.truncate(ctx, int64(size)); errno != 0 {
			return errno
		}
		if errno := n.p.commitEdit(ctx, "truncate", n.rel, h.data, &h.edit, h.opener); errno != 0 {
			return errno
		}
		return n.Getattr(ctx, f, out)
	}
	// Times are the disk's. An explicit one, of cp -p or rsync, is kept there.
	if in.Valid&(fuse.FATTR_ATIME|fuse.FATTR_MTIME) != 0 {
		if errno := n.setTimes(in); errno != 0 && errno != syscall.ENOENT {
			return errno
		}
		return n.Getattr(ctx, f, out)
	}
	return 0
}

func (n *controlFile) setTimes(in *fuse.SetAttrIn) syscall.Errno {
	fd, err := beneath.Open(n.p.t.rootFd, n.p.path(n.rel), unix.O_PATH, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer syscall.Close(fd)
	times := *in
	times.Valid &= fuse.FATTR_ATIME | fuse.FATTR_MTIME | fuse.FATTR_ATIME_NOW | fuse.FATTR_MTIME_NOW
	return errnoOf(setAttrs(fd, &times))
}

func (n *controlFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	n.p.settle(n.rel)
	h, errno := n.newHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	n.p.noteOpen(ctx, n.rel)
	ff := uint32(fuse.FOPEN_DIRECT_IO)
	if flags&syscall.O_ACCMODE == syscall.O_RDONLY {
		ff |= fuse.FOPEN_NOFLUSH
	}
	return h, ff, 0
}

func (n *controlFile) facts(ctx context.Context) facts {
	return facts{
		"version": func() string {
			if n.rel != ctxabi.SummaryFile {
				return ""
			}
			s, err := n.p.x.Summaries()
			if err != nil {
				return ""
			}
			v, used := s.InUse()
			if !used {
				return ""
			}
			return strconv.Itoa(v.N)
		},
		"origin": func() string {
			if child, file, ok := ctxabi.SplitChild(n.rel); ok && (file == ctxabi.ChildResult || file == ctxabi.ChildStatus) {
				_, _, origin, _ := n.p.x.ChildFile(child, file)
				return origin
			}
			if !session.IsNote(n.rel) {
				return ""
			}
			note, err := n.p.x.Note(n.rel)
			if err != nil {
				return ""
			}
			return note.Origin
		},
		"sha256": func() string {
			data, err := n.p.content(ctx, n.rel)
			if err != nil {
				return ""
			}
			return ctxabi.ContentID(data)[len("sha256-"):]
		},
	}
}

func (n *controlFile) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	return n.facts(ctx).Get(name, dest)
}

func (n *controlFile) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	return n.facts(ctx).List(dest)
}
