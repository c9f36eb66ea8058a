package daemon

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUnmountIsSeenAtOnce(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting needs root")
	}
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		if err := unix.Mount("watched", dir, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	}
	if _, err := WhenUnmounted(a, "another", func() {}); err == nil {
		t.Error("what is not mounted is watched")
	}
	gone := make(chan struct{})
	stop, err := WhenUnmounted(a, "watched", func() { close(gone) })
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Unmount(b, 0); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
		t.Error("another mount's end counts")
	default:
	}
	if err := unix.Unmount(a, 0); err != nil {
		t.Fatal(err)
	}
	<-gone
	stop()
}

func TestWatchOfAMountEnds(t *testing.T) {
	called := false
	stop, err := WhenUnmounted("/proc", "proc", func() { called = true })
	if err != nil {
		t.Skip("there is no /proc by that name: ", err)
	}
	if stop(); called {
		t.Error("/proc counts as unmounted")
	}
}
