package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// cpuClock returns the time of the processors that a process has had, in nanoseconds.
func cpuClock(pid int) float64 {
	cpu, err := harness.CPU(pid)
	must(err)
	return float64(cpu)
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
