package pack

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/native"
)

// every selects the packs of a replay that are rendered natively: of every so many records, and those that a compaction made.
var every = flag.Int("every", 12, "render every so many packs of a replay of real sessions natively")

// replays returns the bundled sessions and made ones, and real ones where they are, by path.
func replays(t *testing.T) map[string][][]byte {
	t.Helper()
	out := map[string][][]byte{"made": longLog(150).Records(), "thinking": thinkingLog(80)}
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	step := suite.Pick(t, 30, 1) // from one real session to the next
	for _, pattern := range []string{"../examples/*/*essages.jsonl", "../examples/*/sample-session.jsonl",
		filepath.Join(dir, "sessions", "*", "*.jsonl"), filepath.Join(dir, "histories", "*.jsonl")} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 && strings.HasPrefix(pattern, "../examples") {
			t.Fatalf("no sessions: %v, %v", pattern, err)
		}
		for i, file := range files {
			if i%step != step/2 && strings.Contains(pattern, "sessions") {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out[file] = bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		}
	}
	return out
}

// thinkingLog is a session in Anthropic's form whose turns think, see and call in parallel.
func thinkingLog(n int) (records [][]byte) {
	type m = map[string]any
	add := func(role string, parts ...m) {
		b, err := json.Marshal(m{"role": role, "content": parts})
		if err != nil {
			panic(err)
		}
		records = append(records, b)
	}
	for i := 0; len(records) < n; i++ {
		if i%4 == 0 {
			add("user", m{"type": "text", "text": fmt.Sprintf("Look at screen %d and repair what is broken there.", i)},
				m{"type": "image", "source": m{"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="}})
		}
		a, b := fmt.Sprintf("toolu_%da", i), fmt.Sprintf("toolu_%db", i)
		add("assistant", m{"type": "thinking", "thinking": "I should read both files before I decide what to change.", "signature": fmt.Sprintf("c2ln%04d", i)},
			m{"type": "text", "text": "Reading both."},
			m{"type": "tool_use", "id": a, "name": "read_file", "input": m{"path": "a.go", "line": 10}},
			m{"type": "tool_use", "id": b, "name": "read_file", "input": m{"path": "b.go"}})
		add("user", m{"type": "tool_result", "tool_use_id": b, "content": string(bytes.Repeat([]byte("func b() {}\n"), 20+i%30))},
			m{"type": "tool_result", "tool_use_id": a, "content": []m{{"type": "text", "text": "package a"}}})
		if i%4 == 3 {
			add("assistant", m{"type": "text", "text": "Done, both build again."})
		}
	}
	return records
}

// TestNativeReplay replays sessions record by record at the budgets of the table of measures: every rendering is valid, fits, and carries the
// agent's tools; within an epoch each begins as the one before.
func TestNativeReplay(t *testing.T) {
	pure(t)
	sets := replays(t)
	for _, limit := range []int{4000, 8000, 16000, 32000} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			var sum nativeSum
			for name, records := range sets {
				sum.replay(t, name, records, limit)
			}
			if sum.kept == 0 {
				t.Fatal("every pack began an epoch")
			}
			t.Logf("%d sessions, %d packs with %d compactions: %d renderings, 0 violations, at most %.3f of the budget; %.3f of the parts are those of the rendering before, within an epoch",
				len(sets), sum.packs, sum.compactions, sum.renderings, float64(sum.most)/float64(limit), float64(sum.stayed)/float64(sum.units))
		})
	}
}

// nativeSum sums up replays at one budget.
type nativeSum struct{ packs, compactions, renderings, most, kept, units, stayed int }

func (sum *nativeSum) replay(t *testing.T, name string, records [][]byte, limit int) {
	t.Helper()
	step := *every
	if !strings.HasPrefix(name, "..") && !filepath.IsAbs(name) {
		step = 2 // the made ones are few, and have what real ones seldom have
	}
	l, mm := newLog(), NewMemo()
	var before map[native.Format]nativeOf
	epoch, compactions := "", 0
	for i, r := range records {
		l.Append(r)
		in := withTools(inputOf(l, limit, sampleFiles()...))
		b, err := CompileWith(&in, mm)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sum.packs++
		var moved int
		if _, err := fmt.Sscanf(b.Epoch, "%d-", &moved); err != nil {
			t.Fatalf("epoch %s: %v", b.Epoch, err)
		}
		if moved == compactions && i%step != 0 && i != len(records)-1 {
			continue
		}
		sum.compactions, compactions = sum.compactions+moved-compactions, moved
		now := natives(t, b, logsOf(&in), limit, "")
		for f, n := range now {
			sum.most = max(sum.most, n.tokens)
			hasTools(t, f, n.data)
		}
		if b.Epoch == epoch {
			keepsPrefix(t, before, now)
			sum.kept++
			sum.units += len(now[native.Anthropic].units)
			sum.stayed += before[native.Anthropic].stable.Units
		}
		before, epoch = now, b.Epoch
		sum.renderings += len(now)
	}
}

// hasTools fails unless the tools of toolsJSON stand under the key where the format's provider reads them.
func hasTools(t failer, f native.Format, data []byte) {
	t.Helper()
	type defined []struct {
		Name     string                  `json:"name"`
		Function struct{ Name string }   `json:"function"`
		Declared []struct{ Name string } `json:"functionDeclarations"`
	}
	var body struct {
		Tools  defined                 `json:"tools"`
		Config struct{ Tools defined } `json:"config"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatalf("%s: %v", f, err)
	}
	named := map[string]bool{}
	for _, tool := range append(body.Tools, body.Config.Tools...) {
		named[tool.Name], named[tool.Function.Name] = true, true
		for _, d := range tool.Declared {
			named[d.Name] = true
		}
	}
	if !named["read_file"] || !named["bash"] {
		t.Fatalf("%s: tools.json did not reach tools: %v\n%s", f, named, clip(string(data)))
	}
}
