package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Powered puts the entries of all servers, which run, on disks whose power can be cut: each is an ext4 in an
// image, the images lie on an XFS with reflinks. It needs root, mkfs.ext4 and mkfs.xfs.
func (c *Cluster) Powered(tb testing.TB) {
	tb.Helper()
	harness.NeedRoot(tb)
	outer := filepath.Join(c.Dir, "power")
	image(tb, outer+".img", 8<<30, "mkfs.xfs", "-q", "-m", "reflink=1")
	loop(tb, outer+".img", outer)
	for i, n := range c.nodes {
		c.Shut(i)
		disk := c.disk(i)
		image(tb, disk, 1<<30, "mkfs.ext4", "-q", "-F")
		old := n.dir + ".before"
		if err := os.Rename(n.dir, old); err != nil {
			tb.Fatal(err)
		}
		loop(tb, disk, n.dir)
		if err := os.CopyFS(n.dir, os.DirFS(old)); err != nil {
			tb.Fatal(err)
		}
		run(tb, "sync", "-f", n.dir)
	}
	tb.Cleanup(func() { // before the disks are taken away
		for _, n := range c.nodes {
			n.end(syscall.SIGKILL)
		}
	})
	c.Restart(tb, 0, 1, 2)
}

// disk returns the image of a server's disk.
func (c *Cluster) disk(i int) string {
	return filepath.Join(c.Dir, "power", fmt.Sprintf("disk%d.img", i))
}

// CutPower cuts the power of servers at one moment: what they had not synced by then is gone, but for what the
// kernel had written on its own. They do not run then. It returns how many of the files that it wrote a moment
// before, and did not sync, are gone.
func (c *Cluster) CutPower(tb testing.TB, which ...int) (gone int) {
	tb.Helper()
	for _, i := range which {
		if err := os.WriteFile(filepath.Join(c.nodes[i].dir, "not-synced"), []byte("not synced"), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	c.Kill(which...)
	for _, i := range which {
		run(tb, "cp", "--reflink=always", c.disk(i), c.disk(i)+".cut")
	}
	for _, i := range which {
		dir := c.nodes[i].dir
		harness.Eventually(tb, "the unmounting of "+dir, func() bool { return unix.Unmount(dir, 0) == nil })
		if err := os.Rename(c.disk(i)+".cut", c.disk(i)); err != nil {
			tb.Fatal(err)
		}
		run(tb, "mount", "-o", "loop", c.disk(i), dir) // replays the journal of the ext4
		if data, err := os.ReadFile(filepath.Join(dir, "not-synced")); err != nil || len(data) == 0 {
			gone++
		}
		os.Remove(filepath.Join(dir, "not-synced"))
	}
	return gone
}

// image makes a sparse file of some bytes with a file system in it.
func image(tb testing.TB, name string, size int64, mkfs ...string) {
	tb.Helper()
	f, err := os.Create(name)
	if err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	run(tb, append(mkfs, name)...)
}

// loop mounts an image until the test ends.
func loop(tb testing.TB, image, dir string) {
	tb.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	run(tb, "mount", "-o", "loop", image, dir)
	tb.Cleanup(func() {
		harness.Eventually(tb, "the unmounting of "+dir, func() bool { return unix.Unmount(dir, 0) == nil })
	})
}

func run(tb testing.TB, argv ...string) {
	tb.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		tb.Fatalf("%q: %v\n%s", argv, err, out)
	}
}
