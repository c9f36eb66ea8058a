package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// TestInspectTour runs the commands of docs/inspect.md and compares what they print with what it says: by a user who can read
// the store, and by one who sees the mount alone. Both print the same.
// CTXFS_UPDATE=1 writes it into the document instead.
func TestInspectTour(t *testing.T) {
	harness.NeedRoot(t)
	name := filepath.Join(harness.Root(), "docs", "inspect.md")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(harness.TourCommands(string(b))); n < 10 {
		t.Fatalf("the tour of %s has %d commands only", name, n)
	}
	dir, err := os.MkdirTemp("", "ctxfs-tour-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.CopyFS(filepath.Join(dir, "examples", "session"), os.DirFS(filepath.Join(harness.Root(), "examples", "session"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sees string
		of   harness.Options
	}{{"store", harness.Options{UID: 1000, GID: 1000}}, {"mount", harness.Options{}}} {
		t.Run(c.sees, func(t *testing.T) {
			m := harness.Start(t, c.of)
			printed := m.Tour(t, string(b), harness.Client{UID: 1000, Dir: dir, Env: []string{"PATH=" + harness.UserPath(t)}})
			harness.CheckTour(t, name, string(b), printed)
			if now, err := os.ReadFile(name); err == nil {
				b = now
			}
		})
	}
}
