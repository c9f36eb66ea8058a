package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// replays gives real sessions where they are, by path, else made ones.
func replays(t *testing.T) map[string][][]byte {
	out := map[string][][]byte{}
	if dir := os.Getenv("CTXFS_TESTDATA"); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no sessions in %s: %v", dir, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out[file] = bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		}
		return out
	}
	out["made"] = longLog(150).records()
	out["thinking"] = thinkingLog(80)
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
				m{"type": "image", "source": m{"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}})
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

// TestNativeReplay replays sessions record by record: every rendering of every pack is valid and fits, and within an
// epoch begins as the one before.
func TestNativeReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and one goroutine: nothing for the race detector")
	}
	sets := replays(t)
	for _, limit := range []int{4000, 8000, 32000} {
		packs, kept, units, stayed := 0, 0, 0, 0
		for name, records := range sets {
			l, mm := newLog(), newMemo()
			var before map[Format]nativeOf
			epoch := ""
			for _, r := range records {
				l.Append(r)
				in := inputOf(l, limit, sampleFiles()...)
				b, err := compile(&in, mm)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				now := natives(t, b, logsOf(&in), limit, "")
				if b.Epoch == epoch {
					keepsPrefix(t, before, now)
					kept++
					units, stayed = units+len(now[Anthropic].units), stayed+before[Anthropic].stable
				}
				before, epoch = now, b.Epoch
				packs += len(now)
			}
		}
		if kept == 0 {
			t.Fatal("every pack began an epoch")
		}
		t.Logf("%d tokens: %d renderings, 0 violations; %.3f of the parts are those of the pack before, within an epoch", limit, packs, float64(stayed)/float64(units))
	}
}
