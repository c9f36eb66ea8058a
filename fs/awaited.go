package fs

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/build"
)

// awaitedFile stands for a built file whose generators have to be waited for. The kernel lets nobody else look up a name
// that is being looked up for the first time, so that a generator that reads its own pack would wait
// for the look-up that waits for it. So the look-up does not wait: opening the file does, and stat.
// A handle keeps the build that it was opened on.
type awaitedFile struct {
	gofs.Inode
	noXattrs
	what *builtFile // what the look-up asked for; no build is known of it
	*standIn
}

// standIn is the identity of an awaited file. Whoever looks the name up until the build is there gets the same one, and
// from then on it is that of the build's file: between a stat and an open nothing seems to have taken the file's place,
// and builds that are open at once are different inodes.
type standIn struct {
	attr gofs.StableAttr
	file atomic.Pointer[builtFile] // nil: nobody has opened it, or looked it up again since the build is there
}

var standIns atomic.Int64

// standIn gives what stands for the file called name until its build is there.
func (p *place) standIn(name string) *standIn {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.awaited[name]
	if s == nil {
		// The kernel may remember numbers of an earlier daemon.
		key := fmt.Sprintf("awaited %d %d", p.t.started.UnixNano(), standIns.Add(1))
		s = &standIn{attr: contentAttr(p.x.ID(), name, key)}
		if p.awaited == nil {
			p.awaited = map[string]*standIn{}
		}
		p.awaited[name] = s
	}
	return s
}

// standsFor gives what stands for the file n of gen; nil: nothing, since it was not awaited. What is awaited still stands for
// it from now on, but if only is not nil, no other. A generator that looks at the pack before is no end of the waiting.
func (p *place) standsFor(ctx context.Context, gen *generation, n *builtFile, only *standIn) *standIn {
	inside := p.t.builder.IsInside(build.WithCaller(ctx, callerOf(ctx).Pid), p.x)
	p.mu.Lock()
	defer p.mu.Unlock()
	name := n.name()
	if s := p.awaited[name]; s != nil && (only == nil || only == s) && !inside {
		delete(p.awaited, name)
		s.file.Store(n)
		if gen.stands == nil {
			gen.stands = map[string]*standIn{}
		}
		gen.stands[name] = s
	}
	return gen.stands[name]
}

// present gives the file of the present build.
func (n *awaitedFile) present(ctx context.Context) (f *builtFile, gen *generation, err error) {
	build, err := n.what.build(ctx)
	if err != nil {
		return nil, nil, err // the builder has reported it
	}
	f = &builtFile{rel: n.what.rel, past: n.what.past, at: n.what.at}
	gen, err = n.what.p.fillIn(f, build)
	return f, gen, err
}

// known gives the file that n stands for, or that of the present build while n stands for none.
func (n *awaitedFile) known(ctx context.Context) (*builtFile, error) {
	if f := n.file.Load(); f != nil {
		return f, nil
	}
	f, _, err := n.present(ctx)
	return f, err
}

var _ = (gofs.NodeGetattrer)((*awaitedFile)(nil))

func (n *awaitedFile) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if h, open := f.(awaitedHandle); open {
		h.file.fill(&out.Attr)
		return 0
	}
	file, err := n.known(ctx)
	if page, ok := n.what.p.failureReport(n.what.rel, err); ok {
		n.what.p.own.setFile(&out.Attr, n.what.p.own.readMode(), int64(len(page)), n.what.p.x.Updated())
		return 0
	}
	if err != nil {
		return errnoOf(err)
	}
	file.fill(&out.Attr)
	return 0
}

var _ = (gofs.NodeSetattrer)((*awaitedFile)(nil))

func (n *awaitedFile) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.what.p.deny(ctx, "change", n.what.name(), ctxabi.ErrReadOnly, "ctxfs makes it from the session; rm drops the build")
}

// awaitedHandle is an awaitedFile that is open.
type awaitedHandle struct {
	bytesHandle
	file *builtFile
}

var _ = (gofs.NodeOpener)((*awaitedFile)(nil))

func (n *awaitedFile) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&(syscall.O_ACCMODE|syscall.O_TRUNC) != syscall.O_RDONLY {
		return nil, 0, n.what.p.deny(ctx, "open", n.what.name(), ctxabi.ErrReadOnly, "ctxfs makes it from the session; it cannot be written")
	}
	if f := n.file.Load(); f != nil { // the look-up before has seen that it is of the present build
		if data, build, ok, err := f.data(ctx); ok && err == nil {
			return f.handle(ctx, data, build)
		}
	}
	file, gen, err := n.present(ctx)
	if page, ok := n.what.p.failureReport(n.what.rel, err); ok {
		return bytesHandle(page), fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0
	}
	if err != nil {
		return nil, 0, errnoOf(err)
	}
	data, _, err := file.p.file(gen, file.rel)
	if err != nil {
		return nil, 0, errnoOf(err)
	}
	file.p.standsFor(ctx, gen, file, n.standIn)
	return file.handle(ctx, data, gen.build)
}

// handle opens n, of which data are the bytes, for who found what stands for it. The kernel keeps none of them, since several builds can be open.
func (n *builtFile) handle(ctx context.Context, data []byte, build *pack.Build) (gofs.FileHandle, uint32, syscall.Errno) {
	n.read(ctx, build)
	return awaitedHandle{data, n}, fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0
}

var _ = (gofs.NodeGetxattrer)((*awaitedFile)(nil))

func (n *awaitedFile) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	f, err := n.known(ctx)
	if err != nil {
		return 0, errnoOf(err)
	}
	return f.facts().Get(name, dest)
}

var _ = (gofs.NodeListxattrer)((*awaitedFile)(nil))

func (n *awaitedFile) Listxattr(ctx context.Context, dest []byte) (uint32, syscall.Errno) {
	f, err := n.known(ctx)
	if err != nil {
		return 0, errnoOf(err)
	}
	return f.facts().List(dest)
}
