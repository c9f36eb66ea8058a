package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// row is one line of the table.
type row struct {
	what, figure, beside, ratio, goal string
	met                               bool
}

// TestBench measures all of it, in full where CLUSTER_BENCH is "full"; what one file has alone where CLUSTER_ONLY names
// that.
func TestBench(t *testing.T) {
	suite.Matrix(t, "three servers, two mounts, and elections of many seconds")
	b := newRig(t, os.Getenv("CLUSTER_BENCH") == "full")
	before := load()
	only := os.Getenv("CLUSTER_ONLY")
	for _, part := range []struct {
		name    string
		measure func()
	}{
		{"append", func() { b.oneWriter(); b.manyWriters(); b.twoHosts() }},
		{"other", func() { b.otherHost(); b.catchUp(1<<10, 30); b.catchUp(64<<10, 120) }},
		{"large", b.large},
		{"leader", func() {
			b.election("killed", 7*time.Second)
			if b.full {
				b.election("isolated", 13*time.Second)
			}
		}},
	} {
		if only == "" || only == part.name {
			part.measure()
		}
	}
	if len(b.rows) == 0 {
		t.Fatalf("no part is called %q", only)
	}
	var w strings.Builder
	fmt.Fprintf(&w, "load %s before, %s after; %d processors; each figure and the one beside it are of the same seconds\n\n", before, load(), runtime.NumCPU())
	w.WriteString("| what | figure | beside it | ratio | goal | |\n| --- | ---: | ---: | ---: | --- | --- |\n")
	for _, r := range b.rows {
		met := "missed"
		if r.met {
			met = "met"
		}
		fmt.Fprintf(&w, "| %s | %s | %s | %s | %s | %s |\n", r.what, r.figure, r.beside, r.ratio, r.goal, met)
	}
	t.Log(w.String())
}

func (b *rig) add(r row) { b.rows = append(b.rows, r) }

func load() string {
	one, _, _ := strings.Cut(harness.Load(), " ")
	return one
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

// per returns how many a second n in d are.
func per(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }
