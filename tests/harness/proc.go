package harness

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Log collects what a daemon prints. It is safe for concurrent use.
type Log struct {
	mu sync.Mutex
	b  []byte // guarded by mu
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, p...)
	return len(p), nil
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.b)
}

// Mounted reports whether something is mounted at dir.
func Mounted(dir string) bool { return mountDevice(dir) != "" }

// mountDevice returns major:minor of what is mounted at dir, "" if nothing is.
func mountDevice(dir string) (device string) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(b), "\n") {
		if f := strings.Fields(line); len(f) > 4 && f[4] == dir {
			device = f[2]
		}
	}
	return device
}

// AbortConnection frees clients that hang in a FUSE request of the mount at dir.
func AbortConnection(dir string) {
	if _, minor, ok := strings.Cut(mountDevice(dir), ":"); ok {
		os.WriteFile(filepath.Join("/sys/fs/fuse/connections", minor, "abort"), []byte("1"), 0o200)
	}
}

// OpenFiles lists what the daemon's descriptors point to.
func (m *Mount) OpenFiles() []string { return openFiles(m.PID()) }

func openFiles(pid int) (targets []string) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, _ := os.ReadDir(dir)
	for _, fd := range fds {
		if t, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil {
			targets = append(targets, t)
		}
	}
	return targets
}

// Processes returns the processes of the machine whose file /proc/PID/name the tester may read, each with
// the content of that file. It leaves out those that end meanwhile.
func Processes(name string) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		dir, err := os.Open("/proc")
		if err != nil {
			return
		}
		defer dir.Close()
		entries, _ := dir.Readdirnames(-1)
		for _, e := range entries { // filepath.Glob reads the directory of each process, which takes ten times as long
			pid, err := strconv.Atoi(e)
			if err != nil {
				continue
			}
			if b, err := os.ReadFile(filepath.Join("/proc", e, name)); err == nil && !yield(pid, b) {
				return
			}
		}
	}
}

// group lists the living processes of a process group.
func group(pgid int) (procs []string) {
	if unix.Kill(-pgid, 0) != nil {
		return nil
	}
	const exiting = 0x4 // PF_EXITING of the kernel
	for pid, b := range Processes("stat") {
		// pid (comm) state ppid pgrp session tty tpgid flags ...; comm may hold anything but ends at the last parenthesis.
		_, rest, _ := strings.Cut(string(b[strings.LastIndexByte(string(b), ')'):]), " ")
		f := strings.Fields(rest)
		if len(f) > 6 && f[2] == fmt.Sprint(pgid) && f[0] != "Z" && f[0] != "X" {
			if flags, _ := strconv.ParseUint(f[6], 10, 64); flags&exiting != 0 {
				continue // it is ending, and lets go of its files next, however long the kernel takes
			}
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // empty while it begins a program
			procs = append(procs, fmt.Sprint(pid, ": ", strings.ReplaceAll(string(cmdline), "\x00", " ")))
		}
	}
	return procs
}
