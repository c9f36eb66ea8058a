package vfs

import (
	"sync"

	"golang.org/x/sys/unix"
)

// NamelessFunc returns a function that reports whether f has no name any more, as [Nameless] does. The
// function is safe for concurrent use and allocates nothing, so that it can be called after each write.
func NamelessFunc(f File) func() bool {
	o, ok := f.(osFile)
	if !ok {
		return func() bool { return Nameless(f) }
	}
	conn, err := o.SyscallConn()
	if err != nil {
		return func() bool { return Nameless(f) }
	}
	var mu sync.Mutex
	var st unix.Stat_t
	var failed error
	look := func(fd uintptr) { failed = unix.Fstat(int(fd), &st) }
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		return conn.Control(look) == nil && failed == nil && st.Nlink == 0
	}
}

// StartSync makes the disk begin to write what was written to f, and waits for nothing: a Sync that
// follows soon is shorter. It is a hint. What the disk could not write, Sync returns the error of.
func StartSync(f File) {
	o, ok := f.(osFile)
	if !ok {
		return
	}
	if conn, err := o.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { unix.SyncFileRange(int(fd), 0, 0, unix.SYNC_FILE_RANGE_WRITE) })
	}
}
