package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// sqlite is the program of peers/sqlite, built once.
var sqlite struct {
	once sync.Once
	dir  string
	err  error
}

func init() { harness.AtEnd(func() { os.RemoveAll(sqlite.dir) }) }

// sqliteProgram returns the program of peers/sqlite. It is a module of its own, whose compilation takes minutes where it is
// not in the build cache: so a run of small size has no SQLite, and gets "".
func sqliteProgram(t *testing.T, z sizes) string {
	t.Helper()
	if !z.sqlite {
		return ""
	}
	sqlite.once.Do(func() {
		if sqlite.dir, sqlite.err = os.MkdirTemp("", "ctxfs-bench-sqlite-"); sqlite.err != nil {
			return
		}
		build := exec.Command("go", "build", "-tags", "sqlite_fts5", "-o", filepath.Join(sqlite.dir, "sqlite"), ".")
		build.Dir = filepath.Join(harness.Root(), "tests", "bench", "peers", "sqlite")
		build.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=", "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			sqlite.err = fmt.Errorf("build peers/sqlite: %w\n%s", err, out)
		}
	})
	if sqlite.err != nil {
		t.Fatal(sqlite.err)
	}
	return filepath.Join(sqlite.dir, "sqlite")
}

// sqliteSites returns the two drivers of SQLite, each with a directory beside the other places.
func sqliteSites(t *testing.T, z sizes, sync string) (all []*site) {
	t.Helper()
	bin := sqliteProgram(t, z)
	if bin == "" {
		return nil
	}
	for name, driver := range map[string]string{mattn: "mattn", modernc: "modernc"} {
		all = append(all, &site{name: name, dir: t.TempDir(), peer: []string{bin, driver, sync}})
	}
	return all
}

// loopBudget is how many tokens a prompt has that is measured against the newest rows of a table.
const loopBudget = 8000

// benchLoop measures the prompt of a session of 1,000 messages after each further one, against the plainest prompt there
// is: the newest rows of a table whose counts of tokens are known, without a compaction or a search.
func benchLoop(t *testing.T, z sizes, tab *table) {
	const first = 1000
	count := z.rounds * z.steps
	serving := daemons(t, harness.Options{})
	defer stop(serving)
	log := map[string]string{}
	for _, p := range serving {
		s := p.mount.Session(t, harness.Self(), "bench", "loop")
		s.Write("context/budget", fmt.Sprint(loopBudget))
		log[p.name] = s.Path(ctxabi.MessagesFile)
		p.run(t, "history", log[p.name], first, "turn")
	}
	counter, err := tokens.For("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	var rows bytes.Buffer
	for i := range first + count {
		record := string(bytes.TrimSpace(turn(i)))
		line, err := json.Marshal(map[string]any{"tokens": counter.Count(record), "text": record})
		if err != nil {
			t.Fatal(err)
		}
		rows.Write(append(line, '\n'))
	}
	records := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(records, rows.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	times := samples{}
	for r := range z.rounds {
		for _, p := range serving {
			for _, s := range takeTurns(t, p, log[p.name], "turn", first+r*z.steps, z.steps) {
				times.add(p.name, s.wall)
			}
		}
		for _, p := range sqliteSites(t, z, "NORMAL") {
			times.add(p.name, p.run(t, "newest", p.log(t, "newest"), records, first, z.steps, loopBudget)...)
		}
	}
	for _, p := range []float64{50, 99} {
		id := fmt.Sprintf("loop-p%g", p)
		tab.reachRatio(id, tab.compare(fmt.Sprintf("prompt of %s tokens after one append to 1,000 messages, p%g; SQLite: the newest rows", thousands(loopBudget), p), "ns", times, p, mattn))
		if len(times[mattn]) > 0 {
			tab.floor(id, 1)
		}
	}
}
