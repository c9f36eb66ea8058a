package fs

import (
	"context"
	"strconv"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// context/summaries has each delivered version of the summary under its number.

func listSummaries(ctx context.Context, d *fixedDir) (list []fuse.DirEntry, _ syscall.Errno) {
	s, err := d.p.x.Summaries()
	if err != nil {
		return nil, d.p.refuse(ctx, "read", ctxabi.SummariesDir, err)
	}
	for _, v := range s.List {
		n := &summarySource{p: d.p, version: v}
		list = append(list, dirEntry(strconv.Itoa(v.N)+".md", n.attr()))
	}
	return list, 0
}

func findSummary(ctx context.Context, d *fixedDir, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	number, ok := ctxabi.ParseSummaryName(name)
	if !ok {
		return nil, syscall.ENOENT
	}
	s, err := d.p.x.Summaries()
	if err != nil {
		return nil, d.p.refuse(ctx, "read", ctxabi.SummariesDir, err)
	}
	v, ok := s.Get(number)
	if !ok {
		return nil, syscall.ENOENT
	}
	n := &summarySource{p: d.p, version: v}
	if errno := n.fill(ctx, nil, &out.Attr); errno != 0 {
		return nil, errno
	}
	out.SetAttrTimeout(foreverValid)
	return d.NewInode(ctx, newView(n), n.attr()), 0
}

// summarySource is the text of one version. It never changes.
type summarySource struct {
	constantSource
	p       *mountedSession
	version session.Version
}

func (n *summarySource) attr() gofs.StableAttr {
	return contentAttr(n.p.x.ID(), ctxabi.SummariesDir, strconv.Itoa(n.version.N)+n.version.SHA256)
}

// content returns the text, or the errno of a text that cannot be read.
func (n *summarySource) content(ctx context.Context) ([]byte, syscall.Errno) {
	text, err := n.p.x.SummaryText(n.version)
	if err != nil {
		return nil, n.p.refuse(ctx, "read", ctxabi.SummaryPath(n.version.N), err)
	}
	return text, 0
}

func (n *summarySource) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	text, errno := n.content(ctx)
	n.p.own.setFile(a, n.p.own.readMode(), int64(len(text)), n.version.At)
	return errno
}

func (n *summarySource) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	n.p.noteOpen(ctx, "")
	text, errno := n.content(ctx)
	if errno != 0 {
		return nil, errno
	}
	return bytesHandle(text), 0
}

func (n *summarySource) facts(context.Context) (facts, syscall.Errno) {
	number := func(i int) func() string { return func() string { return strconv.Itoa(i) } }
	v := n.version
	return facts{
		"origin":   func() string { return ctxabi.OriginAgent },
		"upto":     number(v.Upto),
		"messages": number(v.Messages),
		"events":   number(v.Events),
		"base":     number(v.Base),
		"event": func() string {
			if v.OfEvent() {
				return strconv.Itoa(v.Events)
			}
			return ""
		},
		"retracted": func() string {
			if s, err := n.p.x.Summaries(); err == nil {
				if now, ok := s.Get(v.N); ok && now.Retracted {
					return "1"
				}
			}
			return ""
		},
		"writer": func() string { return v.Writer },
		"sha256": func() string { return v.SHA256 },
	}, 0
}
