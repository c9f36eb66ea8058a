package nodestest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// Sessions of real agents, of every set some: the pack is read now and then while they grow.
func TestNodesOfRealSessions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(harness.TestData(t), "sessions/*/*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	const bySet = 4
	taken := map[string]int{}
	m := harness.Start(t, harness.Options{Args: []string{"--budget", "8000"}})
	swapped, repeated := 0, 0
	for i, file := range files {
		set := filepath.Base(filepath.Dir(file))
		if taken[set]++; taken[set] > bySet {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := m.Session(t, harness.Self(), strings.ReplaceAll(set, "_", "-"), fmt.Sprint("s", i))
		records := bytes.SplitAfter(append(bytes.TrimSuffix(b, []byte("\n")), '\n'), []byte("\n"))
		records = records[:len(records)-1]
		seen := map[string]bool{}
		for n := 0; n < len(records); n += 20 {
			s.Append(ctxabi.MessagesFile, string(bytes.Join(records[n:min(n+20, len(records))], nil)))
			s.Read(ctxabi.PackFile)
			if n%100 == 0 {
				now := ids(harness.Rows[ctxabi.SwapRow](t, s, swapIndex))
				mustKeep(t, file, seen, now)
				seen = now
			}
		}
		list := swapTree(t, s)
		mustKeep(t, file, seen, ids(list))
		swapped += len(list)
		repeated += len(dedupTree(t, s))
	}
	if swapped == 0 || repeated == 0 {
		t.Errorf("%d rows of swap, %d of dedup", swapped, repeated)
	}
	t.Logf("%d rows of swap, %d of dedup", swapped, repeated)
}
