package bench

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

var (
	full   = flag.Bool("full", false, "measure at full size (about 15 minutes) instead of a smoke run")
	rounds = flag.Int("rounds", 0, "rounds of each measurement (0: 5, in a smoke run 1)")
	out    = flag.String("out", "", "write the results as JSON to this file too")
	only   = flag.String("only", "", "measure only this group: small, packs, recipe, big, many, chunks, dedup, search, archive")
	prof   = flag.String("profile", "", "record a CPU profile of the daemon with perf into this directory, a file a group")
)

func TestMain(m *testing.M) { harness.Main(m) }

// sizes of a run.
type sizes struct {
	rounds   int
	appends  int // appends of 1 KiB a round
	syncs    int // appends with fsync a round
	opens    int // open, append, close a round
	logBytes int // the log that is read whole
	writer   int // appends of each of the eight writers
	cats     int // reads of an unchanged pack a round
	steps    int // appends with a read of the pack after each, a round and size
	history  []int
	sessions int
	records  int // of the log that is searched
	archive  int // records of the log that is archived
}

var (
	fullSizes = sizes{rounds: 5, appends: 10000, syncs: 500, opens: 2000, logBytes: 7 << 20, writer: 2000, cats: 2000,
		steps: 200, history: []int{100, 1000, 10_000, 100_000, 1_000_000}, sessions: 10_000, records: 1_000_000, archive: 100_000}
	smokeSizes = sizes{rounds: 1, appends: 1000, syncs: 50, opens: 200, logBytes: 7 << 20, writer: 100, cats: 100,
		steps: 40, history: []int{100, 1000, 100_000}, sessions: 300, records: 20_000, archive: 8000}
)

// TestBench measures every row of the table. It fails where a measurement
// could not be made, never because a figure is bad.
func TestBench(t *testing.T) {
	suite.Matrix(t, "it measures; that the measurements can be made is shown there")
	z := smokeSizes
	if *full {
		z = fullSizes
	}
	if *rounds > 0 {
		z.rounds = *rounds
	}
	tab := &table{Machine: machine(), Full: *full, Rounds: z.rounds}
	groups := []struct {
		name string
		run  func(*testing.T, sizes, *table)
	}{
		{"small", benchSmall}, {"packs", benchPacks}, {"recipe", benchRecipe}, {"big", benchBig}, {"many", benchMany}, {"chunks", benchChunks}, {"search", benchSearch}, {"dedup", benchDedup}, {"archive", benchArchive},
	}
	for _, g := range groups {
		if *only == "" || *only == g.name {
			t.Run(g.name, func(t *testing.T) { g.run(t, z, tab) })
		}
	}
	fmt.Println(tab.markdown())
	if *out != "" {
		if err := os.WriteFile(*out, tab.json(), 0o644); err != nil {
			t.Error(err)
		}
	}
}
