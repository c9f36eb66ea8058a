package fs

import (
	"context"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/session"
)

// callerOf says who sent the request. A request made by the kernel itself has
// no caller; it counts as root with pid 0.
func callerOf(ctx context.Context) fuse.Caller {
	if c, ok := fuse.FromContext(ctx); ok {
		return *c
	}
	return fuse.Caller{}
}

// writerOf is the caller as the store remembers him. It is taken when a file
// is opened: a later WRITE carries whoever holds the descriptor by then.
func writerOf(ctx context.Context) session.Writer {
	c := callerOf(ctx)
	return session.Writer{UID: c.Uid, PID: c.Pid}
}
