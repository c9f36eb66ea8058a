package fs

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/session/disk"
)

// callerOf returns who sent the request. A request of the kernel itself has no caller; it counts as
// root with pid 0.
func callerOf(ctx context.Context) fuse.Caller {
	if c, ok := fuse.FromContext(ctx); ok {
		return *c
	}
	return fuse.Caller{}
}

// processOf returns the process of the caller, of which the kernel names a thread; 0 if there is
// none.
func processOf(ctx context.Context) uint32 {
	thread := callerOf(ctx).Pid
	status, _ := handles.Open(func() ([]byte, error) { return os.ReadFile(fmt.Sprintf("/proc/%d/status", thread)) })
	_, line, _ := strings.Cut(string(status), "\nTgid:")
	line, _, _ = strings.Cut(line, "\n")
	if pid, err := strconv.ParseUint(strings.TrimSpace(line), 10, 32); err == nil {
		return uint32(pid)
	}
	return thread
}

// writerOf returns the caller as the store records it. Handlers call it when a file is opened: a
// later WRITE names whoever holds the descriptor by then.
func writerOf(ctx context.Context) disk.Writer {
	c := callerOf(ctx)
	return disk.Writer{UID: c.Uid, PID: c.Pid}
}

// isForeign reports whether the caller may see other file systems than the daemon, as a process of a container does: it has
// another mount namespace or another root, or the daemon may not know. The same path can name another directory then. The
// files themselves are not compared: to look at a path can hang, and the path may lie in this mount.
func isForeign(ctx context.Context) bool {
	thread := callerOf(ctx).Pid
	if thread == 0 { // of a pid namespace that the daemon does not see
		return true
	}
	for _, link := range []string{"ns/mnt", "root"} {
		own, err := os.Readlink("/proc/self/" + link)
		if err != nil {
			return true
		}
		if theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", thread, link)); err != nil || theirs != own {
			return true
		}
	}
	return false
}

// interruptGrace is for how long a request goes on after its process received a signal.
const interruptGrace = 5 * time.Second

// patient returns a context that is cancelled interruptGrace after ctx. The kernel interrupts a
// request for any signal, and programs do not expect EINTR from a regular file: a runtime that
// preempts its threads by signals, a timer or a child that ends must not make a read fail that
// would be done in a moment. A user who presses ^C waits no longer than this.
func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(interruptGrace, cancel)
		context.AfterFunc(late, func() { timer.Stop() })
	})
	return late, func() { stop(); cancel() }
}
