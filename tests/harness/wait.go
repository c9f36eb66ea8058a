package harness

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Eventually asks until done says yes. It is for what the kernel or the daemon
// does after a call has returned, such as the release of a handle.
func Eventually(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	deadline := time.Now().Add(Patience)
	for wait := time.Millisecond; !done(); wait = min(2*wait, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(wait)
	}
}

// TempDir is a directory for copies out of a mount: it can be removed whatever their modes are.
func TempDir(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	tb.Cleanup(func() {
		filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if e != nil && e.IsDir() {
				os.Chmod(name, 0o700)
			}
			return nil
		})
	})
	return dir
}
