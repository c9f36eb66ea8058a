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
	"github.com/ctxfs/ctxfs/pack/builder"
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
  cat 'context/search/"src/main.go"'   # a slash stands in double quotes, or is %2F
  cat context/errors.jsonl        # why something was refused

History (messages.jsonl, events.jsonl) only grows. Everything pack.* is made
from it and comes back when it is removed.
`

func (r *rootDir) owner() owner { return owner{uid: r.t.uid, gid: r.t.gid} }

func (r *rootDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	r.owner().setDir(&out.Attr, 0o755, r.t.started)
	out.SetTimeout(fixedTimeout)
	return 0
}

// rootEntries are the names at the root, in the order in which they are listed.
var rootEntries = []struct {
	name string
	mode uint32
	node func(t *tree, own owner) tableNode
}{
	{ctxabi.ReadmeFile, modeFile, func(t *tree, own owner) tableNode {
		return newView(&textSource{own: own, mode: 0o444, text: func() ([]byte, time.Time, error) { return []byte(readme), t.started, nil }})
	}},
	{ctxabi.HomeDir, modeDir, func(t *tree, own owner) tableNode { return &usersDir{topDir{t: t, rel: ctxabi.HomeDir}} }},
	{ctxabi.SharedDir, modeDir, func(t *tree, own owner) tableNode { return &spacesDir{topDir{t: t, rel: ctxabi.SharedDir}} }},
	{ctxabi.StatusFile, modeFile, func(t *tree, own owner) tableNode {
		return newView(&statusSource{textSource: textSource{own: own, mode: 0o444, text: func() ([]byte, time.Time, error) { return t.status(), time.Now(), nil }}})
	}},
}

func (r *rootDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	for _, e := range rootEntries {
		if e.name != name {
			continue
		}
		out.SetEntryTimeout(fixedTimeout)
		n := e.node(r.t, r.owner())
		if name == ctxabi.StatusFile { // a look-up does not count the sessions
			r.owner().setFile(&out.Attr, 0o444, 0, r.t.started)
		} else if errno := n.fill(ctx, nil, &out.Attr); errno != 0 {
			return nil, errno
		}
		if e.mode == modeDir {
			out.SetAttrTimeout(fixedTimeout)
		}
		return r.NewInode(ctx, n, treeAttr(e.mode, name)), 0
	}
	return nil, syscall.ENOENT
}

func (r *rootDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	var list []fuse.DirEntry
	for _, e := range rootEntries {
		list = append(list, dirEntry(e.name, treeAttr(e.mode, e.name)))
	}
	return listing(r.StableAttr(), list), 0
}

// statusSource counts the sessions of the store once for each open. A stat right after an open
// returns the size of what was opened.
type statusSource struct {
	textSource
	opened atomic.Pointer[statusOpened]
}

type statusOpened struct {
	size int
	at   time.Time
}

func (s *statusSource) fill(ctx context.Context, f gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	if o := s.opened.Load(); o != nil && time.Since(o.at) < time.Second {
		s.own.setFile(a, s.mode, int64(o.size), o.at)
		return 0
	}
	return s.textSource.fill(ctx, f, a)
}

func (s *statusSource) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	h, errno := s.textSource.open(ctx)
	if data, ok := h.(bytesHandle); ok {
		s.opened.Store(&statusOpened{len(data), time.Now()})
	}
	return h, errno
}

// status returns the text of the file: KEY=VALUE in each line, and no user's name.
func (t *tree) status() []byte {
	var b strings.Builder
	row := func(k string, v any) { fmt.Fprintf(&b, "%s=%v\n", k, v) }
	row("version", ctxabi.Version)
	row("store", t.store.Dir())
	row("store_id", t.store.ID())
	row("uptime_seconds", int(time.Since(t.started).Seconds()))
	row("sessions", t.store.CountSessions())
	row("requests", t.raw.work.Works())
	row("open_files", t.raw.open.Load())
	compiled, reused := t.builder.Counts()
	row("packs_compiled", compiled)
	row("packs_reused", reused) // cache hits
	row("recall_awaited", t.builder.Awaited())
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

// dirTime returns when a directory of the store changed; if it is not there, when the store was
// mounted.
func (t *tree) dirTime(rel string) time.Time {
	if x, err := t.stat(rel); err == nil {
		return time.Unix(x.Mtime.Sec, int64(x.Mtime.Nsec))
	}
	return t.started
}

var _ = (gofs.NodeLookupNoder)((*rootDir)(nil))

// LookupNode returns the node of a number that the kernel remembers from an earlier daemon, if the
// table revives it. It returns ESTALE for others, and the kernel looks their names up. It visits
// all sessions, and the kernel asks once for a node.
func (r *rootDir) LookupNode(ctx context.Context, id uint64, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if id>>classShift != classSession {
		return nil, syscall.ESTALE
	}
	for ref := range r.t.store.Sessions() {
		x, err := r.t.store.Session(ref)
		if err != nil {
			continue
		}
		e := role(x.ID(), id)
		if e == nil {
			continue
		}
		p, err := newMountedSession(r.t, x)
		if err != nil {
			return nil, errnoOf(err)
		}
		return p.lookup(builder.AtOnce(ctx), r.EmbeddedInode(), e, e.path, out)
	}
	return nil, syscall.ESTALE
}
