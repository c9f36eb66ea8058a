package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// TestReadmeTour runs the commands of the console blocks of README and of the documents that its tour and its figures
// moved to, each document in one shell of an ordinary user, and compares what they print with what the document says.
// CTXFS_UPDATE=1 writes what they print into it instead.
func TestReadmeTour(t *testing.T) {
	harness.NeedRoot(t)
	for _, doc := range []struct {
		name  string
		least int
	}{{"README.md", 9}, {"docs/tour.md", 60}, {"docs/numbers.md", 1}} {
		t.Run(doc.name, func(t *testing.T) {
			name, said := readTour(t, doc.name, doc.least)
			m := harness.Start(t, harness.Options{})
			printed := m.Tour(t, said, harness.Client{UID: 1000, Dir: exampleDir(t),
				Env: []string{"PATH=" + harness.UserPath(t), "CTXFS_MOUNT=" + m.Dir}}) // other tests have mounts too
			harness.CheckTour(t, name, said, printed)
		})
	}
}

// TestInspectTour runs the commands of docs/inspect.md and compares what they print with what it says: by a user who can read
// the store, and by one who sees the mount alone. Both print the same.
func TestInspectTour(t *testing.T) {
	n := suite.Pick(t, 1, 2)
	harness.NeedRoot(t)
	name, said := readTour(t, "docs/inspect.md", 10)
	dir := exampleDir(t)
	uid := harness.KnownUser(t, "nobody")
	for _, c := range []struct {
		sees string
		of   harness.Options
	}{{"mount", harness.Options{}}, {"store", harness.Options{UID: uid, GID: uid}}}[:n] {
		t.Run(c.sees, func(t *testing.T) {
			m := harness.Start(t, c.of)
			printed := m.Tour(t, said, harness.Client{UID: uid, Dir: dir, Env: []string{"PATH=" + harness.UserPath(t)}})
			harness.CheckTour(t, name, said, printed)
			_, said = readTour(t, "docs/inspect.md", 10)
		})
	}
}

// TestFilesTour runs the commands of docs/files.md, and looks whether it has a section for each file of the tree.
func TestFilesTour(t *testing.T) {
	harness.NeedRoot(t)
	name, said := readTour(t, "docs/files.md", 10)
	m := harness.Start(t, harness.Options{})
	printed := m.Tour(t, said, harness.Client{UID: 1000, Dir: exampleDir(t), Env: []string{"PATH=" + harness.UserPath(t)}})
	harness.CheckTour(t, name, said, printed)

	x := m.Session(t, 1001, "coder", "s1")
	r := m.Run(t, harness.Client{UID: 1001, Dir: x.Dir, Argv: []string{"bash", "-c",
		"mkdir context/child/x; ls . context context/child/x " + m.Dir}})
	fixed := map[string]bool{"home": true, "shared": true, "context": true}
	for _, file := range strings.Fields(r.Stdout) {
		if !strings.HasSuffix(file, ":") && !fixed[file] && !strings.Contains(said, "\n### `"+file+"`\n") {
			t.Errorf("docs/files.md has no section for %s", file)
		}
	}
}

// exampleDir is a directory that every user can read, with the example session and transcripts in it.
func exampleDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "ctxfs-tour-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"session", "transcripts"} {
		if err := os.CopyFS(filepath.Join(dir, "examples", name), os.DirFS(filepath.Join(harness.Root(), "examples", name))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readTour reads a document of the repository. It fails the test if the document has fewer than least commands, so that
// a tour which the harness no longer recognizes does not pass.
func readTour(t *testing.T, name string, least int) (file, said string) {
	file = filepath.Join(harness.Root(), name)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(harness.TourCommands(string(b))); n < least {
		t.Fatalf("the tour of %s has %d commands, fewer than %d", name, n, least)
	}
	return file, string(b)
}
