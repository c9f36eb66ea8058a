package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"strconv"
	"sync"
	"syscall"
	"time"
	"weak"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lru"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/builder"
)

// A built file has one inode per build. Looking its name up makes the build if it is stale, and
// returns the inode of that build. Who holds an older inode goes on reading the older build. The
// name is looked up each time; the content of an inode never changes, so that the kernel may cache
// it for good.

// generation is what the tree has computed of a build: the hashes of its files.
type generation struct {
	build   *pack.Build
	session string // its id

	mu   sync.Mutex
	sums map[string]string // by file, hex SHA-256; guarded by mu

	placeholders map[string]*placeholder // by file, what was looked up when it was awaited; guarded by the place's mu
}

func (g *generation) size() int { return g.build.Size() }

// file returns the bytes and the hash of a file of the build. It renders native renderings on the
// first call.
func (p *mountedSession) file(g *generation, rel string) (data []byte, sum string, err error) {
	if data, err = entryOf(rel).render(p, g.build); err != nil {
		return nil, "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sums[rel] == "" {
		digest := sha256.Sum256(data)
		g.sums[rel] = hex.EncodeToString(digest[:])
	}
	return data, g.sums[rel], nil
}

// builtFile is the source of one file of one build; its bytes are on the [shelf].
type builtFile struct {
	constantSource
	p      *mountedSession
	rel    string
	past   bool // below context/at: the pack of the first at messages
	at     int
	gen    weak.Pointer[generation]
	size   int64
	made   time.Time
	id     string // of the build
	sum    string // SHA-256 of the bytes, hex
	tokens int
}

// name returns the path of the file in the session. A file below context/at has a path of its own,
// because reading it is not reading the present pack.
func (n *builtFile) name() string {
	if n.past {
		return ctxabi.AtDir + "/" + strconv.Itoa(n.at) + "/" + path.Base(n.rel)
	}
	return n.rel
}

// build returns the present build, or that of the first n.at messages.
func (n *builtFile) build(ctx context.Context) (*pack.Build, error) {
	if n.past {
		return n.p.buildAt(ctx, n.at)
	}
	return n.p.build(ctx)
}

// data returns the file's bytes and its build. ok is false if the build is gone and another one has
// other bytes.
func (n *builtFile) data(ctx context.Context) (b []byte, build *pack.Build, ok bool, err error) {
	g := n.gen.Value()
	if g == nil {
		build, err := n.build(ctx)
		if err != nil {
			return nil, nil, false, err
		}
		g = n.p.generation(build)
	}
	b, sum, err := n.p.file(g, n.rel)
	if err != nil {
		return nil, nil, false, err
	}
	n.p.t.shelf.put(g)
	return b, g.build, sum == n.sum, nil
}

// generation returns the generation of build; there is one while the shelf has it.
func (p *mountedSession) generation(build *pack.Build) *generation {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := weak.Make(build)
	if g := p.built[key].Value(); g != nil {
		return g
	}
	if len(p.built) >= p.sweepAt {
		maps.DeleteFunc(p.built, func(_ weak.Pointer[pack.Build], g weak.Pointer[generation]) bool { return g.Value() == nil })
		p.sweepAt = max(16, 2*len(p.built))
	}
	if p.built == nil {
		p.built = map[weak.Pointer[pack.Build]]weak.Pointer[generation]{}
	}
	g := &generation{build: build, session: p.x.ID(), sums: map[string]string{}}
	p.built[key] = weak.Make(g)
	return g
}

// lookupBuilt answers a look-up of n, of which the pack and the file are set. It does not wait for
// generators.
func (p *mountedSession) lookupBuilt(ctx context.Context, parent *gofs.Inode, n *builtFile, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	compiled, err := n.build(builder.AtOnce(ctx))
	switch {
	case builder.Waits(err):
		a := &awaitedFile{what: n, placeholder: p.placeholder(n.name())}
		p.own.setFile(&out.Attr, p.own.readMode(), 0, p.x.Updated())
		return parent.NewInode(ctx, newView(a), a.attr), 0
	case err != nil:
		page, ok := p.failureReport(n.rel, err)
		if !ok {
			return nil, errnoOf(err) // the builder has reported it
		}
		f := textNode(func(p *mountedSession) ([]byte, time.Time, error) { return page, p.x.Updated(), nil })(p, n.rel)
		f.fill(ctx, nil, &out.Attr)
		return parent.NewInode(ctx, f, contentAttr(p.x.ID(), n.name(), "failure "+string(page))), 0
	}
	return p.showBuild(ctx, parent, compiled, n, out)
}

// failureReport returns the page that pack.report.md shows while no pack can be made. ok is false
// for other files.
func (p *mountedSession) failureReport(rel string, err error) (page []byte, ok bool) {
	if rel != ctxabi.ReportFile {
		return nil, false
	}
	return p.t.builder.FailureReport(p.x, err)
}

// showBuild answers a look-up with n as the file of build.
func (p *mountedSession) showBuild(ctx context.Context, parent *gofs.Inode, build *pack.Build, n *builtFile, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	gen, err := p.fillIn(n, build)
	if err != nil {
		return nil, errnoOf(err)
	}
	n.fill(ctx, nil, &out.Attr)
	if s := p.placeholderOf(ctx, gen, n, nil); s != nil {
		return parent.NewInode(ctx, newView(n), s.attr), 0
	}
	out.SetAttrTimeout(foreverValid)
	// Same bytes under another id or time are another inode: attributes are content too.
	key := n.sum + build.ID + strconv.FormatInt(build.Made.UnixNano(), 36)
	return parent.NewInode(ctx, newView(n), contentAttr(p.x.ID(), n.name(), key)), 0
}

// fillIn sets the fields of n to those of its file of build.
func (p *mountedSession) fillIn(n *builtFile, build *pack.Build) (*generation, error) {
	gen := p.generation(build)
	data, sum, err := p.file(gen, n.rel)
	if err != nil {
		return nil, err
	}
	p.t.shelf.put(gen)
	n.p, n.gen, n.size, n.made = p, weak.Make(gen), int64(len(data)), build.Made
	n.id, n.sum, n.tokens = build.ID, sum, build.Tokens
	return gen, nil
}

func (n *builtFile) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	n.p.own.setFile(a, n.p.own.readMode(), n.size, n.made)
	return 0
}

func (n *builtFile) refuse(ctx context.Context, op string) syscall.Errno {
	why := "ctxfs makes it from the session; it cannot be written"
	if op == "change" {
		why = "ctxfs makes it from the session; rm drops the build"
	}
	return n.p.deny(ctx, op, n.name(), ctxabi.ErrReadOnly, why)
}

func (n *builtFile) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	data, build, ok, err := n.data(ctx)
	switch {
	case err != nil:
		return nil, errnoOf(err)
	case !ok:
		return nil, syscall.ESTALE // the kernel looks the name up again and finds the present build
	}
	n.read(ctx, build)
	return bytesHandle(data), 0
}

// read records that n, a file of build, is opened for reading.
func (n *builtFile) read(ctx context.Context, build *pack.Build) {
	n.p.noteOpen(ctx, n.rel)
	if !n.past {
		n.p.opened(ctx, n.rel, build)
	}
}

// opened records that a caller opened the file rel of the present build. A file of the summary
// request enables requests for the agent; any other file adds a row to packs.jsonl.
func (p *mountedSession) opened(ctx context.Context, rel string, compiled *pack.Build) {
	p.forgetRemoval(rel)
	if path.Dir(rel) == ctxabi.AskDir {
		p.t.builder.Asked(p.x, compiled)
		return
	}
	who := callerOf(ctx)
	p.t.builder.Opened(p.x, compiled, builder.Opening{File: rel, UID: who.Uid, PID: who.Pid, At: time.Now()})
}

func (n *builtFile) facts(context.Context) (facts, syscall.Errno) {
	return facts{
		"origin":  func() string { return "derived" },
		"pack_id": func() string { return n.id },
		"sha256":  func() string { return n.sum },
		"tokens": func() string {
			if n.rel != ctxabi.PackFile {
				return ""
			}
			return strconv.Itoa(n.tokens)
		},
	}, 0
}

// Limits of what is cached for inodes. An agent that reads its pack in each turn makes builds that nobody
// asks for again, so that a session has few of them here.
const (
	maxShelf     = 16 << 20 // bytes of builds, those of the session that was looked up last not counted
	maxOfSession = 8        // builds
)

// shelf caches the builds that were looked up last. The kernel remembers inodes for as long as it
// has memory: if each of them held its build, the daemon's memory would be as large as all packs of
// all sessions together. So an inode has a weak pointer to its build. The shelf holds the build, or
// the builder does, or the next look-up makes it again.
type shelf struct {
	limit *memory.Limit // nil: none

	mu       sync.Mutex
	sessions lru.Cache[string, *builds] // by id, with the bytes of their builds; guarded by mu
}

// builds is the builds of one session, with their bytes as they were counted last.
type builds = lru.Cache[*generation, struct{}]

// put moves g to the front and evicts builds from the end until the rest is within the bounds.
func (s *shelf) put(g *generation) {
	most := int64(s.limit.Share(maxShelf))
	s.mu.Lock()
	defer s.mu.Unlock()
	of, ok := s.sessions.Get(g.session)
	if !ok {
		of = new(builds)
	}
	of.Put(g, struct{}{}, int64(g.size())) // native renderings may have come since
	of.Trim(most, nil)
	of.Keep(maxOfSession)
	s.sessions.Put(g.session, of, of.Size())
	s.sessions.Trim(most, nil)
}

// A shelf is a cache of memory.Limit, which is asked while all kinds of locks are held.

func (s *shelf) Loosen() {}

func (s *shelf) Size() int64 {
	if !s.mu.TryLock() {
		return 0
	}
	defer s.mu.Unlock()
	return s.sessions.Size()
}

func (s *shelf) LetGo() {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	s.sessions.Clear()
}
