package fs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/handles"
)

// openFiles counts which files of which sessions are open. The handler of an open records the file
// with its request; the number of the handle, which is go-fuse's, identifies it when it is closed.
// Its zero value is ready; it is safe for concurrent use.
type openFiles struct {
	mu      sync.Mutex
	handles map[uint64]openFile         // by their numbers; guarded by mu
	count   map[string]map[openFile]int // by session; guarded by mu
}

// openFile is a file of the session with an id. The path is relative to the session, or "" if only
// the session matters.
type openFile struct{ session, rel string }

// noteOpen records that the request behind ctx opens the file rel of the session; rel may be "".
func (p *mountedSession) noteOpen(ctx context.Context, rel string) {
	p.t.raw.noteOpen(ctx, openFile{p.x.ID(), rel})
}

// noteOpen records that the request behind ctx opens an ordinary file, if that lies in a session.
func (p *plain) noteOpen(ctx context.Context) {
	rel := storePath(p.EmbeddedInode())
	parts := strings.SplitN(rel, "/", 7)
	if len(parts) < 6 || parts[4] != ctxabi.SessionDir {
		return
	}
	ref, err := ctxabi.ParseRef(strings.Join(parts[:6], "/"))
	if err != nil {
		return
	}
	if x := p.t.store.InUse(ref); x != nil {
		p.t.raw.noteOpen(ctx, openFile{x.ID(), ""})
	}
}

func (r *rawFS) noteOpen(ctx context.Context, f openFile) {
	cancel := ctx.Done()
	s := &r.shards[r.shard(cancel)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if req, ok := s.live[cancel]; ok {
		req.file = f
		s.live[cancel] = req
	}
}

// add counts a handle of f.
func (o *openFiles) add(handle uint64, f openFile) {
	if f.session == "" || handle == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.handles == nil {
		o.handles, o.count = map[uint64]openFile{}, map[string]map[openFile]int{}
	}
	o.handles[handle] = f
	if o.count[f.session] == nil {
		o.count[f.session] = map[openFile]int{}
	}
	o.count[f.session][f]++
}

// take removes a handle that is about to be released and returns its file. The number may be used
// for another handle at once.
func (o *openFiles) take(handle uint64) openFile {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.handles[handle]
	delete(o.handles, handle)
	return f
}

// done counts one handle of f less.
func (o *openFiles) done(f openFile) {
	if f.session == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	files := o.count[f.session]
	if files[f]--; files[f] <= 0 {
		delete(files, f)
	}
	if len(files) == 0 {
		delete(o.count, f.session)
	}
}

// Open returns how many handles are open on the file rel of a session, or on all its files if rel
// is "".
func (o *openFiles) Open(session, rel string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if rel != "" {
		return o.count[session][openFile{session, rel}]
	}
	for _, k := range o.count[session] {
		n += k
	}
	return n
}

// reserve counts a descriptor that the caller holds open until release is called. It returns ctxabi.ErrNoFiles if
// clients, or this user, have as many as they may: the rest is for the other users, for reading sessions,
// appending to them and making packs.
func (t *tree) reserve(ctx context.Context) (release func(), err error) {
	release, err = handles.Keep(callerOf(ctx).Uid)
	if err != nil {
		err = &ctxabi.Error{Op: "open", Kind: ctxabi.ErrNoFiles, Err: err,
			Why: fmt.Sprintf("clients may have %d files of this mount open; close some, or raise the daemon's limit of %d descriptors", handles.Keepable(), handles.Limit())}
		t.warnShort(err)
	}
	return release, err
}

// reserve is [tree.reserve] for an ordinary file.
func (p *plain) reserve(ctx context.Context) (release func(), errno syscall.Errno) {
	release, err := p.t.reserve(ctx)
	return release, errnoOf(err)
}

// shortEvery is the least time between two warnings that descriptors ran out.
const shortEvery = time.Minute

// warnShort logs that descriptors ran out.
func (t *tree) warnShort(err error) {
	now := time.Now().UnixNano()
	last := t.shortAt.Load()
	if now-last >= int64(shortEvery) && t.shortAt.CompareAndSwap(last, now) {
		t.log.Warn("too many files are open", "limit", handles.Limit(), "err", err)
	}
}
