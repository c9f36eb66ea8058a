package daemon

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/mounts"
)

// lookAgain is after how long the table of mounts is read without a sign, in milliseconds.
const lookAgain = 1000

// WhenUnmounted calls do as soon as source is not mounted at point any more, as this process sees
// it. Others may hold copies of the mount: a generator that runs does, and the daemon would serve
// it until that ends. The function it returns ends the watch and waits for that, and for do. The
// error is that of reading the table of mounts, or that source is not mounted there.
func WhenUnmounted(point, source string, do func()) (stop func(), err error) {
	table, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	quit, end, err := os.Pipe()
	if err != nil {
		table.Close()
		return nil, err
	}
	if !IsMounted(point, source) { // under this name; then it cannot be watched
		table.Close()
		quit.Close()
		end.Close()
		return nil, fmt.Errorf("%s is not in the table of mounts", point)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer table.Close()
		defer quit.Close()
		// The table is "ready" with POLLPRI when it changed since it was opened or last polled: proc(5).
		fds := []unix.PollFd{{Fd: int32(table.Fd()), Events: unix.POLLPRI}, {Fd: int32(quit.Fd()), Events: unix.POLLIN}}
		for IsMounted(point, source) {
			unix.Poll(fds, lookAgain) // seen on Linux 6.18: now and then nobody is woken
			if fds[1].Revents != 0 {
				return
			}
		}
		do()
	}()
	return func() {
		end.Close()
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
