package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// benchPeers measures ctxfs beside the stores of agent frameworks, all driven by one program of Node: an append to a
// conversation of 1,000 messages, and the prompt of at most 8,000 tokens after it. It runs where -only names it.
func benchPeers(t *testing.T, z sizes, tab *table) {
	const first = 1000
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("peers/node")); err != nil {
		t.Fatal(err)
	}
	// Not npm ci: it demands each optional package of each platform, which not every registry has.
	install := exec.Command("npm", "install", "--no-save", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "bench", "peers")
	s.Write("context/budget", fmt.Sprint(loopBudget))
	p := &site{name: ctxfs, dir: m.Dir, mount: m}
	p.run(t, "history", s.Path(ctxabi.MessagesFile), first, "turn")
	s.Read(ctxabi.PackFile)
	counter, err := tokens.For("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for i := range first + z.peerSteps {
		raw := strings.TrimSpace(string(turn(i)))
		text := fmt.Sprintf("%d: %s", i, raw) // no two are the same
		row, err := json.Marshal(map[string]any{"raw": raw, "text": text, "tokens": counter.Count(text)})
		if err != nil {
			t.Fatal(err)
		}
		rows.Write(append(row, '\n'))
	}
	records := filepath.Join(dir, "records")
	if err := os.WriteFile(records, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	stores := filepath.Join(dir, "stores")
	if err := os.Mkdir(stores, 0o700); err != nil {
		t.Fatal(err)
	}
	node := exec.Command("node", "peers.mjs", stores, records, s.Path(ctxabi.MessagesFile), s.Path(ctxabi.PackFile), fmt.Sprint(first), fmt.Sprint(z.peerSteps), fmt.Sprint(loopBudget))
	node.Dir = dir
	node.Stderr = os.Stderr
	out, err := node.Output()
	if err != nil {
		t.Fatalf("peers.mjs: %v", err)
	}
	var took map[string]map[string][]float64
	if err := json.Unmarshal(out, &took); err != nil {
		t.Fatalf("peers.mjs printed %q: %v", out, err)
	}
	for _, work := range []string{"append", "prompt"} {
		mine := took[ctxfs][work]
		names := make([]string, 0, len(took))
		for name := range took {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int {
			return int(median(took[a][work])) - int(median(took[b][work]))
		})
		for _, name := range names {
			theirs := took[name][work]
			r := peer{Work: work, Name: name, P50: median(theirs), P99: percentile(theirs, 99), Ratio: median(theirs) / median(mine)}
			r.Low, r.High = interval(theirs, mine, 50)
			tab.Peers = append(tab.Peers, r)
		}
	}
}

// peer is one line of the table of peers.
type peer struct {
	Work  string  `json:"work"` // "append" or "prompt"
	Name  string  `json:"name"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Ratio float64 `json:"ratio"` // of its p50 to that of ctxfs, with the ends of the 95 % interval
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// peers returns the table of other stores, "" where they were not measured.
func (t *table) peers() string {
	if len(t.Peers) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| at 1,000 messages | store | p50 | p99 | against ctxfs |\n| --- | --- | ---: | ---: | ---: |\n")
	for _, p := range t.Peers {
		work := map[string]string{"append": "append one message", "prompt": "a prompt of 8,000 tokens after it"}[p.Work]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", work, p.Name, format("ns", p.P50), format("ns", p.P99), times(p.Ratio, p.Low, p.High))
	}
	return b.String()
}
