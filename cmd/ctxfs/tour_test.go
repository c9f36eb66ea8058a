package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// TestReadmeTour runs the commands of README's console blocks, one after the
// other in one shell of an ordinary user, and compares what they print with
// what README says. CTXFS_UPDATE=1 writes what they print into README instead.
func TestReadmeTour(t *testing.T) {
	harness.NeedRoot(t)
	name := filepath.Join(harness.Root(), "README.md")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(harness.TourCommands(string(b))); n < 10 {
		t.Fatalf("README's tour has %d commands only", n)
	}
	m := harness.Start(t, harness.Options{})
	printed := m.Tour(t, string(b), harness.Client{UID: 1000, Dir: "/", Env: []string{"PATH=" + harness.UserPath(t)}})
	harness.CheckTour(t, name, string(b), printed)
}
