package cluster

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// figures prints what servers and hosts hold.
func (c *crowd) figures(t *testing.T, when string) {
	t.Helper()
	for i := range 3 {
		t.Logf("%s: server n%d: %v; disk %s", when, i+1, harness.UsageOf(t, c.servers.PID(i)), usage(c.servers.Store(i)))
	}
	for _, h := range c.hosts {
		is := statusOf(t, h)
		t.Logf("%s: host %s: %v; store %s; it follows %s sessions, and is the home of %s; %s s behind", when, h.Name, harness.UsageOf(t, h.PID()), usage(h.Store),
			is["cluster_followed"], is["cluster_homes"], is["cluster_behind_seconds"])
	}
	t.Logf("%s: load %s", when, harness.Load())
}

// usage returns how much of the disk files below a directory take, and how many there are.
func usage(dir string) string {
	var bytes, files int64
	filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it went meanwhile
		}
		if fi, err := e.Info(); err == nil {
			bytes += fi.Sys().(*syscall.Stat_t).Blocks * 512
			files++
		}
		return nil
	})
	return fmt.Sprintf("%.0f MiB in %d files and directories", float64(bytes)/(1<<20), files)
}

// restFor is how long processes are watched while nobody uses a mount.
const restFor = 20 * time.Second

// rest prints how much of a processor servers and hosts use while nobody uses a mount. It takes its time in a run with
// many sessions only.
func (c *crowd) rest(t *testing.T) {
	t.Helper()
	if len(c.names) < 500 {
		return
	}
	all := map[string]int{}
	for i := range 3 {
		all[fmt.Sprint("server n", i+1)] = c.servers.PID(i)
	}
	for _, h := range c.hosts {
		all["host "+h.Name] = h.PID()
	}
	before := map[string]time.Duration{}
	for name, pid := range all {
		before[name] = harness.UsageOf(t, pid).CPU
	}
	time.Sleep(restFor)
	for name, pid := range all {
		used := harness.UsageOf(t, pid).CPU - before[name]
		t.Logf("at rest: %s uses %.1f %% of a processor", name, 100*used.Seconds()/restFor.Seconds())
	}
}
