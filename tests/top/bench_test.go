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
		quiet := harness.UsageOf(b, m.PID()).CPU
		const idle = 20 * time.Second
		time.Sleep(idle) // the measure itself
		quiet = harness.UsageOf(b, m.PID()).CPU - quiet

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
		top, daemon := harness.UsageOf(b, pid).CPU, harness.UsageOf(b, m.PID()).CPU
		time.Sleep(idle)
		b.ReportMetric(float64((harness.UsageOf(b, pid).CPU-top).Microseconds())/idle.Seconds(), "µs-cpu/s-top")
		b.ReportMetric(float64((harness.UsageOf(b, m.PID()).CPU-daemon-quiet).Microseconds())/idle.Seconds(), "µs-cpu/s-daemon")
		b.ReportMetric(harness.UsageOf(b, pid).Resident/(1<<20), "MiB")
		x.quit("q")
	}
}
