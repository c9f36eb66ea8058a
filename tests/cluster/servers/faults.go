package servers

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Kill ends servers with SIGKILL. They lose the data that they have not passed to the kernel.
func (c *Cluster) Kill(which ...int) {
	for _, i := range which {
		c.nodes[i].end(syscall.SIGKILL)
	}
}

// Shut ends servers as an operator does.
func (c *Cluster) Shut(which ...int) {
	for _, i := range which {
		c.nodes[i].end(syscall.SIGTERM)
	}
}

// Restart starts servers that were ended.
func (c *Cluster) Restart(tb testing.TB, which ...int) {
	tb.Helper()
	for _, i := range which {
		if c.nodes[i].cmd == nil {
			c.nodes[i].start(tb)
		}
	}
}

// Pause stops a server that runs, and Resume makes it go on.
func (c *Cluster) Pause(i int) { c.signal(i, syscall.SIGSTOP) }

// Resume makes a server go on that was paused.
func (c *Cluster) Resume(i int) { c.signal(i, syscall.SIGCONT) }

func (c *Cluster) signal(i int, s syscall.Signal) {
	if cmd := c.nodes[i].cmd; cmd != nil {
		cmd.Process.Signal(s)
	}
}

// between calls f with the links between two servers, in both directions.
func (c *Cluster) between(i, j int, f func(*Proxy)) {
	f(c.routes[i][j])
	f(c.routes[j][i])
}

// Silence makes the links between two servers carry nothing, without breaking them.
func (c *Cluster) Silence(i, j int) { c.between(i, j, func(p *Proxy) { p.set(linkSilent) }) }

// Cut breaks the links between two servers.
func (c *Cluster) Cut(i, j int) { c.between(i, j, func(p *Proxy) { p.set(linkCut) }) }

// Isolate silences all links between a server and the others. Hosts still reach it.
func (c *Cluster) Isolate(i int) {
	for j := range size {
		if j != i {
			c.Silence(i, j)
		}
	}
}

// Slow delays all that goes between servers, each piece of data by d.
func (c *Cluster) Slow(d time.Duration) {
	for i := range size {
		for j := range i {
			c.between(i, j, func(p *Proxy) { p.slow(d) })
		}
	}
}

// CutHost breaks the links of a user to servers, to all if none is named.
func (c *Cluster) CutHost(tb testing.TB, user string, which ...int) {
	tb.Helper()
	c.eachLink(tb, user, which, func(p *Proxy) { p.set(linkCut) })
}

// SilenceHost makes the links of a user to servers carry nothing.
func (c *Cluster) SilenceHost(tb testing.TB, user string, which ...int) {
	tb.Helper()
	c.eachLink(tb, user, which, func(p *Proxy) { p.set(linkSilent) })
}

// HealHost repairs the links of a user.
func (c *Cluster) HealHost(tb testing.TB, user string) {
	tb.Helper()
	c.eachLink(tb, user, nil, func(p *Proxy) { p.set(linkOpen) })
}

func (c *Cluster) eachLink(tb testing.TB, user string, which []int, f func(*Proxy)) {
	tb.Helper()
	if len(which) == 0 {
		which = []int{0, 1, 2}
	}
	for _, i := range which {
		f(c.link(tb, user, i))
	}
}

// Heal repairs all links between servers.
func (c *Cluster) Heal() {
	for i := range size {
		for j := range i {
			c.between(i, j, func(p *Proxy) { p.slow(0); p.set(linkOpen) })
		}
	}
}

// Store returns the directory of a server's entries.
func (c *Cluster) Store(i int) string { return c.nodes[i].dir }

// PID returns the process id of a server, which runs.
func (c *Cluster) PID(i int) int { return c.nodes[i].cmd.Process.Pid }

// Flip changes one bit of the largest file of a server whose name matches a pattern of path.Match, at a
// fraction of its length, and returns its path. It fails the test if there is none. The server should not run.
func (c *Cluster) Flip(tb testing.TB, i int, under, pattern string, at float64) string {
	tb.Helper()
	found, largest := "", int64(0)
	err := filepath.WalkDir(c.nodes[i].dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(c.nodes[i].dir, name)
		if ok, _ := filepath.Match(pattern, d.Name()); !ok || !contains(rel, under) {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Size() > largest {
			found, largest = name, info.Size()
		}
		return nil
	})
	if err != nil || found == "" {
		tb.Fatalf("server %d has no file %s below %s: %v", i, pattern, under, err)
	}
	data, err := os.ReadFile(found)
	if err != nil {
		tb.Fatal(err)
	}
	data[int(at*float64(len(data)))] ^= 1
	if err := os.WriteFile(found, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return found
}

// contains reports whether a path has dir as one of its elements; "" is in all.
func contains(path, dir string) bool {
	for ; path != "." && path != "/"; path = filepath.Dir(path) {
		if dir == "" || filepath.Base(path) == dir {
			return true
		}
	}
	return false
}

// SmallDisk moves the entries of a server that does not run to a disk of some bytes. It skips the test
// without the right to mount.
func (c *Cluster) SmallDisk(tb testing.TB, i int, bytes int64) {
	tb.Helper()
	dir := c.nodes[i].dir
	old := dir + ".before"
	if err := os.Rename(dir, old); err != nil {
		tb.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=700,size="+strconv.FormatInt(bytes, 10))
	if err != nil {
		tb.Skipf("a small disk needs the right to mount: %v", err)
	}
	tb.Cleanup(func() { c.nodes[i].end(syscall.SIGKILL); unix.Unmount(dir, unix.MNT_DETACH) })
	if err := os.CopyFS(dir, os.DirFS(old)); err != nil {
		tb.Fatal(err)
	}
}

// Fill takes all room on a server's disk, which is a SmallDisk.
func (c *Cluster) Fill(tb testing.TB, i int) {
	tb.Helper()
	f, err := os.Create(filepath.Join(c.nodes[i].dir, "filler"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for len(block) > 0 {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}

// Free makes the room that Fill took.
func (c *Cluster) Free(tb testing.TB, i int) {
	tb.Helper()
	if err := os.Remove(filepath.Join(c.nodes[i].dir, "filler")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
}
