package fs

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/fs/mountpoint"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/gc/world"
	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// maxWrite is the most bytes of one read or write request.
const maxWrite = 1 << 20

// Options are the parameters of [Mount].
type Options struct {
	Store      *session.Store
	Builder    *builder.Builder
	Collector  *world.Collector // of the store; nil: one that does what it is asked for and nothing by itself
	Search     *search.Engine   // nil: one that counts by weight
	Mountpoint string           // absolute
	ReadOnly   bool             // nothing can be changed through the mount
	NoExec     bool             // no program in it can be run
	Logger     *slog.Logger
	Debug      bool          // log every FUSE request
	Memory     *memory.Limit // nil: none
	Returns    bool          // keep the mountpoint protected on exit, because the supervisor restarts the daemon
}

// ErrStillOpen is the error of [Server.Shutdown] if files are open after its deadline.
var ErrStillOpen = errors.New("files are still open")

// Server is a mount that answers the kernel.
type Server struct {
	t          *tree
	fuse       *fuse.Server
	mountpoint string
	returns    bool
	strays     string        // where Mount moved the stray files of the mountpoint; "" if there were none
	done       chan struct{} // closed when the connection to the kernel is gone

	shutdown sync.Mutex
}

// Mount mounts o.Store at o.Mountpoint and returns a server that answers already; it repairs a
// mountpoint whose daemon has died first. It returns an error that names the remedy if the
// mountpoint cannot be used or the kernel refuses, and ctx.Err() if ctx ended meanwhile.
func Mount(ctx context.Context, o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	bare, err := mountpoint.Prepare(o.Store.Dir(), o.Mountpoint)
	if err != nil {
		return nil, err
	}
	defer bare.Close()
	t, err := newTree(o)
	if err != nil {
		return nil, err
	}
	opts := &gofs.Options{
		MountOptions: fuse.MountOptions{
			AllowOther:   t.asRoot,
			Options:      mountOptions(o),
			MaxWrite:     maxWrite,
			MaxReadAhead: maxWrite,
			// Reads are answered from memory; for those go-fuse takes a pipe,
			// fills in a header and gives up again, on every request.
			DisableSplice:        true,
			IgnoreSecurityLabels: true,
			FsName:               o.Store.Dir(),
			Name:                 "ctxfs",
			DirectMountStrict:    t.asRoot,
			DisableReadDirPlus:   true,
			// O_TRUNC comes with the open then, and differs from truncate(2).
			ExtraCapabilities: fuse.CAP_ATOMIC_O_TRUNC,
			Debug:             o.Debug,
			Logger:            slog.NewLogLogger(o.Logger.With("from", "fuse").Handler(), slog.LevelInfo),
		},
		NullPermissions: true,
		ExternalNodeID:  true,
		RootStableAttr:  &gofs.StableAttr{Ino: fuse.FUSE_ROOT_ID, Gen: 1},
	}
	t.raw = &rawFS{RawFileSystem: gofs.NewNodeFS(&rootDir{t: t}, opts), t: t, work: memory.NewIdle()}
	t.gc.Mounted(&t.raw.files)
	var server *fuse.Server
	var stderr string
	start := func() { server, err = fuse.NewServer(t.raw, o.Mountpoint, &opts.MountOptions) }
	if t.asRoot {
		start()
	} else {
		stderr = mountpoint.CaptureStderr(start)
	}
	if err != nil {
		t.search.Close()
		unix.Close(t.rootFd)
		return nil, mountpoint.Explain(o.Mountpoint, err, stderr)
	}
	s := &Server{t: t, fuse: server, mountpoint: o.Mountpoint, returns: o.Returns, done: make(chan struct{})}
	s.protect(bare)
	go t.raw.work.Run(s.done)
	go func() {
		server.Serve()
		t.search.Close()
		unix.Close(t.rootFd)
		if o.Collector == nil {
			t.gc.Close()
		}
		s.lift()
		close(s.done)
	}()
	// The mount answers from here on: NewServer has answered the kernel's INIT, and what comes next is
	// in the queue. go-fuse's WaitMount must not be called. It opens a file of the mount in this
	// process, so that a SIGKILL at that moment leaves a process that waits for itself, and polls it,
	// so that the kernel never asks for a poll again. Only a process whose own runtime polls files of
	// its own mount needs that; others' first poll gets the same answer, ENOSYS.
	if err := ctx.Err(); err != nil {
		s.Shutdown(0)
		return nil, err
	}
	return s, nil
}

// mountOptions returns the options of mount(8), as the kernel and fusermount3 both take them.
func mountOptions(o Options) []string {
	opts := []string{"default_permissions"}
	if o.ReadOnly {
		opts = append(opts, "ro")
	}
	if o.NoExec {
		opts = append(opts, "noexec")
	}
	return opts
}

func newTree(o Options) (*tree, error) {
	fd, err := unix.Open(o.Store.Dir(), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("the store %s cannot be opened: %w", o.Store.Dir(), err)
	}
	x, err := beneath.Stat(fd)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("the store %s cannot be read: %w", o.Store.Dir(), err)
	}
	var conn [8]byte
	rand.Read(conn[:]) // never fails
	t := &tree{
		store: o.Store, builder: o.Builder, search: o.Search, log: o.Logger,
		rootFd: fd, rootDev: unix.Mkdev(x.Dev_major, x.Dev_minor),
		asRoot: os.Geteuid() == 0, uid: uint32(os.Geteuid()), gid: uint32(os.Getegid()),
		conn: binary.LittleEndian.Uint64(conn[:]) | 1, started: time.Now(),
		written: map[*log.Log]struct{}{}, gc: o.Collector, memory: o.Memory, shelf: shelf{limit: o.Memory},
	}
	o.Memory.Cache(&t.shelf)
	if t.gc == nil {
		t.gc = world.New(o.Store, o.Builder, gc.Options{Grace: gc.DefaultGrace, Logger: o.Logger})
	}
	if t.search == nil {
		t.search = search.New(o.Store, search.Config{Logger: o.Logger})
	}
	t.syncRound.Store(1)
	return t, nil
}

// protect moves stray files out of the directory below the mount and protects the directory, so
// that programs cannot write there after the daemon exits.
func (s *Server) protect(bare *mountpoint.Bare) {
	var err error
	if s.t.store.Disk().ReadOnly {
		return
	}
	if s.strays, err = bare.Collect(); s.strays != "" {
		s.t.log.Warn("records were written at the mountpoint while nothing was mounted there; ctxfs doctor says how to import them",
			"moved_to", s.strays)
	}
	if err != nil {
		s.t.log.Error("what was written at the mountpoint while nothing was mounted there is hidden by the mount", "err", err)
	}
	if err := bare.Protect(); err != nil {
		s.t.log.Warn("programs can write into the directory below the mount while nothing is mounted there", "err", err)
	}
}

// lift ends the protection of the mountpoint unless it is still mounted or will be mounted again.
func (s *Server) lift() {
	if s.returns {
		return
	}
	if _, err := mountpoint.Lift(s.t.store.Dir(), s.mountpoint); err != nil {
		s.t.log.Warn("the directory below the mount is not what it was before", "err", err)
	}
}

// Strays returns the store directory to which Mount moved files that programs had written to the
// mountpoint while it was not mounted. It returns "" if there were none.
func (s *Server) Strays() string { return s.strays }

// Wait blocks until the mount is unmounted, by this process or another one.
func (s *Server) Wait() { <-s.done }

// Done returns a channel that is closed when Wait returns.
func (s *Server) Done() <-chan struct{} { return s.done }

// OpenFiles returns the number of open files and directories.
func (s *Server) OpenFiles() int64 { return s.t.raw.open.Load() }

// Shutdown syncs all logs and unmounts. If files are open it detaches the mount and serves them
// until the last one is closed or deadline has passed; then it returns [ErrStillOpen]. It returns
// the errors of the syncs and of the unmount, too. Further calls wait for the first one.
func (s *Server) Shutdown(deadline time.Duration) error {
	s.shutdown.Lock()
	defer s.shutdown.Unlock()
	select {
	case <-s.done:
		return s.t.syncAll()
	default:
	}
	err := s.t.syncAll()
	if uerr := mountpoint.Unmount(s.mountpoint); uerr != nil {
		// EINVAL: somebody else unmounted it meanwhile, and it ends as soon as its files are closed.
		if derr := mountpoint.Detach(s.mountpoint); derr != nil && !errors.Is(derr, syscall.EINVAL) {
			select {
			case <-s.done:
			default:
				return errors.Join(err, fmt.Errorf("%s cannot be unmounted: %w", s.mountpoint, derr))
			}
		}
	}
	timer := time.NewTimer(deadline)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		select {
		case <-s.done:
		default:
			s.lift()
			err = errors.Join(err, fmt.Errorf("%s is detached, but %w in it (%d) after %s", s.mountpoint, ErrStillOpen, s.t.raw.open.Load(), deadline))
		}
	}
	return errors.Join(err, s.t.syncAll()) // what came while it was detached
}

// syncAll syncs every log that has new records since the last call. It returns the errors of all.
func (t *tree) syncAll() error {
	t.mu.Lock()
	logs := t.written
	t.written = map[*log.Log]struct{}{}
	t.syncRound.Add(1)
	t.mu.Unlock()
	var errs []error
	for l := range logs {
		if err := l.Sync(context.Background()); err != nil && !errors.Is(err, ctxabi.ErrNotFound) { // removed with its session meanwhile
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Unmount unmounts the ctxfs at dir from another process. It returns an error that wraps
// EBUSY while the mount is in use, EINVAL if nothing is mounted there, and fs.ErrNotExist if there
// is no such directory.
func Unmount(dir string) error {
	err := mountpoint.Unmount(dir)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EBUSY):
		return fmt.Errorf("%s is in use: close the files and leave the directories in it (fuser -vm %s lists who), then try again: %w", dir, dir, err)
	case errors.Is(err, syscall.EINVAL):
		return fmt.Errorf("nothing is mounted at %s: %w", dir, err)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s does not exist: %w", dir, err)
	}
	return fmt.Errorf("%s cannot be unmounted: %w", dir, err)
}

// Clear detaches the ctxfs at dir, and others below it in the same place, if their daemons
// have died, even if they are in use: nobody can save anything in them. It returns an error if one
// cannot be detached.
func Clear(dir string) error { return mountpoint.Repair(dir) }

// Abort takes the ctxfs at dir away although it is in use, whether its daemon answers or
// not. It ends the connection, so that calls which wait for the daemon fail at once, and a daemon
// that was killed and waits for its own mount ends. A user can do that where
// /sys/fs/fuse/connections is mounted; elsewhere the calls wait until the daemon has ended. It
// returns an error if the mount cannot be detached.
func Abort(dir string) error {
	if i, rest, ok := mounts.At(dir); ok && rest == "" {
		if _, minor, ok := strings.Cut(i.Device, ":"); ok {
			if f, err := os.OpenFile("/sys/fs/fuse/connections/"+minor+"/abort", os.O_WRONLY, 0); err == nil {
				f.WriteString("1")
				f.Close()
			}
		}
	}
	detach := mountpoint.Detach
	if os.Geteuid() == 0 {
		detach = func(dir string) error { return unix.Unmount(dir, unix.MNT_FORCE|unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) }
	}
	if err := detach(dir); err != nil {
		return fmt.Errorf("%s cannot be detached: %w", dir, err)
	}
	return nil
}

// Dead reports whether the mount at dir has lost its daemon; see [mountpoint.Dead].
func Dead(dir string) bool { return mountpoint.Dead(dir) }

// Answers waits until the daemon of the mount at dir answers a request. The request needs no disk,
// so a disk that hangs does not delay the answer. Answers returns an error if the daemon is gone.
func Answers(dir string) error {
	_, err := unix.Getxattr(dir, "user.ctxfs.answers", nil) // the kernel does not cache this
	if err == syscall.ENOTCONN || err == syscall.ECONNABORTED {
		return fmt.Errorf("the ctxfs at %s does not answer: %w", dir, err)
	}
	return nil
}
