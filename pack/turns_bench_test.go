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

	"github.com/ctxfs/ctxfs/ctxabi"
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
func replayed(b *testing.B, log record.Records, budget, n int, mm *Memo, grow func(k int)) (t turns) {
	in := Input{Session: "s1", Agent: "coder", Budget: budget, Messages: log, Head: "sha256-of-all"}
	h := sha256.New()
	for k := range n {
		grow(k)
		before := cpuTime()
		build, err := CompileWith(&in, mm)
		if err == nil {
			err = in.SaveFolds(mm)
		}
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

// unasked is a long log in which the user asks something at the beginning only: a question of a long history that nobody has indexed
// measures that.
type unasked struct{ cycle }

func (u *unasked) At(line int) ctxabi.Entry {
	e := u.cycle.At(line)
	if e.Role == ctxabi.User && line > u.of.Len() {
		e.Role = ctxabi.Assistant
	}
	return e
}

// packsOf is after how many records of a history of n a pack is made.
func packsOf(n int) int {
	if n > 1_000_000 {
		return 300
	}
	return 1500
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
					t := replayed(b, log, budget, len(records), NewMemo(), func(k int) { log.Append(records[k]) })
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
				t := replayed(b, log, budget, 2000, NewMemo(), func(k int) { log.Append(records[18_000+k]) })
				t.report(b)
			}
		})
	}
	for _, n := range []int{100, 1000, 10_000, 100_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprintf("index/%d", n), func(b *testing.B) {
			for b.Loop() {
				log := &unasked{cycle{codingLog(2500), n}}
				t := replayed(b, log, 32000, packsOf(n), NewMemo(), func(int) { log.n++ })
				t.report(b)
			}
		})
	}
}

// BenchmarkStart is the CPU time of the first pack after a start, and of those that follow, where an earlier process kept what it can.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{20_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				log, folds, states := &unasked{cycle{codingLog(2500), n}}, &keptInMemory{}, &keptInMemory{}
				started := func() *Memo {
					mm := NewMemo()
					mm.Store(folds, states, RendererVersion)
					return mm
				}
				one := func(int) { log.n++ }
				replayed(b, log, 32000, 120, started(), one)
				t := replayed(b, log, 32000, 200, started(), one)
				t.report(b)
				anew := replayed(b, log, 32000, 1, NewMemo(), func(int) {})
				b.ReportMetric(float64(anew.first.Microseconds())/1000, "cpu-ms/anew")
			}
		})
	}
}
