package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// home/ and home/<uid> said that the disk has no blocks, and of no size: df showed a full one, and installers refused to write.
func TestStatfsIsThatOfTheStoreInTheWholeTree(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	s.Write("context/pinned/a.md", "a pin\n")
	s.Write("../../note.txt", "a file\n")
	s.Bash("mkdir -p context/child/one ../../dir && printf x > context/dedup/blob/sha256-$(printf x | sha256sum | cut -d' ' -f1) && cat context/pack.md > /dev/null").OK()
	if harness.Self() == 0 {
		m.CLI(t, "space", "new", "crew", "--group", "21500", "--store", m.Store).OK()
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(m.Store, &disk); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	check := func(path string) {
		var got unix.Statfs_t
		if err := unix.Statfs(path, &got); err != nil {
			t.Errorf("%s: %v", path, err)
		} else if got.Blocks != disk.Blocks || got.Bsize != disk.Bsize || got.Files != disk.Files || got.Namelen != disk.Namelen {
			t.Errorf("%s: %d blocks of %d bytes, %d files, names of %d; the store has %d of %d, %d, %d",
				path, got.Blocks, got.Bsize, got.Files, got.Namelen, disk.Blocks, disk.Bsize, disk.Files, disk.Namelen)
		}
		seen[path] = true
	}
	err := filepath.WalkDir(m.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil {
			check(path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{"context/line/1", "context/line/1.txt", "context/at/1", "context/at/1/pack.md", "context/search/pin"} { // not listed
		check(s.Path(name))
	}
	for _, path := range []string{m.Dir, filepath.Join(m.Dir, "home"), filepath.Join(m.Dir, "home", fmt.Sprint(s.UID)), s.Dir, s.Path("context/child/one"), filepath.Join(m.Dir, "shared")} {
		if !seen[path] {
			t.Errorf("%s was not looked at", path)
		}
	}
}
