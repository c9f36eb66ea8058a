package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/ctxfs/ctxfs/fs"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// endLimit is the time after which a daemon without a mount is ended by force. It exceeds every
// regular wait during a shutdown and is shorter than the timeout of umount.
const endLimit = 30 * time.Second

// endAfter exits the process after limit. Acknowledged data is in the store by then. The timer has
// no stop, because the rest of the shutdown may hang after serve returns.
func endAfter(limit time.Duration, f mountFlags, log *slog.Logger) {
	time.AfterFunc(limit, func() {
		log.Error("the shutdown takes too long; ended without it", "limit", limit)
		if daemon.IsMounted(f.mountpoint, f.store) {
			fs.Abort(f.mountpoint)
		}
		os.Exit(cli.ExitBusy)
	})
}

// stopGrace is the time that a shutdown may need in addition to the deadline for open files.
const stopGrace = 3 * time.Second

// Reasons why a mount ended from outside and running calls of programs failed.
const (
	wasAborted  = "the connection to the kernel was aborted from outside (umount -f, or abort in /sys/fs/fuse/connections)"
	wasDetached = "the mount was detached from outside while files in it were open (umount -l)"
)

// ending shuts a serving daemon down.
type ending struct {
	server     *fs.Server
	mount      mounts.Info // of it
	stop       <-chan os.Signal
	stopping   chan struct{} // closed when a signal was received
	detached   chan struct{} // closed when the mount was detached from outside
	endClients func()        // ends what the daemon has in the mount itself
	f          mountFlags
	log        *slog.Logger
}

func newEnding(server *fs.Server, stop <-chan os.Signal, endClients func(), f mountFlags, log *slog.Logger) *ending {
	e := &ending{
		server: server, stop: stop, endClients: endClients, f: f, log: log,
		stopping: make(chan struct{}), detached: make(chan struct{}),
	}
	e.mount, _, _ = mounts.At(f.mountpoint)
	return e
}

// watchTable watches the mount table until the caller calls stop.
func (e *ending) watchTable() (stop func()) {
	stop, err := daemon.WhenUnmounted(e.f.mountpoint, e.f.store, e.whenUnmounted)
	if err != nil {
		e.log.Warn("after an unmount the daemon ends when its generators have ended", "err", err)
		return func() {}
	}
	return stop
}

// detachGrace is the time in which the kernel closes the connection of an unused mount after the
// mount left the mount table.
const detachGrace = time.Second

// whenUnmounted runs when the mount leaves the mount table. If programs still have files of the
// mount open, it reports a forced detach, except if another mount namespace has a copy of the
// mount: a plain unmount does not affect copies.
func (e *ending) whenUnmounted() {
	e.endClients()
	select {
	case <-e.server.Done():
		return
	case <-e.stopping:
		return
	case <-time.After(detachGrace):
	}
	if e.server.OpenFiles() > 0 && len(holders(e.mount.Device)) == 0 {
		close(e.detached)
	}
}

// signalGrace is the time to wait for a signal that umount --force sends before it aborts.
const signalGrace = 200 * time.Millisecond

// isAborted reports whether the kernel connection ended while the mount still exists and no signal
// arrived. umount --force sends a signal before it aborts the connection.
func (e *ending) isAborted() bool {
	i, rest, ok := mounts.At(e.f.mountpoint)
	if !ok || rest != "" || i.Device != e.mount.Device {
		return false
	}
	select {
	case <-e.stop:
		return false
	case <-time.After(signalGrace):
		return true
	}
}

// wait returns when the mount is gone. The first signal starts a clean shutdown, the second one
// ends the process immediately; acknowledged data is on disk by then. If a shutdown exceeds its
// deadline, for instance because a disk hangs, the process ends by itself. wait returns an error if
// the mount ended by force, with the reason in ended.
func (e *ending) wait() (ended string, err error) {
	select {
	case <-e.server.Done():
		if e.isAborted() {
			e.log.Error(wasAborted+"; until the next mount each call there fails", "mountpoint", e.f.mountpoint)
			endAfter(endLimit, e.f, e.log)
			return wasAborted, cli.Silent{Code: cli.ExitFailed}
		}
		e.log.Info("unmounted")
		tellSystemd(e.log, systemd.SdNotifyStopping, "unmounted")
		endAfter(endLimit, e.f, e.log)
		return "", nil
	case <-e.detached:
		e.log.Error(wasDetached+"; serving them until they are closed",
			"mountpoint", e.f.mountpoint, "files", e.server.OpenFiles(), "limit", e.f.deadline)
		ended = wasDetached
	case sig := <-e.stop:
		close(e.stopping)
		e.log.Info("shutting down", "signal", sig.String())
	}
	tellSystemd(e.log, systemd.SdNotifyStopping,
		"serving open files until they are closed, "+e.f.deadline.String()+" at most")
	endAfter(e.f.deadline+stopGrace, e.f, e.log)
	result := make(chan error, 1)
	go func() {
		e.endClients() // generators have files open in the mount, and copies of it
		result <- e.server.Shutdown(e.f.deadline)
	}()
	select {
	case err := <-result:
		if err != nil {
			e.log.Warn("stopped", "error", err)
		} else {
			e.log.Info("stopped")
		}
		switch {
		case ended != "":
			return ended, cli.Silent{Code: cli.ExitFailed}
		case errors.Is(err, fs.ErrStillOpen):
			err = daemon.BusyError{Err: err}
		}
		return "", err
	case sig := <-e.stop:
		return ended, fmt.Errorf("forced to end by a second %s", sig)
	}
}
