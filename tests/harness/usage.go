package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is what a process holds of the machine, and has used.
type Usage struct {
	Resident, Peak  float64 // memory, in bytes
	Private, Mapped float64 // the parts of Resident: its own pages; pages of files, which the kernel may drop
	Threads, Files  int
	CPU             time.Duration // of the processors, all its threads together
}

// UsageOf returns what a process holds and has used. It fails the test if there is none.
func UsageOf(t testing.TB, pid int) (u Usage) {
	t.Helper()
	dir := fmt.Sprint("/proc/", pid)
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		for key, to := range map[string]*float64{"VmRSS": &u.Resident, "VmHWM": &u.Peak, "RssAnon": &u.Private, "RssFile": &u.Mapped} {
			var kib float64
			if n, _ := fmt.Sscanf(line, key+": %f kB", &kib); n == 1 {
				*to = kib * 1024
			}
		}
		fmt.Sscanf(line, "Threads: %d", &u.Threads)
	}
	if u.Resident == 0 || u.Private == 0 {
		t.Fatalf("process %d has no memory: %+v", pid, u)
	}
	files, _ := os.ReadDir(filepath.Join(dir, "fd"))
	u.Files = len(files)
	if u.CPU, err = CPU(pid); err != nil {
		t.Fatal(err)
	}
	return u
}

// CPU returns the time of the processors that a process has had, that of its running threads included: its clock of
// POSIX, which another process may read. It returns an error if there is no such process.
func CPU(pid int) (time.Duration, error) {
	const scheduler = 2 // CPUCLOCK_SCHED
	var ts unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|scheduler), &ts)
	return time.Duration(ts.Nano()), err
}

// String returns the usage for a log.
func (u Usage) String() string {
	return fmt.Sprintf("%.0f MiB (peak %.0f), %d threads, %d files", u.Resident/(1<<20), u.Peak/(1<<20), u.Threads, u.Files)
}

// Load returns the load of the machine in the last 1, 5 and 15 minutes, as "0.31 0.40 0.35".
func Load() string {
	b, _ := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(b))
	return strings.Join(f[:min(3, len(f))], " ")
}
