package fs

import (
	"context"
	"path"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// context/at has a directory for each moment of the session, with the packs of the history as it
// was then and of the files as they are now.

// moment is the point in a session's history that a name in context/at stands for.
type moment struct {
	messages int       // so many; when at is zero
	at       time.Time // those that had arrived by then
}

// rfc3339 is stricter than time.Parse. The comma is what date -Ins writes.
var rfc3339 = lazy.Regexp(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// parseMoment parses a number of messages or an RFC 3339 time. ok is false for any other form of
// either.
func parseMoment(name string) (m moment, ok bool) {
	if n, err := strconv.Atoi(name); err == nil {
		return moment{messages: n}, n >= 0 && strconv.Itoa(n) == name
	}
	at, err := time.Parse(time.RFC3339, name)
	return moment{at: at}, err == nil && rfc3339().MatchString(name) && !at.IsZero()
}

func findMoment(ctx context.Context, d *fixedDir, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	m, ok := parseMoment(name)
	if !ok {
		return nil, syscall.ENOENT
	}
	if m.at.IsZero() {
		ix, err := d.p.x.Messages().Index()
		if err != nil {
			return nil, d.p.refuse(ctx, "read", ctxabi.AtDir+"/"+name, err)
		}
		if m.messages > ix.Len() {
			return nil, syscall.ENOENT
		}
	}
	n := &fixedDir{p: d.p, rel: ctxabi.AtDir, find: (&instant{p: d.p, moment: m}).find, list: listMoment}
	n.fill(ctx, nil, &out.Attr)
	cacheFixed(out) // which messages a time means is asked at each file, so that a directory never changes its meaning
	attr := contentAttr(d.p.x.ID(), ctxabi.AtDir, name)
	attr.Mode = syscall.S_IFDIR
	return d.NewInode(ctx, n, attr), 0
}

// instant looks up the files of the pack of a moment.
type instant struct {
	p *mountedSession
	moment
	settled atomic.Int64 // how many messages its time means and one more, once that cannot change; 0: not known
}

// commitTime is longer than it takes from a commit's time stamp until the commit can be seen.
const commitTime = 10 * time.Minute

// count returns how many messages the session had at the moment.
func (m *instant) count() (int, error) {
	if m.at.IsZero() {
		return m.messages, nil
	}
	if n := m.settled.Load(); n > 0 {
		return int(n - 1), nil
	}
	past := time.Since(m.at) > commitTime
	n, err := m.p.x.MessagesAt(m.at)
	if err == nil && past {
		m.settled.Store(int64(n) + 1)
	}
	return n, err
}

func listMoment(ctx context.Context, d *fixedDir) (list []fuse.DirEntry, _ syscall.Errno) {
	for _, e := range alwaysIn(ctxabi.ContextDir) {
		if e.kind == built {
			list = append(list, dirEntry(e.name(), d.p.attr(e.mode, path.Join(ctxabi.AtDir, e.name()))))
		}
	}
	return list, 0
}

func (m *instant) find(ctx context.Context, d *fixedDir, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	rel := path.Join(ctxabi.ContextDir, name)
	if entryOf(rel).kind != built {
		return nil, syscall.ENOENT
	}
	n, err := m.count()
	if err != nil {
		return nil, m.p.refuse(ctx, "read", ctxabi.AtDir, err)
	}
	return m.p.lookupBuilt(ctx, d.EmbeddedInode(), &builtFile{p: m.p, rel: rel, past: true, at: n}, out)
}
