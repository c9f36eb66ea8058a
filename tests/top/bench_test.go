package top

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// BenchmarkTenThousandSessions measures ctxfs top on ten thousand sessions: the time from its start until the screen has
// rows, its memory then, and the CPU time that it and the daemon take in a second in which nothing changes, beside that
// of the daemon when nobody looks.
func BenchmarkTenThousandSessions(b *testing.B) {
	m := harness.Start(b, harness.Options{})
	many(b, m)
	for b.Loop() {
		quiet := cpu(b, m.PID())
		const idle = 20 * time.Second
		time.Sleep(idle) // the measure itself
		quiet = cpu(b, m.PID()) - quiet

		x := open(b, 120, 30)
		began := time.Now()
		x.top(m, `^› s09999 .*I am number 9999`)
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/first-rows")
		pid := 0
		shell := strings.TrimSpace(x.do("display-message", "-p", "-t", "top", "#{pane_pid}"))
		children, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%s/children", shell, shell))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := fmt.Sscan(string(children), &pid); err != nil {
			b.Fatal(err)
		}
		top, daemon := cpu(b, pid), cpu(b, m.PID())
		time.Sleep(idle)
		b.ReportMetric(float64((cpu(b, pid)-top).Microseconds())/idle.Seconds(), "µs-cpu/s-top")
		b.ReportMetric(float64((cpu(b, m.PID())-daemon-quiet).Microseconds())/idle.Seconds(), "µs-cpu/s-daemon")
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			var kib float64
			if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kib); err == nil {
				b.ReportMetric(kib/1024, "MiB")
			}
		}
		x.quit("q")
	}
}

// cpu returns how long a process has run.
func cpu(b *testing.B, pid int) (sum time.Duration) {
	b.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range tasks {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, t.Name()))
		if err != nil {
			continue // it has ended
		}
		var ns int64
		if _, err := fmt.Sscan(string(text), &ns); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(ns)
	}
	return sum
}
