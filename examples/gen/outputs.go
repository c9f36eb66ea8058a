package main

import (
	"fmt"
	"strings"
	"time"
)

// Outputs of commands that are long in real life, too.

// accessLog is a stretch of the production log around one outage of the identity provider.
func (s *scene) accessLog(lines int) string {
	carriers := []string{"dhl", "dpd", "postnord"}
	paths := []string{"POST /v1/parcels", "GET /v1/parcels/%s", "GET /v1/parcels/%s/label", "GET /v1/rates", "DELETE /v1/parcels/%s"}
	t := time.Date(2026, 3, 9, 14, 2, 11, 0, time.UTC)
	failing := t.Add(70 * time.Second)
	var b strings.Builder
	for i := range lines {
		t = t.Add(time.Duration(100+s.rng.IntN(800)) * time.Millisecond)
		stamp := t.Format("2006-01-02T15:04:05.000Z")
		since := t.Sub(failing)
		req := fmt.Sprintf("%08x", s.rng.Uint32())
		carrier := carriers[s.rng.IntN(len(carriers))]
		path := paths[s.rng.IntN(len(paths))]
		if strings.Contains(path, "%s") {
			path = fmt.Sprintf(path, fmt.Sprintf("pcl_%06d", 481200+s.rng.IntN(900)))
		}
		switch {
		case i > 0 && since >= 0 && since < 900*time.Millisecond:
			fmt.Fprintf(&b, "%s WARN no token path=%s error=\"auth: identity provider answered 503: upstream connect error\" req=%s\n", stamp, strings.Fields(path)[1], req)
		case since >= 0 && since < 61*time.Second:
			fmt.Fprintf(&b, "%s INFO request %s carrier=%s status=401 ms=0 req=%s\n", stamp, path, carrier, req)
		default:
			status := []int{200, 200, 200, 201, 204, 404}[s.rng.IntN(6)]
			fmt.Fprintf(&b, "%s INFO request %s carrier=%s status=%d ms=%d req=%s\n", stamp, path, carrier, status, 18+s.rng.IntN(240), req)
		}
	}
	return b.String()
}

// flakes is go test -count=n of one test that fails now and then.
func (s *scene) flakes(test, log string, n, every int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "=== RUN   %s\n", test)
		if i%every == 0 {
			fmt.Fprintf(&b, "%s--- FAIL: %s (0.%02ds)\n", log, test, 1+s.rng.IntN(40))
		} else {
			fmt.Fprintf(&b, "--- PASS: %s (0.0%ds)\n", test, s.rng.IntN(4))
		}
	}
	b.WriteString("FAIL\nFAIL\texample.com/parcel-gateway/auth\t3.871s\nFAIL\n")
	return b.String()
}

// soak is the minute-by-minute report of a load test.
func (s *scene) soak(minutes, outage, length int) string {
	var b strings.Builder
	b.WriteString("minute  requests  2xx     401   502   p50_ms  p99_ms  refreshes  retries  coalesced\n")
	for m := range minutes {
		requests := 5800 + s.rng.IntN(420)
		refreshes, retries, coalesced, p99 := 0, 0, 0, 190+s.rng.IntN(60)
		if m%5 == 4 {
			refreshes, coalesced = 1, 20+s.rng.IntN(30)
		}
		if m >= outage && m < outage+length {
			refreshes, retries, coalesced, p99 = 1, 1+s.rng.IntN(3), 300+s.rng.IntN(200), 1900+s.rng.IntN(900)
		}
		fmt.Fprintf(&b, "%6d  %8d  %-6d  %-4d  %-4d  %6d  %6d  %9d  %7d  %9d\n",
			m, requests, requests-s.rng.IntN(4), 0, s.rng.IntN(3), 38+s.rng.IntN(9), p99, refreshes, retries, coalesced)
	}
	return b.String()
}

const raceReport = `==================
WARNING: DATA RACE
Read at 0x00c0001a8128 by goroutine 41:
  example.com/parcel-gateway/auth.(*Source).join()
      /src/parcel-gateway/auth/refresh.go:74 +0x9c
  example.com/parcel-gateway/auth.(*Source).Token()
      /src/parcel-gateway/auth/refresh.go:61 +0x1f0
  example.com/parcel-gateway/auth.TestConcurrentCallersShareOneRefresh.func1()
      /src/parcel-gateway/auth/refresh_test.go:118 +0x84

Previous write at 0x00c0001a8128 by goroutine 38:
  example.com/parcel-gateway/auth.(*Source).lead()
      /src/parcel-gateway/auth/refresh.go:92 +0x1a4
  example.com/parcel-gateway/auth.(*Source).Token()
      /src/parcel-gateway/auth/refresh.go:59 +0x1c8
  example.com/parcel-gateway/auth.TestConcurrentCallersShareOneRefresh.func1()
      /src/parcel-gateway/auth/refresh_test.go:118 +0x84

Goroutine 41 (running) created at:
  example.com/parcel-gateway/auth.TestConcurrentCallersShareOneRefresh()
      /src/parcel-gateway/auth/refresh_test.go:116 +0x2a8
  testing.tRunner()
      /usr/local/go/src/testing/testing.go:1934 +0x21c

Goroutine 38 (finished) created at:
  example.com/parcel-gateway/auth.TestConcurrentCallersShareOneRefresh()
      /src/parcel-gateway/auth/refresh_test.go:116 +0x2a8
  testing.tRunner()
      /usr/local/go/src/testing/testing.go:1934 +0x21c
==================
--- FAIL: TestConcurrentCallersShareOneRefresh (0.03s)
    testing.go:1617: race detected during execution of test
FAIL
FAIL	example.com/parcel-gateway/auth	0.412s
FAIL
`
