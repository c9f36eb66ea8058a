package servers

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Rack is where disks lie whose power can be cut: an XFS with reflinks.
type Rack struct{ dir string }

// NewRack makes a rack in a directory, which lasts until the test ends. It needs root, mkfs.ext4 and mkfs.xfs.
func NewRack(tb testing.TB, dir string) *Rack {
	tb.Helper()
	harness.NeedRoot(tb)
	r := &Rack{filepath.Join(dir, "power")}
	image(tb, r.dir+".img", 8<<30, "mkfs.xfs", "-q", "-m", "reflink=1")
	loop(tb, r.dir+".img", r.dir)
	return r
}

// Disk is a disk whose power can be cut: an ext4 in an image.
type Disk struct{ image, dir string }

// Disk makes an empty disk, which is mounted at dir until the test ends.
func (r *Rack) Disk(tb testing.TB, name, dir string) *Disk {
	tb.Helper()
	d := &Disk{filepath.Join(r.dir, name+".img"), dir}
	image(tb, d.image, 1<<30, "mkfs.ext4", "-q", "-F")
	loop(tb, d.image, dir)
	return d
}

// CutPower cuts the power of disks at one moment, and brings it back: what was not synced by then is gone, but for
// what the kernel had written on its own. kill kills all who use the disks. CutPower returns how many of the files that
// it wrote a moment before, and did not sync, are gone.
func CutPower(tb testing.TB, kill func(), disks ...*Disk) (gone int) {
	tb.Helper()
	const file = "not-synced"
	for _, d := range disks {
		if err := os.WriteFile(filepath.Join(d.dir, file), []byte("not synced"), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	kill()
	for _, d := range disks {
		run(tb, "cp", "--reflink=always", d.image, d.image+".cut")
	}
	for _, d := range disks {
		harness.Eventually(tb, "the unmounting of "+d.dir, func() bool { return unix.Unmount(d.dir, 0) == nil })
		if err := os.Rename(d.image+".cut", d.image); err != nil {
			tb.Fatal(err)
		}
		run(tb, "mount", "-o", "loop", d.image, d.dir) // replays the journal of the ext4
		if data, err := os.ReadFile(filepath.Join(d.dir, file)); err != nil || len(data) == 0 {
			gone++
		}
		os.Remove(filepath.Join(d.dir, file))
	}
	return gone
}

// Powered puts the entries of all servers, which run, on disks whose power can be cut. It needs what NewRack needs.
func (c *Cluster) Powered(tb testing.TB) {
	tb.Helper()
	r := NewRack(tb, c.Dir)
	for i, n := range c.nodes {
		c.Shut(i)
		old := n.dir + ".before"
		if err := os.Rename(n.dir, old); err != nil {
			tb.Fatal(err)
		}
		n.disk = r.Disk(tb, n.name, n.dir)
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

// CutPower cuts the power of servers at one moment, as [CutPower] does. They do not run then.
func (c *Cluster) CutPower(tb testing.TB, which ...int) (gone int) {
	tb.Helper()
	var disks []*Disk
	for _, i := range which {
		disks = append(disks, c.nodes[i].disk)
	}
	return CutPower(tb, func() { c.Kill(which...) }, disks...)
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
