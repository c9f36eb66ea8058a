package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
)

// context/search has a file for each query, with what the session's records say to it. It lists the
// recent queries.

func listQueries(ctx context.Context, d *fixedDir) (list []fuse.DirEntry, _ syscall.Errno) {
	for _, q := range readRecent(d.p.x) {
		if shown, err := d.p.t.builder.Redacted(d.p.x, []byte(q.name)); err != nil || string(shown) != q.name {
			continue // a query that has a secret in it
		}
		list = append(list, fuse.DirEntry{Name: q.name, Mode: syscall.S_IFREG})
	}
	return list, 0
}

// findQuery finds the answer to a query. A phrase in double quotes may have slashes: a name that ends inside
// one is a directory, in which the query goes on.
func findQuery(ctx context.Context, d *fixedDir, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if strings.HasPrefix(name, ".") {
		return nil, syscall.ENOENT
	}
	return findQueryPart(ctx, d, name, out)
}

// findQueryPart is findQuery for name as it is written from context/search on, with %2F for each slash.
func findQueryPart(ctx context.Context, d *fixedDir, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if search.InPhrase(name) {
		inside := func(ctx context.Context, d *fixedDir, next string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
			return findQueryPart(ctx, d, name+escapedSlash+next, out)
		}
		n := &fixedDir{p: d.p, rel: ctxabi.SearchDir, find: inside}
		n.fill(ctx, nil, &out.Attr)
		cacheFixed(out)
		return d.NewInode(ctx, n, phraseAttr(d.p.x.ID(), name)), 0
	}
	q, err := search.ParseName(name)
	if err != nil {
		return nil, d.p.refuse(ctx, "search", ctxabi.SearchDir+"/"+name, err)
	}
	n := &searchSource{t: d.p.t, own: d.p.own, name: name}
	n.search = func(ctx context.Context) (*search.Result, error) { return d.p.t.search.Session(ctx, d.p.x, q) }
	n.state = func() (string, time.Time) {
		m, e := d.p.x.Messages(), d.p.x.Events()
		at := m.ModTime()
		if e.ModTime().After(at) {
			at = e.ModTime()
		}
		return fmt.Sprint(d.p.x.ID(), " ", m.Len(), " ", e.Len(), " ", name), at
	}
	n.used = func() { noteRecent(d.p, name) }
	if err := n.answer(ctx); err != nil {
		return nil, d.p.refuse(ctx, "search", ctxabi.SearchDir+"/"+name, err)
	}
	return n.found(ctx, d.EmbeddedInode(), d.p.x.ID(), out), 0
}

// escapedSlash is how a name of a query writes a slash.
const escapedSlash = "%2F"

// phraseAttr returns the identity of the directory in which a phrase goes on.
func phraseAttr(where, name string) gofs.StableAttr {
	attr := contentAttr(where, ctxabi.SearchDir, name)
	attr.Mode = syscall.S_IFDIR
	return attr
}

// ownerSearchDir is search in an agent's home, in a user's home or in a shared space: a file for
// each query over all sessions there. It lists nothing.
type ownerSearchDir struct {
	storeDir        // ref.Agent is set in an agent's home
	begun    string // of a directory inside a phrase: the query so far, and %2F
}

// lookupSearch answers a look-up of the search directory of a realm, or of its agent.
func (r realm) lookupSearch(ctx context.Context, parent *gofs.Inode, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	home := r.dir()
	if r.ref.Agent != "" {
		home = r.ref.AgentHome()
	}
	n := &ownerSearchDir{storeDir: storeDir{realm: r, rel: home + "/" + ctxabi.HomeSearchDir}}
	n.fill(&out.Attr)
	cacheFixed(out)
	return parent.NewInode(ctx, n, treeAttr(modeDir, n.rel)), 0
}

func (d *ownerSearchDir) fill(a *fuse.Attr) {
	o := d.owner()
	o.setDir(a, o.dirMode()&^0o222, d.t.started)
}

func (d *ownerSearchDir) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	d.fill(&out.Attr)
	out.SetTimeout(fixedTimeout)
	return 0
}

func (d *ownerSearchDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	return listing(d.StableAttr(), nil), 0
}

func (d *ownerSearchDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if d.begun == "" && strings.HasPrefix(name, ".") {
		return nil, syscall.ENOENT
	}
	name = d.begun + name
	if search.InPhrase(name) {
		n := &ownerSearchDir{storeDir{realm: d.realm, rel: d.rel}, name + escapedSlash}
		n.fill(&out.Attr)
		cacheFixed(out)
		return d.NewInode(ctx, n, phraseAttr(d.rel, name)), 0
	}
	q, err := search.ParseName(name)
	if err != nil {
		d.t.log.Debug("refused", "op", "search", "path", d.rel, "reason", err)
		return nil, errnoOf(err)
	}
	n := &searchSource{t: d.t, own: d.owner(), name: name}
	n.search = func(ctx context.Context) (*search.Result, error) { return d.t.search.Owner(ctx, d.ref, q) }
	n.state = func() (string, time.Time) { return "", time.Now() } // to find out whether all sessions are what they were is most of the work
	n.used = func() {}
	if err := n.answer(ctx); err != nil {
		d.t.log.Warn("search", "path", d.rel, "err", err)
		return nil, errnoOf(err)
	}
	return n.found(ctx, d.EmbeddedInode(), d.rel, out), 0
}

// searchSource is the answer to a query in the state that the logs had at the look-up. It never
// changes: the next look-up may find another one. The bytes are in the [answers], and searched for
// again when they were evicted.
type searchSource struct {
	constantSource
	t      *tree
	own    owner
	name   string
	search func(context.Context) (*search.Result, error)
	state  func() (key string, at time.Time) // "": not known
	used   func()                            // it was opened

	sum  string // SHA-256 of the content, under which it is on the shelf
	size int64
	at   time.Time
}

// answer searches, unless the answer of the same state is cached.
func (n *searchSource) answer(ctx context.Context) error {
	state, at := n.state()
	n.at = at
	data, known := n.t.answers.of(state)
	if !known {
		late, cancel := patient(ctx)
		defer cancel()
		r, err := n.search(late)
		if err != nil {
			return err
		}
		data = n.t.search.Render(r)
		if r.Incomplete() {
			state = ""
		}
	}
	sum := sha256.Sum256(data)
	n.sum, n.size = hex.EncodeToString(sum[:]), int64(len(data))
	n.t.answers.put(state, n.sum, data)
	return nil
}

// found answers the look-up of the query. where is the id of the session, or the path of the
// directory.
func (n *searchSource) found(ctx context.Context, parent *gofs.Inode, where string, out *fuse.EntryOut) *gofs.Inode {
	n.fill(ctx, nil, &out.Attr)
	out.SetAttrTimeout(foreverValid)
	return parent.NewInode(ctx, newView(n), contentAttr(where, ctxabi.SearchDir, n.name+"\x00"+n.sum))
}

func (n *searchSource) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	n.own.setFile(a, n.own.readMode(), n.size, n.at)
	return 0
}

func (n *searchSource) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	data, ok := n.t.answers.get(n.sum)
	if !ok {
		fresh := &searchSource{t: n.t, name: n.name, search: n.search, state: n.state}
		if err := fresh.answer(ctx); err != nil {
			return nil, errnoOf(err)
		}
		if data, ok = n.t.answers.get(n.sum); !ok {
			return nil, syscall.ESTALE // the logs have grown: the kernel looks the name up again
		}
	}
	n.used()
	return bytesHandle(data), 0
}

func (n *searchSource) facts(context.Context) (facts, syscall.Errno) {
	return facts{"origin": func() string { return "derived" }, "sha256": func() string { return n.sum }}, 0
}

// maxRecent is how many queries context/search.recent names.
const maxRecent = 20

// recentQuery is one of them.
type recentQuery struct{ at, name string }

// readRecent returns the recent queries of a session, the last one at the end.
func readRecent(x *session.Session) (list []recentQuery) {
	data, _ := x.Derived(search.RecentName)
	for line := range strings.Lines(string(data)) {
		at, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok && name != "" && len(list) < maxRecent {
			list = append(list, recentQuery{at, name})
		}
	}
	return list
}

// noteRecent records that a query was read. A failure is only logged.
func noteRecent(p *mountedSession, name string) {
	for _, c := range []byte(name) {
		if c < ' ' || c == 0x7f {
			return // it could not be listed in a line of its own
		}
	}
	p.t.recent.Lock()
	defer p.t.recent.Unlock()
	var b strings.Builder
	list := readRecent(p.x)
	kept := list[:0]
	for _, q := range list {
		if q.name != name {
			kept = append(kept, q)
		}
	}
	kept = append(kept, recentQuery{time.Now().UTC().Format(time.RFC3339), name})
	for _, q := range kept[max(0, len(kept)-maxRecent):] {
		fmt.Fprintf(&b, "%s %s\n", q.at, q.name)
	}
	if err := p.x.SetDerived(search.RecentName, []byte(b.String())); err != nil {
		p.t.log.Debug("recent queries not kept", "session", p.x.ID(), "err", err)
	}
}
