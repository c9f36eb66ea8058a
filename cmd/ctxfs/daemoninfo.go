package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/session"
)

// daemonFile is what a daemon notes in its store for the other verbs; a hint, never the truth.
const daemonFile = session.DaemonFile

// daemonInfo is what a daemon leaves in its store for the other verbs.
type daemonInfo struct {
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

func (d daemonInfo) file() string { return filepath.Join(d.Store, daemonFile) }

func (d daemonInfo) write() error {
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

func (d daemonInfo) remove() { os.Remove(d.file()) }

// runningDaemon finds the daemon that serves store. ok is false when there is
// none, or when what it left behind is not true any more.
func runningDaemon(store string) (d daemonInfo, ok bool) {
	pid, held := lockHolder(store)
	if !held {
		return d, false
	}
	d, err := readDaemonInfo(store)
	if err != nil || d.PID != pid {
		return daemonInfo{PID: pid, Store: store}, true
	}
	d.Store = store
	return d, true
}

func readDaemonInfo(store string) (d daemonInfo, err error) {
	b, err := os.ReadFile(filepath.Join(store, daemonFile))
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	return d, err
}

// lockHolder looks up who holds the lock of a store. It takes no lock itself,
// so that it never makes a daemon's start fail. The pid is 0 when the holder
// is in another pid namespace.
func lockHolder(store string) (pid int, held bool) {
	var st unix.Stat_t
	if unix.Stat(filepath.Join(store, session.StoreFile), &st) != nil {
		return 0, false
	}
	if d, err := readDaemonInfo(store); err == nil && d.PID > 0 {
		if yes, _ := holds(d.PID, &st); yes && ownedBy(d.PID, st.Uid) {
			return d.PID, true
		}
	}
	// The kernel gives a piece of the table at a time, and counts from the beginning for the next one: what ends meanwhile has
	// it leave others out. So who is not found in a longer one is looked for until it was the same twice, or for so long.
	before, late := "", time.Now().Add(longestLook)
	for {
		table, err := os.ReadFile("/proc/locks")
		for line := range strings.Lines(string(table)) {
			pid, ino, ok := parseLock(line)
			if !ok || ino != st.Ino {
				continue
			}
			// Of a process that cannot be looked into its user tells: a daemon has the owner of its store.
			if yes, seen := holds(pid, &st); (yes || !seen) && ownedBy(pid, st.Uid) {
				return pid, true
			}
		}
		if err != nil || len(table) < firstRead || string(table) == before || time.Now().After(late) {
			return 0, false
		}
		before = string(table)
	}
}

const (
	longestLook = 200 * time.Millisecond // for a holder in a table of locks that is never the same twice
	firstRead   = 512                    // bytes that os.ReadFile asks for first, of a file that says no size
)

// holds says whether the process pid holds the lock of the file that st describes, and not that of one with the same number
// on another disk, as the first files of all disks have. It is not seen of other users' processes, nor of those in other pid
// namespaces, which have the number 0. One that has gone holds nothing.
func holds(pid int, st *unix.Stat_t) (yes, seen bool) {
	proc := "/proc/" + strconv.Itoa(pid)
	files, err := os.ReadDir(proc + "/fdinfo")
	if err != nil {
		return false, pid != 0 && !errors.Is(err, fs.ErrPermission)
	}
	for _, file := range files {
		info, _ := os.ReadFile(proc + "/fdinfo/" + file.Name())
		for line := range strings.Lines(string(info)) {
			lock, _ := strings.CutPrefix(line, "lock:")
			if _, ino, ok := parseLock(lock); ok && ino == st.Ino {
				var held unix.Stat_t
				if errors.Is(unix.Stat(proc+"/fd/"+file.Name(), &held), fs.ErrPermission) {
					return false, false
				}
				if held.Dev == st.Dev && held.Ino == st.Ino {
					return true, true
				}
			}
		}
	}
	return false, true
}

// ownedBy says whether a process is of that user, as far as can be seen.
func ownedBy(pid int, uid uint32) bool {
	var st unix.Stat_t
	return pid == 0 || unix.Stat("/proc/"+strconv.Itoa(pid), &st) != nil || st.Uid == uid
}

// parseLock reads a line of /proc/locks that stands for a held flock, such as
// "1: FLOCK  ADVISORY  WRITE 633 08:01:393305 0 EOF". The device is left out:
// overlay and btrfs show another one there than stat does.
func parseLock(line string) (pid int, inode uint64, ok bool) {
	w := strings.Fields(line)
	if len(w) < 8 || w[1] != "FLOCK" || w[3] != "WRITE" {
		return 0, 0, false
	}
	place := strings.Split(w[5], ":")
	inode, err := strconv.ParseUint(place[len(place)-1], 10, 64)
	if err != nil {
		return 0, 0, false
	}
	pid, err = strconv.Atoi(w[4])
	return max(pid, 0), inode, err == nil
}

// waitForExit waits until the process pid is gone; an error when it still lives after limit.
func waitForExit(pid int, limit time.Duration) error {
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
			return busy{fmt.Errorf("the daemon (pid %d) still runs %s after the mount is gone; programs still hold files of it open, or a container that started meanwhile has the mount too", pid, limit)}
		}
	}
}
