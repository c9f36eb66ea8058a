package ui

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// BenchmarkFirstPaint measures the time from the beginning of a navigation until the browser has painted something: of a
// page of the server that has nothing on it, and of a session of 100,000 messages. The goal is at most three times.
func BenchmarkFirstPaint(b *testing.B) {
	m := harness.Start(b, harness.Options{})
	s := big(b, m)
	x := browse(b, serve(b, m))
	for _, page := range []struct{ name, path string }{{"empty", "/none"}, {"session", viewPath("session", s)}} {
		b.Run(page.name, func(b *testing.B) {
			sum := 0.0
			for b.Loop() {
				x.do(navigate(x.s.origin + page.path))
				x.await(`performance.getEntriesByName("first-contentful-paint").length`)
				sum += eval[float64](x, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
			}
			b.ReportMetric(sum/float64(b.N), "ms/paint")
		})
	}
}

// BenchmarkAppend measures the time from an append to a session of 100,000 messages until its page shows it. The goal is
// a second.
func BenchmarkAppend(b *testing.B) {
	m := harness.Start(b, harness.Options{})
	s := big(b, m)
	x := browse(b, serve(b, m))
	x.open(viewPath("session", s))
	n := manyMessages
	for b.Loop() {
		n++
		s.Append("messages.jsonl", harness.Message("user", "Go on."))
		x.await(fmt.Sprintf(`+document.querySelector("[data-ribbon]").getAttribute("aria-valuemax") >= %d`, n))
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", x.s.pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			b.ReportMetric(kib/1024, "MiB-at-most")
		}
	}
}
