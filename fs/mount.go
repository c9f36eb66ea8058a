package fs

import (
	"context"
	"log/slog"
	"time"

	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/session"
)

// Options say how a store is mounted.
type Options struct {
	Store      *session.Store
	Builder    *pack.Builder
	Mountpoint string // absolute
	Logger     *slog.Logger
	Debug      bool // log every FUSE request
}

// Server is a mount that answers.
type Server struct{}

// Mount mounts and returns once the mount answers. A stale mountpoint (ENOTCONN) is
// repaired first. Errors are sentences for a person that say the remedy.
func Mount(ctx context.Context, o Options) (*Server, error) { panic("not built") }

// Wait returns when the mount is gone, whoever unmounted it.
func (s *Server) Wait() { panic("not built") }

// Shutdown syncs all logs and unmounts; while handles are open it detaches the mount and
// serves them until the last one closes or the deadline passes.
func (s *Server) Shutdown(deadline time.Duration) error { panic("not built") }

// Unmount unmounts the ctxfs at mountpoint from outside.
func Unmount(mountpoint string) error { panic("not built") }
