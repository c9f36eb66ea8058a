package cluster

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is what /proc has of a process.
type process struct {
	resident, peak float64 // MiB
	threads, files int
	cpu            time.Duration // that it has used
}

// look reads /proc. It fails the test if the process is not there.
func look(t *testing.T, pid int) (p process) {
	t.Helper()
	dir := fmt.Sprint("/proc/", pid)
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "VmRSS: %f", &p.resident)
		fmt.Sscanf(line, "VmHWM: %f", &p.peak)
		fmt.Sscanf(line, "Threads: %d", &p.threads)
	}
	p.resident, p.peak = p.resident/1024, p.peak/1024
	files, _ := os.ReadDir(filepath.Join(dir, "fd"))
	p.files = len(files)
	stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var user, system int64
	fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
	p.cpu = time.Duration(user+system) * 10 * time.Millisecond // of 1/100 s, on all that Linux runs on
	return p
}

func (p process) String() string {
	return fmt.Sprintf("%.0f MiB (peak %.0f), %d threads, %d files", p.resident, p.peak, p.threads, p.files)
}

// figures prints what servers and hosts hold.
func (c *crowd) figures(t *testing.T, when string) {
	t.Helper()
	for i := range 3 {
		t.Logf("%s: server n%d: %v; disk %s", when, i+1, look(t, c.servers.PID(i)), usage(c.servers.Store(i)))
	}
	for _, h := range c.hosts {
		is := statusOf(t, h)
		t.Logf("%s: host %s: %v; store %s; it follows %s sessions, and is the home of %s; %s s behind", when, h.Name, look(t, h.PID()), usage(h.Store),
			is["cluster_followed"], is["cluster_homes"], is["cluster_behind_seconds"])
	}
	t.Logf("%s: load %s", when, loadavg())
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

// loadavg returns the load of the machine.
func loadavg() string {
	b, _ := os.ReadFile("/proc/loadavg")
	return strings.Join(strings.Fields(string(b))[:3], " ")
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
	before := map[string]process{}
	for name, pid := range all {
		before[name] = look(t, pid)
	}
	time.Sleep(restFor)
	for name, pid := range all {
		used := look(t, pid).cpu - before[name].cpu
		t.Logf("at rest: %s uses %.1f %% of a processor", name, 100*used.Seconds()/restFor.Seconds())
	}
}
