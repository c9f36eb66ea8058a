package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// cpuClock returns the time of the processors that a process has had, in nanoseconds, those of its running threads
// included: its clock of POSIX, which another process may read.
func cpuClock(pid int) float64 {
	const scheduler = 2 // CPUCLOCK_SCHED
	var ts unix.Timespec
	must(unix.ClockGettime(int32(^pid<<3|scheduler), &ts))
	return float64(ts.Nano())
}

// memory is what a process holds, in bytes.
type memory struct {
	resident, peak  float64
	private, mapped float64 // the parts of resident: its own pages; pages of files, which the kernel may drop
}

// memoryOf reads what a process holds from /proc.
func memoryOf(t *testing.T, pid int) (m memory) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range splitLines(string(b)) {
		for key, to := range map[string]*float64{"VmRSS": &m.resident, "VmHWM": &m.peak, "RssAnon": &m.private, "RssFile": &m.mapped} {
			var kb float64
			if n, _ := fmt.Sscanf(line, key+": %f kB", &kb); n == 1 {
				*to = kb * 1024
			}
		}
	}
	if m.resident == 0 || m.private == 0 {
		t.Fatalf("process %d has no memory: %+v", pid, m)
	}
	return m
}

// rss returns a process's resident memory and its peak, in bytes.
func rss(t *testing.T, pid int) (resident, peak float64) {
	t.Helper()
	m := memoryOf(t, pid)
	return m.resident, m.peak
}

// wakeUps returns how often the threads of a process have given up a processor to wait.
func wakeUps(t *testing.T, pid int) (n float64) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("process %d has no threads: %v", pid, err)
	}
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // a thread that has ended meanwhile
		}
		for _, line := range splitLines(string(b)) {
			var v float64
			if k, _ := fmt.Sscanf(line, "voluntary_ctxt_switches: %f", &v); k == 1 {
				n += v
			}
		}
	}
	return n
}
