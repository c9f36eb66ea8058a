package fs

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// rootDir is the mount's own directory.
type rootDir struct {
	gofs.Inode
	denyDir
	t *tree
}

const readme = `ctxfs: memory for agents, made of plain files.

  mkdir -p home/$(id -u)/agent/coder/session/s1   # a session; it is complete at once
  cd home/$(id -u)/agent/coder/session/s1
  echo '{"role":"user","content":"hi"}' >> messages.jsonl   # append a message
  cat context/pack.md                                       # the prompt, within the budget

  echo 32000 > context/budget     # tokens the pack may have
  cp rules.md context/pinned/     # stands verbatim in every pack
  ctxfs recipe default > ../../context.yaml   # what packs are made of: edit it
  cat context/pack.report.md      # what each source asked for and got
  cat 'context/search/retry bug'  # find again what was said
  cat context/errors.jsonl        # why something was refused

History (messages.jsonl, events.jsonl) only grows. Everything pack.* is made
from it and comes back when it is removed.
`

func (r *rootDir) owner() owner { return owner{uid: r.t.uid, gid: r.t.gid} }

var _ = (gofs.NodeGetattrer)((*rootDir)(nil))

func (r *rootDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	r.owner().setDir(&out.Attr, 0o755, r.t.started)
	out.SetTimeout(fixedTimeout)
	return 0
}

var _ = (gofs.NodeLookuper)((*rootDir)(nil))

func (r *rootDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	out.SetEntryTimeout(fixedTimeout)
	switch name {
	case ctxabi.HomeDir, ctxabi.SharedDir:
		r.owner().setDir(&out.Attr, 0o755, r.t.dirTime(name))
		out.SetAttrTimeout(fixedTimeout)
		var n gofs.InodeEmbedder = &usersDir{topDir{t: r.t, rel: ctxabi.HomeDir}}
		if name == ctxabi.SharedDir {
			n = &spacesDir{topDir{t: r.t, rel: ctxabi.SharedDir}}
		}
		return r.NewInode(ctx, n, treeAttr(syscall.S_IFDIR, name)), 0
	case ctxabi.ReadmeFile:
		return r.small(ctx, name, out, func() ([]byte, time.Time) { return []byte(readme), r.t.started })
	case ctxabi.StatusFile:
		n := &statusFile{derivedFile: derivedFile{content: func() ([]byte, time.Time, error) { return r.t.status(), time.Now(), nil }, own: r.owner(), mode: 0o444}}
		n.own.setFile(&out.Attr, n.mode, 0, r.t.started) // whoever wants to know the size asks for it
		return r.NewInode(ctx, n, treeAttr(syscall.S_IFREG, name)), 0
	}
	return nil, syscall.ENOENT
}

func (r *rootDir) small(ctx context.Context, name string, out *fuse.EntryOut, content func() ([]byte, time.Time)) (*gofs.Inode, syscall.Errno) {
	n := &derivedFile{content: func() ([]byte, time.Time, error) { b, at := content(); return b, at, nil }, own: r.owner(), mode: 0o444}
	if errno := n.fill(&out.Attr); errno != 0 {
		return nil, errno
	}
	return r.NewInode(ctx, n, treeAttr(syscall.S_IFREG, name)), 0
}

// statusFile counts the sessions of the store, once for whoever opens it: the stat of what was just opened is of that.
type statusFile struct {
	derivedFile
	opened atomic.Pointer[statusOpened]
}

type statusOpened struct {
	size int
	at   time.Time
}

var _ = (gofs.NodeGetattrer)((*statusFile)(nil))

func (n *statusFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if o := n.opened.Load(); o != nil && time.Since(o.at) < time.Second {
		n.own.setFile(&out.Attr, n.mode, int64(o.size), o.at)
		return 0
	}
	return n.fill(&out.Attr)
}

var _ = (gofs.NodeOpener)((*statusFile)(nil))

func (n *statusFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	h, mode, errno := n.derivedFile.Open(ctx, flags)
	if data, ok := h.(bytesHandle); ok {
		n.opened.Store(&statusOpened{len(data), time.Now()})
	}
	return h, mode, errno
}

var _ = (gofs.NodeReaddirer)((*rootDir)(nil))

func (r *rootDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	var list []fuse.DirEntry
	for _, name := range []string{ctxabi.ReadmeFile, ctxabi.HomeDir, ctxabi.SharedDir, ctxabi.StatusFile} {
		mode := uint32(syscall.S_IFREG)
		if name == ctxabi.HomeDir || name == ctxabi.SharedDir {
			mode = syscall.S_IFDIR
		}
		list = append(list, entry(name, treeAttr(mode, name)))
	}
	return listing(r.StableAttr(), list), 0
}

// status is the file of that name: KEY=VALUE, and nobody's name.
func (t *tree) status() []byte {
	sessions := 0
	for range t.store.Sessions() {
		sessions++
	}
	var b strings.Builder
	row := func(k string, v any) { fmt.Fprintf(&b, "%s=%v\n", k, v) }
	row("version", ctxabi.Version)
	row("store", t.store.Dir())
	row("store_id", t.store.ID())
	row("uptime_seconds", int(time.Since(t.started).Seconds()))
	row("sessions", sessions)
	row("requests", t.raw.requests.Load())
	row("open_files", t.raw.open.Load())
	compiled, reused := t.builder.Counts()
	row("packs_compiled", compiled)
	row("packs_reused", reused) // cache hits
	collected := t.gc.Totals()
	row("gc_runs", collected.Runs)
	row("gc_removed", collected.Removed)
	row("gc_freed_bytes", collected.Freed)
	row("gc_last", collected.LastUnix())
	row("gc_grace", t.gc.Grace())
	row("passthrough", "off")
	row("redact", map[bool]string{true: "on", false: "off"}[t.builder.Redacts()])
	row("memory_limit", t.memory.Bytes())
	row("memory_held", t.memory.Held())
	return []byte(b.String())
}

// dirTime is when a directory of the store changed, or the mount's start.
func (t *tree) dirTime(rel string) time.Time {
	if x, err := t.stat(rel); err == nil {
		return time.Unix(x.Mtime.Sec, int64(x.Mtime.Nsec))
	}
	return t.started
}
