package builder

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// TestReplay appends real sessions message by message and reads the pack at
// several budgets after each. Every pack must keep its budget by an exact
// count and every pack of an epoch must begin with the prefix of the one
// before. With -v it prints the table of docs/numbers.md.
func TestReplay(t *testing.T) {
	packtest.Pure(t)
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	sessions, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	each, largest := suite.Pick(t, 1, len(sessions)), suite.Pick[int64](t, 100<<10, 1<<40) // sessions of a set, and bytes of one
	if len(sessions) == 0 {
		t.Skip("no real sessions here; set CTXFS_TESTDATA")
	}
	budgets := []int{2000, 4000, 8000, 16000, 32000}
	sums := map[string]map[int]*replaySum{}
	var sets []string
	of := map[string][]string{}
	for _, file := range sessions {
		if st, err := os.Stat(file); err != nil || st.Size() > largest {
			continue
		}
		set := filepath.Base(filepath.Dir(file))
		if sums[set] == nil {
			sets = append(sets, set)
			sums[set] = map[int]*replaySum{}
			for _, budget := range budgets {
				sums[set][budget] = &replaySum{}
			}
		}
		if len(of[set]) < each {
			of[set] = append(of[set], file)
		}
	}
	t.Run("sets", func(t *testing.T) {
		for _, set := range sets {
			t.Run(set, func(t *testing.T) {
				t.Parallel()
				for _, file := range of[set] {
					replay(t, file, budgets, sums[set])
				}
			})
		}
	})

	var table strings.Builder
	fmt.Fprintf(&table, "\n| sessions | budget | packs | over budget | compactions | tokens a pack | prefix kept | cost a token | build p50 | p99 |\n")
	fmt.Fprintf(&table, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, set := range sets {
		for _, budget := range budgets {
			s := sums[set][budget]
			slices.Sort(s.times)
			prefix, cost := "–", "–"
			if s.tokens > 0 {
				share := float64(s.shared) / float64(s.tokens)
				prefix, cost = fmt.Sprintf("%.3f", share), fmt.Sprintf("%.2f", 0.1*share+1.25*(1-share))
			}
			fmt.Fprintf(&table, "| %s | %d | %d | %d | %d | %d | %s | %s | %.1f ms | %.1f ms |\n", set, budget, s.packs, s.over, s.compactions,
				s.all/max(1, s.packs), prefix, cost, s.at(0.5), s.at(0.99))
			if s.over > 0 {
				t.Errorf("%s at %d: %d packs over the budget", set, budget, s.over)
			}
		}
	}
	t.Log(table.String())
}

// replaySum sums up the replay of a set of sessions at one budget. Shares are
// of the packs whose history exceeds the budget.
type replaySum struct {
	packs, over, compactions, all int
	tokens, shared                int
	times                         []time.Duration
}

func (s *replaySum) at(q float64) float64 {
	return float64(s.times[int(q*float64(len(s.times)-1))].Microseconds()) / 1000
}

func replay(t *testing.T, file string, budgets []int, sums map[int]*replaySum) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, Config{})
	d.write("context/pinned/rules.md", "Never delete the ledger.\n")
	builders := map[int]*Builder{}
	before := map[int]*pack.Build{}
	for _, budget := range budgets {
		d.builder(Config{Budget: budget})
		builders[budget] = d.b
	}
	history := 0
	for line := range bytes.Lines(data) {
		record := bytes.TrimRight(line, "\n")
		d.append(record)
		history += counter.CountCached(string(record))
		for _, budget := range budgets {
			s := sums[budget]
			d.b = builders[budget]
			start := time.Now()
			b := d.pack()
			s.times = append(s.times, time.Since(start))
			n := counter.Count(string(b.Markdown))
			s.packs++
			s.all += n
			if n != b.Tokens {
				t.Fatalf("%s: %d tokens stated, %d counted", file, b.Tokens, n)
			}
			if n > budget {
				s.over++
			}
			if !bytes.Contains(b.Markdown, []byte("Never delete the ledger.\n")) {
				t.Fatalf("%s: no pin", file)
			}
			if last := before[budget]; last != nil {
				shared := commonStart(string(last.Markdown), string(b.Markdown))
				if last.Epoch == b.Epoch && shared < last.Prefix {
					t.Fatalf("%s at %d: the prefix broke within epoch %s", file, budget, b.Epoch)
				}
				if history > budget {
					s.tokens += n
					s.shared += counter.Count(string(b.Markdown[:shared]))
				}
			}
			before[budget] = b
		}
	}
	for _, budget := range budgets {
		sums[budget].compactions += accountOf(t, before[budget]).Compactions
	}
	if err := d.store.Close(); err != nil {
		t.Fatal(err)
	}
}
