package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/ctxfs/ctxfs/fs"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// endLimit is how long a daemon without a mount may need to end, longer than all that it waits for
// takes if nothing hangs: less than for what umount waits.
const endLimit = 30 * time.Second

// endAfter ends the process when it has not ended by itself: what is acknowledged is in the store.
// It is never stopped: what is left to do when serve returns may hang as well.
func endAfter(limit time.Duration, f mountFlags, log *slog.Logger) {
	time.AfterFunc(limit, func() {
		log.Error("the shutdown takes too long; ended without it", "limit", limit)
		if daemon.IsMounted(f.mountpoint, f.store) {
			fs.Abort(f.mountpoint)
		}
		os.Exit(exitBusy)
	})
}

// stopGrace is what a stop may take beyond the time for which open files are served.
const stopGrace = 3 * time.Second

// Why a mount was taken from its daemon from outside, in a way that ends calls of programs.
const (
	wasAborted  = "the connection to the kernel was aborted from outside (umount -f, or abort in /sys/fs/fuse/connections)"
	wasDetached = "the mount was detached from outside while files in it were open (umount -l)"
)

// ending is how a daemon that serves comes to its end.
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

// watchTable watches the table of mounts until the returned function is called.
func (e *ending) watchTable() (stop func()) {
	stop, err := daemon.WhenUnmounted(e.f.mountpoint, e.f.store, e.whenUnmounted)
	if err != nil {
		e.log.Warn("after an unmount the daemon ends when its generators have ended", "err", err)
		return func() {}
	}
	return stop
}

// detachGrace is how long the kernel may need to end the connection of an unused mount after it has left the table of
// mounts.
const detachGrace = time.Second

// whenUnmounted is called when the mount has left the table of mounts. If programs still have files of it open, it was
// detached by force, unless another mount namespace has a copy of the mount: a plain unmount leaves that.
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

// signalGrace is how long a signal may be on its way.
const signalGrace = 200 * time.Millisecond

// isAborted reports whether the connection of the mount has ended although the mount is there, and no signal asked for
// that: umount --force sends one before it aborts.
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

// wait returns when the mount is gone. The first signal asks for a clean
// shutdown, the second one ends the process at once: what was acknowledged is
// on disk by then anyway. A shutdown that takes much longer than was asked for,
// on a disk that hangs for instance, ends like that by itself. A mount that was
// taken away by force is an error; ended is the reason.
func (e *ending) wait() (ended string, err error) {
	select {
	case <-e.server.Done():
		if e.isAborted() {
			e.log.Error(wasAborted+"; until the next mount each call there fails", "mountpoint", e.f.mountpoint)
			endAfter(endLimit, e.f, e.log)
			return wasAborted, silent{exitFailed}
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
			return ended, silent{exitFailed}
		case errors.Is(err, fs.ErrStillOpen):
			err = daemon.BusyError{Err: err}
		}
		return "", err
	case sig := <-e.stop:
		return ended, fmt.Errorf("forced to end by a second %s", sig)
	}
}
