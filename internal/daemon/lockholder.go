package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/session"
)

// LockHolder looks up who holds the lock of a store: of [session.LockedDir], or, as older daemons
// do, of [session.StoreFile] alone, which somebody may have replaced since. It takes no lock
// itself, so that it never makes a daemon's start fail. The pid is 0 when the holder is in another
// pid namespace. It may be that of a daemon that was killed and hangs in the kernel: see
// [mounts.Ended].
func LockHolder(store string) (pid int, held bool) {
	noted, err := readInfo(store)
	var file, dir unix.Stat_t
	noFile, noDir := unix.Stat(filepath.Join(store, session.StoreFile), &file), unix.Stat(filepath.Join(store, session.LockedDir), &dir)
	var locked []unix.Stat_t
	if noFile == nil {
		locked = append(locked, file)
	}
	if noDir == nil && (noFile == nil || err == nil) { // any directory may have one of that name
		locked = append(locked, dir)
	}
	if len(locked) == 0 {
		return 0, false
	}
	if noted.PID > 0 {
		if yes, _ := holds(noted.PID, locked); yes && ownedBy(noted.PID, locked) {
			return noted.PID, true
		}
	}
	// The kernel gives a piece of the table at a time, and counts from the beginning for the next one: what ends meanwhile has
	// it leave others out. So who is not found in a longer one is looked for until it was the same twice, or for so long.
	before, late := "", time.Now().Add(longestLook)
	for {
		table, err := os.ReadFile("/proc/locks")
		for line := range strings.Lines(string(table)) {
			pid, ino, ok := parseLock(line)
			if !ok || !slices.ContainsFunc(locked, func(st unix.Stat_t) bool { return st.Ino == ino }) {
				continue
			}
			// Of a process that cannot be looked into its user tells: a daemon has the owner of its store.
			if yes, seen := holds(pid, locked); (yes || !seen) && ownedBy(pid, locked) {
				return pid, true
			}
			if pid == noted.PID && mounts.Ended(pid) { // it shows nothing of what it holds any more
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

// holds reports whether the process pid holds the lock of a file that is described, and not that of
// one with the same number on another disk, as the first files of all disks have. It is not seen of
// other users' processes, nor of those in other pid namespaces, which have the number 0. One that
// has gone holds nothing.
func holds(pid int, locked []unix.Stat_t) (yes, seen bool) {
	proc := "/proc/" + strconv.Itoa(pid)
	files, err := os.ReadDir(proc + "/fdinfo")
	if err != nil {
		return false, pid != 0 && !errors.Is(err, fs.ErrPermission)
	}
	for _, file := range files {
		info, _ := os.ReadFile(proc + "/fdinfo/" + file.Name())
		for line := range strings.Lines(string(info)) {
			lock, _ := strings.CutPrefix(line, "lock:")
			_, ino, ok := parseLock(lock)
			for _, st := range locked {
				if !ok || ino != st.Ino {
					continue
				}
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

// ownedBy reports whether a process is of the owner of what is locked, as far as can be seen. A
// restore by root may have given one of them to root.
func ownedBy(pid int, locked []unix.Stat_t) bool {
	var st unix.Stat_t
	return pid == 0 || unix.Stat("/proc/"+strconv.Itoa(pid), &st) != nil ||
		slices.ContainsFunc(locked, func(of unix.Stat_t) bool { return of.Uid == st.Uid })
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
