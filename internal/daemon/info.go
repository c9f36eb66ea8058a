package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/session"
)

// Info is what a daemon leaves in its store for the other verbs: a hint, never the truth.
type Info struct {
	PID         int       `json:"pid"`
	Mountpoint  string    `json:"mountpoint"`
	Store       string    `json:"store"`
	Budget      int       `json:"budget"`
	Encoding    string    `json:"encoding,omitempty"`
	Maps        []string  `json:"map,omitempty"`
	Redact      bool      `json:"redact,omitempty"`
	RedactAllow string    `json:"redact_allow,omitempty"`
	Started     time.Time `json:"started"`
}

func (d Info) file() string { return filepath.Join(d.Store, session.DaemonFile) }

func (d Info) Write() error {
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	temp := d.file() + ".new"
	os.Remove(temp) // whatever it is: a link in its place would lead elsewhere
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(append(b, '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		os.Remove(temp)
		os.Remove(d.file()) // rather nothing than the words of an earlier daemon
		return err
	}
	return os.Rename(temp, d.file())
}

func (d Info) Remove() { os.Remove(d.file()) }

// Running finds the daemon that serves store. ok is false when there is
// none, or when what it left behind is not true any more.
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

func readInfo(store string) (d Info, err error) {
	b, err := os.ReadFile(filepath.Join(store, session.DaemonFile))
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	return d, err
}

// BusyError is a store, a mountpoint or a mount that somebody still uses.
type BusyError struct{ Err error }

func (e BusyError) Error() string { return e.Err.Error() }

// Unwrap returns the error that e was made of.
func (e BusyError) Unwrap() error { return e.Err }

// WaitForExit waits until the process pid is gone. It returns a BusyError when the process still lives after limit, and
// [fs.ErrPermission] where it may not be watched.
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
