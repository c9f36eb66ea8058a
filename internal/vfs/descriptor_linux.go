package vfs

import (
	"errors"
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

// Rewrite writes p at off even if the file is open with O_APPEND. It returns an error if the write
// fails.
func (f osFile) Rewrite(p []byte, off int64) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		var flags int
		if flags, failed = unix.FcntlInt(fd, unix.F_GETFL, 0); failed != nil {
			return
		}
		if _, failed = unix.FcntlInt(fd, unix.F_SETFL, flags&^unix.O_APPEND); failed != nil {
			return
		}
		for n := 0; len(p) > 0 && failed == nil; p, off = p[n:], off+int64(n) {
			n, failed = unix.Pwrite(int(fd), p, off)
			n = max(n, 0)
		}
		if _, err := unix.FcntlInt(fd, unix.F_SETFL, flags); failed == nil {
			failed = err
		}
	})
	return WithKind(errors.Join(err, failed))
}
