package pack

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/pack/record"
)

// turns are what the packs of a session took, in CPU time of the process.
type turns struct {
	plain, asked []time.Duration // asked: the newest record is a request of the user
	first        time.Duration
	sum          []byte // over pack.md, ids and reports of all
}

// of returns the CPU time in milliseconds that a share of times does not exceed.
func of(times []time.Duration, share float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return float64(times[int(share*float64(len(times)-1))].Microseconds()) / 1000
}

// replayed compiles a pack after each of n more records of a log, which grow appends one after another.
func replayed(b *testing.B, log Records, budget, n int, grow func(k int)) (t turns) {
	in := Input{Session: "s1", Agent: "coder", Budget: budget, Messages: log, Head: "sha256-of-all"}
	mm := NewMemo()
	h := sha256.New()
	for k := range n {
		grow(k)
		before := cpuTime()
		build, err := CompileWith(&in, mm)
		took := cpuTime() - before
		if err != nil {
			b.Fatal(err)
		}
		switch {
		case k == 0:
			t.first = took
		case record.IsUser(log.At(log.Len())):
			t.asked = append(t.asked, took)
		default:
			t.plain = append(t.plain, took)
		}
		h.Write(build.Markdown)
		h.Write([]byte(build.ID))
		h.Write(build.Report)
	}
	t.sum = h.Sum(nil)
	return t
}

func (t *turns) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(t.first.Microseconds())/1000, "cpu-ms/first")
	b.ReportMetric(of(t.plain, 0.5), "cpu-ms/p50")
	b.ReportMetric(of(t.plain, 0.99), "cpu-ms/p99")
	b.ReportMetric(of(t.plain, 1), "cpu-ms/max")
	b.ReportMetric(of(t.asked, 0.5), "cpu-ms/asked-p50")
	b.Logf("%s: %d packs, sha256 %x", b.Name(), len(t.plain)+len(t.asked)+1, t.sum[:8])
}

// BenchmarkTurns is the CPU time of the pack after each append: of real sessions, from the directory CTXFS_TESTDATA, of a made one, and of
// an index of up to ten million messages whose records repeat. The sum that it logs stands for the bytes of all packs.
func BenchmarkTurns(b *testing.B) {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("CTXFS_TESTDATA"), "sessions", "*", "large-session.jsonl"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		records := bytes.Split(bytes.TrimRight(data, "\n"), []byte("\n"))
		for _, budget := range []int{4000, 8000, 32000} {
			b.Run(fmt.Sprintf("real/%d", budget), func(b *testing.B) {
				for b.Loop() {
					log := newLog()
					t := replayed(b, log, budget, len(records), func(k int) { log.Append(records[k]) })
					t.report(b)
				}
			})
		}
	}
	for _, budget := range []int{4000, 8000, 32000} {
		b.Run(fmt.Sprintf("made/%d", budget), func(b *testing.B) {
			records := codingLog(10_000).Records()
			for b.Loop() {
				log := logOf()
				for _, r := range records[:18_000] {
					log.Append(r)
				}
				t := replayed(b, log, budget, 2000, func(k int) { log.Append(records[18_000+k]) })
				t.report(b)
			}
		})
	}
	for _, n := range []int{100, 1000, 10_000, 100_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprintf("index/%d", n), func(b *testing.B) {
			for b.Loop() {
				log := &cycle{codingLog(2500), n}
				t := replayed(b, log, 32000, 1500, func(int) { log.n++ })
				t.report(b)
			}
		})
	}
}

// BenchmarkFirstTurn is the first pack of a long history of made records.
func BenchmarkFirstTurn(b *testing.B) {
	for _, n := range []int{20_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			log := &cycle{codingLog(2500), n}
			for b.Loop() {
				t := replayed(b, log, 32000, 1, func(int) {})
				t.report(b)
			}
		})
	}
}
