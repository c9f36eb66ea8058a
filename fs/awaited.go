package fs

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/builder"
)

// awaitedFile is the source of a built file whose generators are still running. The kernel blocks
// other look-ups of a name while its first look-up runs: a generator that reads its own pack would
// wait for the look-up that waits for the generator. So the look-up does not wait; open and stat
// do. A handle keeps the build that it was opened on.
type awaitedFile struct {
	changingSource
	what *builtFile // what the look-up asked for; no build is known of it
	*placeholder
}

// placeholder is the identity of an awaited file. All look-ups of the name until the build is there
// get the same one, and after that it is the identity of the build's file. So between a stat and an
// open no other file seems to take the name, and builds that are open at the same time have
// different inodes.
type placeholder struct {
	attr gofs.StableAttr
	file atomic.Pointer[builtFile] // the file that it is bound to; nil: none yet
}

var placeholderCount atomic.Int64

// placeholder returns the placeholder of the file called name until its build is there.
func (p *mountedSession) placeholder(name string) *placeholder {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.awaited[name]
	if s == nil {
		// The kernel may remember numbers of an earlier daemon.
		key := fmt.Sprintf("awaited %d %d", p.t.started.UnixNano(), placeholderCount.Add(1))
		s = &placeholder{attr: contentAttr(p.x.ID(), name, key)}
		if p.awaited == nil {
			p.awaited = map[string]*placeholder{}
		}
		p.awaited[name] = s
	}
	return s
}

// placeholderOf returns the placeholder that was looked up for the file n of gen, or nil if there
// is none. It binds the one that is awaited to n, but if only is not nil, no other than only. It
// binds none for a generator that reads the pack while it is being made.
func (p *mountedSession) placeholderOf(ctx context.Context, gen *generation, n *builtFile, only *placeholder) *placeholder {
	inside := p.t.builder.IsInside(builder.WithCaller(ctx, callerOf(ctx).Pid), p.x)
	p.mu.Lock()
	defer p.mu.Unlock()
	name := n.name()
	if s := p.awaited[name]; s != nil && (only == nil || only == s) && !inside {
		delete(p.awaited, name)
		s.file.Store(n)
		if gen.placeholders == nil {
			gen.placeholders = map[string]*placeholder{}
		}
		gen.placeholders[name] = s
	}
	return gen.placeholders[name]
}

// present returns the file of the present build, and waits for it.
func (n *awaitedFile) present(ctx context.Context) (f *builtFile, gen *generation, err error) {
	build, err := n.what.build(ctx)
	if err != nil {
		return nil, nil, err // the builder has reported it
	}
	f = &builtFile{rel: n.what.rel, past: n.what.past, at: n.what.at}
	gen, err = n.what.p.fillIn(f, build)
	return f, gen, err
}

// known returns the file that n is bound to, or that of the present build if n is not bound yet.
func (n *awaitedFile) known(ctx context.Context) (*builtFile, error) {
	if f := n.file.Load(); f != nil {
		return f, nil
	}
	f, _, err := n.present(ctx)
	return f, err
}

func (n *awaitedFile) fill(ctx context.Context, open gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	if h, ok := open.(awaitedHandle); ok {
		return h.file.fill(ctx, nil, a)
	}
	file, err := n.known(ctx)
	if page, ok := n.what.p.failureReport(n.what.rel, err); ok {
		n.what.p.own.setFile(a, n.what.p.own.readMode(), int64(len(page)), n.what.p.x.Updated())
		return 0
	}
	if err != nil {
		return errnoOf(err)
	}
	return file.fill(ctx, nil, a)
}

func (n *awaitedFile) refuse(ctx context.Context, op string) syscall.Errno {
	return n.what.refuse(ctx, op)
}

// awaitedHandle is an awaitedFile that is open.
type awaitedHandle struct {
	bytesHandle
	file *builtFile
}

func (n *awaitedFile) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	if f := n.file.Load(); f != nil { // the look-up before has seen that it is of the present build
		if data, build, ok, err := f.data(ctx); ok && err == nil {
			return f.handle(ctx, data, build), 0
		}
	}
	file, gen, err := n.present(ctx)
	if page, ok := n.what.p.failureReport(n.what.rel, err); ok {
		return bytesHandle(page), 0
	}
	if err != nil {
		return nil, errnoOf(err)
	}
	data, _, err := file.p.file(gen, file.rel)
	if err != nil {
		return nil, errnoOf(err)
	}
	file.p.placeholderOf(ctx, gen, file, n.placeholder)
	return file.handle(ctx, data, gen.build), 0
}

// handle returns an open handle of n, whose bytes are data, for who looked up its placeholder. The
// kernel caches none of the bytes, because several builds can be open on one inode.
func (n *builtFile) handle(ctx context.Context, data []byte, build *pack.Build) gofs.FileHandle {
	n.read(ctx, build)
	return awaitedHandle{data, n}
}

func (n *awaitedFile) facts(ctx context.Context) (facts, syscall.Errno) {
	f, err := n.known(ctx)
	if err != nil {
		return nil, errnoOf(err)
	}
	return f.facts(ctx)
}
