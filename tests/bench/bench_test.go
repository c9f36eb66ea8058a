package bench

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

var (
	full    = flag.Bool("full", false, "measure at full size (about 20 minutes) instead of a smoke run")
	rounds  = flag.Int("rounds", 0, "rounds of each measurement (0: 5, in a smoke run 1)")
	out     = flag.String("out", "", "write the results as JSON to this file too")
	from    = flag.String("from", "", "measure nothing: print the tables of an earlier run, which -out wrote to this file")
	only    = flag.String("only", "", "measure only these groups, by their names with commas between them")
	against = flag.String("against", "", "build this commit too, and measure it beside this one")
	prof    = flag.String("profile", "", "record a CPU profile of the daemon with perf into this directory, a file a group")
)

func TestMain(m *testing.M) { harness.Main(m) }

// sizes of a run.
type sizes struct {
	rounds       int
	appends      int // appends of 1 KiB a round
	syncs        int // appends with fsync a round
	opens        int // open, append, close a round
	logBytes     int // the log that is read whole
	programs     int // runs of a program on it a round
	writer       int // appends of each of the eight writers
	cats         int // reads of an unchanged pack a round
	steps        int // appends with a read of the pack after each, a round and size
	dense        int // further ones with records that are estimated too low, and with groups of calls that do not fit
	history      []int
	packs        int // of one session, before its memory is looked at
	idle         time.Duration
	idleMessages int
	diskMessages int
	torn         int // reads beside a writer
	sessions     int
	busySessions int  // real sessions that are used in turns
	records      int  // of the log that is searched
	archive      int  // records of the log that is archived
	sqlite       bool // whether SQLite is measured beside
	peerSteps    int  // appends to, and prompts of, the stores of other frameworks
}

var (
	fullSizes = sizes{rounds: 5, appends: 10000, syncs: 500, opens: 2000, logBytes: 7 << 20, programs: 15, writer: 2000, cats: 2000,
		steps: 200, dense: 60, history: []int{100, 1000, 10_000, 100_000, 1_000_000, 10_000_000}, packs: 1000, idle: time.Minute,
		idleMessages: 10_000, diskMessages: 10_000, torn: 1_000_000, sessions: 10_000, busySessions: 24, records: 1_000_000, archive: 100_000, sqlite: true, peerSteps: 100}
	smokeSizes = sizes{rounds: 1, appends: 500, syncs: 30, opens: 100, logBytes: 1 << 20, programs: 3, writer: 50, cats: 50,
		steps: 20, dense: 20, history: []int{100, 1000}, packs: 50, idle: time.Second,
		idleMessages: 500, diskMessages: 500, torn: 2000, sessions: 100, busySessions: 4, records: 10_000, archive: 4000, peerSteps: 5}
)

// group is one part of the bench.
type group struct {
	name string
	run  func(*testing.T, sizes, *table)
	asks bool // runs only where -only names it
}

// groups are the parts in the order in which they run.
var groups = []group{
	{"small", benchSmall, false}, {"torn", benchTorn, false}, {"packs", benchPacks, false}, {"loop", benchLoop, false},
	{"recipe", benchRecipe, false}, {"growth", benchGrowth, false}, {"sessions", benchSessions, false}, {"busy", benchBusy, false}, {"idle", benchIdle, false},
	{"disk", benchDisk, false}, {"many", benchMany, false}, {"chunks", benchChunks, false}, {"search", benchSearch, false},
	{"dedup", benchDedup, false}, {"archive", benchArchive, false}, {"peers", benchPeers, true},
}

// TestBench measures every row of the table. It fails where a measurement
// could not be made, or a reader saw half a record; never because a figure of time or size is bad.
func TestBench(t *testing.T) {
	suite.Matrix(t, "it measures; that the measurements can be made is shown there")
	z := smokeSizes
	if *full {
		z = fullSizes
	}
	if *rounds > 0 {
		z.rounds = *rounds
	}
	tab := &table{Machine: machine(), Full: *full, Whole: *only == "", Rounds: z.rounds, Before: commit(t, *against)}
	if *from != "" {
		data, err := os.ReadFile(*from)
		if err == nil {
			*tab = table{}
			err = json.Unmarshal(data, tab)
		}
		if err == nil {
			err = tab.print()
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	wanted := strings.Split(*only, ",")
	for _, name := range wanted {
		if *only != "" && !slices.ContainsFunc(groups, func(g group) bool { return g.name == name }) {
			t.Fatalf("there is no group %q", name)
		}
	}
	var loads []float64
	for _, g := range groups {
		if *only == "" && !g.asks || slices.Contains(wanted, g.name) {
			loads = append(loads, load())
			tab.Load = median(loads)
			t.Run(g.name, func(t *testing.T) {
				took := elapsed(func() { g.run(t, z, tab) })
				t.Logf("measured in %s", format("ns", took))
			})
			if *out != "" { // after each group: a run that is ended early has the figures of those before
				if err := os.WriteFile(*out, tab.json(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := tab.print(); err != nil {
		t.Error(err)
	}
}

// commit returns the short hash of a commit by any name that git knows, "" for none.
func commit(t *testing.T, name string) string {
	t.Helper()
	if name == "" {
		return ""
	}
	cmd := exec.Command("git", "rev-parse", "--short", name+"^{commit}")
	cmd.Dir = harness.Root()
	hash, err := cmd.Output()
	if err != nil {
		t.Fatalf("-against names no commit: %s: %v", name, err)
	}
	return strings.TrimSpace(string(hash))
}
