package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// Running returns the daemon that serves store; ok is false when there is none. Where it left no
// note, only its Store and PID are known, and where it is in another pid namespace its PID is 0.
func Running(store string) (d Info, ok bool) {
	pid, held := LockHolder(store)
	if !held {
		return d, false
	}
	d, err := readInfo(store)
	if err != nil || d.PID != pid {
		return Info{PID: pid, Store: store}, true
	}
	d.Store = store
	return d, true
}

// BusyError is a store, a mountpoint or a mount that somebody still uses.
type BusyError struct{ Err error }

func (e BusyError) Error() string { return e.Err.Error() }

// Unwrap returns the error that e was made of.
func (e BusyError) Unwrap() error { return e.Err }

// WaitForExit waits until the process pid is gone. It returns a BusyError when the process still
// lives after limit, and [fs.ErrPermission] where it may not be watched.
func WaitForExit(pid int, limit time.Duration) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil // no such process
	}
	defer unix.Close(fd)
	end := time.Now().Add(limit)
	for {
		left := max(time.Until(end), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if n > 0 {
			return nil
		}
		if err == nil || left == 0 {
			return BusyError{fmt.Errorf("the daemon (pid %d) still runs %s after the mount is gone; programs still hold files of it open, or a container that started meanwhile has the mount too", pid, limit)}
		}
	}
}
