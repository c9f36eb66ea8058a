package ui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// The goals of the pages.
const (
	mostPaint  = 3.0         // times a page of the same server that has nothing on it
	mostAppend = time.Second // until the page shows it
)

// BenchmarkPages measures a session of 100,000 messages in the browser: the time from the beginning of a navigation
// until something is painted, beside a page of the server that has nothing on it, and the time from an append until the
// page shows it. It prints the medians as rows of the table of make bench, with their goals.
func BenchmarkPages(b *testing.B) {
	m := harness.Start(b, harness.Options{})
	s := big(b, m)
	x := browse(b, serve(b, m))
	x.open(viewPath("session", s)) // so that neither page is the first one
	var times [3][]float64
	for i, page := range []string{"/none", viewPath("session", s)} {
		b.Run([]string{"empty", "session"}[i], func(b *testing.B) {
			for b.Loop() {
				x.do(navigate(x.s.Origin + page))
				x.await(`performance.getEntriesByName("first-contentful-paint").length`)
				times[i] = append(times[i], eval[float64](x, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
			}
			b.ReportMetric(middle(times[i]), "ms/paint")
		})
	}
	x.open(viewPath("session", s))
	n := manyMessages
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			n++
			began := time.Now()
			s.Append("messages.jsonl", harness.Message("user", "Go on."))
			x.await(fmt.Sprintf(`+document.querySelector("[data-ribbon]").getAttribute("aria-valuemax") >= %d`, n))
			times[2] = append(times[2], float64(time.Since(began).Milliseconds()))
		}
		b.ReportMetric(harness.UsageOf(b, x.s.PID).Peak/(1<<20), "MiB-at-most")
	})
	if slices.ContainsFunc(times[:], func(t []float64) bool { return t == nil }) {
		return // -bench named one part alone
	}
	empty, session, seen := middle(times[0]), middle(times[1]), middle(times[2])
	fmt.Printf("\n| work, in Chromium | empty page | session of 100,000 messages | ratio | goal | |\n|---|---|---|---|---|---|\n"+
		"| first paint | %.0f ms | %.0f ms | %.2f | ≤ %g × empty page | %s |\n| an append is seen | – | %.0f ms | – | ≤ %v | %s |\n\n",
		empty, session, session/empty, mostPaint, verdict(session <= mostPaint*empty), seen, mostAppend, verdict(seen <= float64(mostAppend.Milliseconds())))
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}

// middle returns the median.
func middle(times []float64) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
