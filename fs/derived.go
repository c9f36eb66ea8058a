package fs

import (
	"context"
	"fmt"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc/world"
	"github.com/ctxfs/ctxfs/search"
)

// derivedFile is a small file that ctxfs makes anew for whoever looks: README,
// status, latest.md, created_at, updated_at, errors.jsonl, search.recent. A handle keeps what
// it was opened on.
type derivedFile struct {
	gofs.Inode
	noXattrs
	own     owner
	mode    uint32
	content func() ([]byte, time.Time, error)
	p       *place // nil: it is of no session
}

// derived is the small derived file rel of a session.
func (p *place) derived(rel string) *derivedFile {
	f := &derivedFile{own: p.own, mode: p.own.readMode(), p: p}
	stamp := func(t time.Time) ([]byte, time.Time, error) { return fmt.Appendf(nil, "%d\n", t.Unix()), t, nil }
	switch rel {
	case ctxabi.CreatedFile:
		f.content = func() ([]byte, time.Time, error) { return stamp(p.x.Created()) }
	case ctxabi.UpdatedFile:
		f.content = func() ([]byte, time.Time, error) { return stamp(p.x.Updated()) }
	case ctxabi.ErrorsFile:
		f.content = func() ([]byte, time.Time, error) {
			rows, err := p.t.builder.RedactedErrors(p.x, p.x.Errors())
			return rows, p.x.Updated(), err
		}
	case ctxabi.GCReportFile:
		f.content = func() ([]byte, time.Time, error) {
			data, at, err := world.Report(p.x)
			if err == nil {
				data, err = p.t.builder.Redacted(p.x, data)
			}
			return data, at, err
		}
	case ctxabi.RecentFile:
		f.content = func() ([]byte, time.Time, error) {
			data, _ := p.x.Derived(search.RecentName)
			data, err := p.t.builder.Redacted(p.x, data)
			return data, p.x.Updated(), err
		}
	default:
		f.content = func() ([]byte, time.Time, error) {
			text, err := p.x.LatestFile()
			return text, p.x.Messages().ModTime(), err
		}
	}
	return f
}

func (n *derivedFile) fill(a *fuse.Attr) syscall.Errno {
	data, at, err := n.content()
	if err != nil {
		return errnoOf(err)
	}
	n.own.setFile(a, n.mode, int64(len(data)), at)
	return 0
}

var _ = (gofs.NodeGetattrer)((*derivedFile)(nil))

func (n *derivedFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return n.fill(&out.Attr)
}

var _ = (gofs.NodeSetattrer)((*derivedFile)(nil))

func (n *derivedFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return syscall.EACCES
}

var _ = (gofs.NodeOpener)((*derivedFile)(nil))

func (n *derivedFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		return nil, 0, syscall.EACCES
	}
	if n.p != nil {
		n.p.opens(ctx, "")
	}
	data, _, err := n.content()
	if err != nil {
		return nil, 0, errnoOf(err)
	}
	return bytesHandle(data), fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0
}

var _ = (gofs.NodeGetxattrer)((*derivedFile)(nil))

func (n *derivedFile) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	return facts{"origin": func() string { return "derived" }}.Get(name, dest)
}

func (n *derivedFile) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	return facts{"origin": func() string { return "derived" }}.List(dest)
}

// bytesHandle is an open file whose content is known and does not change.
type bytesHandle []byte

var _ = (gofs.FileReader)(bytesHandle(nil))

func (h bytesHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if off >= int64(len(h)) {
		return fuse.ReadResultData(nil), 0
	}
	return fuse.ReadResultData(h[off:min(off+int64(len(dest)), int64(len(h)))]), 0
}
