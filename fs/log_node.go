package fs

import (
	"context"
	"strconv"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
)

// logFile is messages.jsonl or events.jsonl. Its size is that of the log and not of the file in the
// store. The kernel may cache none of its attributes, because the next append changes them.
type logFile struct {
	gofs.Inode
	noXattrs
	p   *mountedSession
	log *log.Log
}

func logNode(p *mountedSession, rel string) tableNode {
	if rel == ctxabi.EventsFile {
		return &logFile{p: p, log: p.x.Events()}
	}
	return &logFile{p: p, log: p.x.Messages()}
}

func (n *logFile) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	if err := n.log.Open(); err != nil {
		return errnoOf(err)
	}
	n.p.own.setFile(a, n.p.own.fileMode(), n.log.Len(), n.log.ModTime())
	return 0
}

func (n *logFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return n.fill(ctx, f, &out.Attr)
}

// Setattr refuses what chattr +a would refuse. It allows what changes nothing: touch to now, the
// mode and owner that the file has, O_TRUNC of an empty log.
func (n *logFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := n.fill(ctx, f, &out.Attr); errno != 0 {
		return errno
	}
	deny := func(op, why string) syscall.Errno {
		return n.p.deny(ctx, op, n.log.Name(), ctxabi.ErrAppendOnly, why)
	}
	if size, ok := in.GetSize(); ok && (size != 0 || out.Size != 0) {
		return deny("truncate", "history only grows; append with >>, it cannot be cut or replaced")
	}
	if mode, ok := in.GetMode(); ok && mode&0o777 != out.Mode&0o777 {
		return deny("chmod", "the mode of history is fixed")
	}
	if !sameOwner(in, &out.Attr) {
		return deny("chown", "history belongs to the session's owner")
	}
	if explicitTimes(in) {
		return deny("utimes", "the time of history is that of its last record; it can only be set to now (touch)")
	}
	return 0
}

var _ = (gofs.NodeAllocater)((*logFile)(nil))

// Allocate refuses space behind the end and holes before it alike.
func (n *logFile) Allocate(ctx context.Context, f gofs.FileHandle, off, size uint64, mode uint32) syscall.Errno {
	return n.p.deny(ctx, "fallocate", n.log.Name(), ctxabi.ErrAppendOnly, "history only grows by whole records; append with >>")
}

// denyLink refuses a second name, in whichever directory it was asked for.
func (n *logFile) denyLink(ctx context.Context) syscall.Errno {
	return n.p.deny(ctx, "link", n.log.Name(), ctxabi.ErrAppendOnly, "history has one name; copy it instead")
}

func (n *logFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if err := n.log.Open(); err != nil {
		return nil, 0, n.p.refuse(ctx, "open", n.log.Name(), err)
	}
	if flags&syscall.O_TRUNC != 0 && n.log.Len() > 0 {
		return nil, 0, n.p.deny(ctx, "truncate", n.log.Name(), ctxabi.ErrAppendOnly, "history only grows; append with >> instead of >")
	}
	n.p.noteOpen(ctx, n.log.Name())
	ff := uint32(fuse.FOPEN_DIRECT_IO) // the page cache would show readers NULs beside a writer
	h := &logHandle{n: n}
	if flags&syscall.O_ACCMODE == syscall.O_RDONLY {
		ff |= fuse.FOPEN_NOFLUSH
	} else {
		h.writer = writerOf(ctx)
		h.stage = n.log.NewStage(h.writer)
	}
	return h, ff, 0
}

func (n *logFile) facts(ctx context.Context) facts {
	f := facts{
		"lines": func() string {
			lines, err := n.log.Lines()
			if err != nil {
				return ""
			}
			return strconv.Itoa(lines)
		},
		"head": func() string {
			head, err := n.log.Head()
			if err != nil {
				return ""
			}
			return head
		},
		"sealed": n.archived(func(a archive.Archived) int64 { return a.Raw }),
		"packed": n.archived(func(a archive.Archived) int64 { return a.Packed }),
	}
	return f
}

// archived returns a fact: a number of what is sealed, or "" if nothing is.
func (n *logFile) archived(of func(archive.Archived) int64) func() string {
	return func() string {
		a, err := n.log.Archived()
		if err != nil || a.Parts == 0 {
			return ""
		}
		return strconv.FormatInt(of(a), 10)
	}
}

func (n *logFile) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	return n.facts(ctx).Get(name, dest)
}

func (n *logFile) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	return n.facts(ctx).List(dest)
}
