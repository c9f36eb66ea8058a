package daemon

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ctxfs/ctxfs/internal/mounts"
)

// lookAgain is after how long the table of mounts is read without a sign: some kernels now and then
// wake nobody.
const lookAgain = time.Minute

// WhenUnmounted calls do as soon as source is not mounted at point any more, as this process sees
// it. Others may hold copies of the mount: a generator that runs does, and the daemon would serve
// it until that ends. The function it returns ends the watch and waits for that, and for do. The
// error is that of reading the table of mounts, or that source is not mounted there.
func WhenUnmounted(point, source string, do func()) (stop func(), err error) {
	table, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	conn, err := table.SyscallConn()
	if err == nil {
		err = table.SetReadDeadline(time.Now().Add(lookAgain)) // an error where it cannot be waited for
	}
	if err != nil {
		table.Close()
		return nil, err
	}
	if !IsMounted(point, source) { // under this name; then it cannot be watched
		table.Close()
		return nil, fmt.Errorf("%s is not in the table of mounts", point)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ; ; table.SetReadDeadline(time.Now().Add(lookAgain)) {
			// The table counts as ready anew whenever it changes. To wait for that takes no thread.
			err := conn.Read(func(uintptr) bool { return !IsMounted(point, source) })
			if err == nil {
				do()
				return
			}
			if !errors.Is(err, os.ErrDeadlineExceeded) { // stop has closed it
				return
			}
		}
	}()
	return func() {
		table.Close()
		<-done
	}, nil
}

// IsMounted reports whether source is mounted at point, as far as can be known.
func IsMounted(point, source string) bool {
	all, err := mounts.Table()
	for _, m := range all {
		if m.Point == point && m.Source == source {
			return true
		}
	}
	return err != nil // not known is not gone
}
