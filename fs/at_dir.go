package fs

import (
	"context"
	"path"
	"regexp"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// atDir is context/at: a directory for each moment of the session, with the packs of the
// history as it was then and of the files as they are now. It lists
// nothing, so that cp -a and find stay finite.
type atDir struct{ fixedDir }

var _ = (gofs.NodeReaddirer)((*atDir)(nil))

func (d *atDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	return listing(d.StableAttr(), nil), 0
}

// moment is what a name in context/at asks for.
type moment struct {
	messages int       // so many; when at is zero
	at       time.Time // those that had arrived by then
}

// rfc3339 is stricter than time.Parse. The comma is what date -Ins writes.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// parseMoment reads a number of messages or an RFC 3339 time, each in the one form in which they are written.
func parseMoment(name string) (m moment, ok bool) {
	if n, err := strconv.Atoi(name); err == nil {
		return moment{messages: n}, n >= 0 && strconv.Itoa(n) == name
	}
	at, err := time.Parse(time.RFC3339, name)
	return moment{at: at}, err == nil && rfc3339.MatchString(name) && !at.IsZero()
}

var _ = (gofs.NodeLookuper)((*atDir)(nil))

func (d *atDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	m, ok := parseMoment(name)
	if !ok {
		return nil, syscall.ENOENT
	}
	n := &momentDir{fixedDir: fixedDir{p: d.p}, moment: m}
	if m.at.IsZero() {
		ix, err := d.p.x.Messages().Index()
		if err != nil {
			return nil, d.p.refuse(ctx, "read", ctxabi.AtDir+"/"+name, err)
		}
		if m.messages > ix.Len() {
			return nil, syscall.ENOENT
		}
	}
	n.fill(&out.Attr)
	keepFixed(out) // which messages a time means is asked at each file, so that a directory never changes its meaning
	attr := contentAttr(d.p.x.ID(), ctxabi.AtDir, name)
	attr.Mode = syscall.S_IFDIR
	return d.NewInode(ctx, n, attr), 0
}

// momentDir is one moment: the files of one pack.
type momentDir struct {
	fixedDir
	moment
	settled atomic.Int64 // how many messages its time means and one more, once that cannot change; 0: not known
}

// commitTime is more than a commit takes from its time stamp until it can be seen.
const commitTime = 10 * time.Minute

// count is how many messages there were.
func (d *momentDir) count() (int, error) {
	if d.at.IsZero() {
		return d.messages, nil
	}
	if n := d.settled.Load(); n > 0 {
		return int(n - 1), nil
	}
	past := time.Since(d.at) > commitTime
	n, err := d.p.x.MessagesAt(d.at)
	if err == nil && past {
		d.settled.Store(int64(n) + 1)
	}
	return n, err
}

var _ = (gofs.NodeReaddirer)((*momentDir)(nil))

func (d *momentDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	var list []fuse.DirEntry
	for _, e := range fixedNames[ctxabi.ContextDir] {
		if packFile(ctxabi.ContextDir + "/" + e.name) {
			list = append(list, entry(e.name, d.p.attr(e.mode, ctxabi.AtDir+"/"+e.name)))
		}
	}
	return listing(d.StableAttr(), list), 0
}

var _ = (gofs.NodeLookuper)((*momentDir)(nil))

func (d *momentDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	rel := path.Join(ctxabi.ContextDir, name)
	if !packFile(rel) {
		return nil, syscall.ENOENT
	}
	n, err := d.count()
	if err != nil {
		return nil, d.p.refuse(ctx, "read", ctxabi.AtDir, err)
	}
	return d.p.lookupBuilt(ctx, &d.Inode, &builtFile{p: d.p, rel: rel, past: true, at: n}, out)
}
