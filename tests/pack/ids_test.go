package packtest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/eval"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/native"
	packrecord "github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/tests/harness"
)

var update = flag.Bool("update", false, "write testdata/ids.txt anew")

// The packs of all bundled sessions, and of the real ones where they are there, keep their ids and their bytes in every form
// as long as the renderer's version stays. testdata/ids.txt has a line for each session and budget: a hash of the
// records, how many there are, the budget, the pack's id, and a hash over pack.md, pack.json and the native forms.
func TestPacksKeepTheirIDsAndBytes(t *testing.T) {
	var paths []string
	for _, p := range []string{"examples/session", "examples/memory-folding", "examples/summarizer", "eval/testdata"} {
		paths = append(paths, filepath.Join(harness.Root(), p))
	}
	if dir := realSessions(); dir != "" {
		paths = append(paths, dir)
	}
	sessions, err := eval.Load(paths, "", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/ids.txt"
	want, got := map[string]string{}, map[string]string{}
	data, _ := os.ReadFile(file)
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		want[key] = value
	}
	for _, s := range sessions {
		for _, budget := range []int{4000, 8000, 16000, 32000} {
			key, value := packed(t, s, budget)
			got[key] = value
			if !*update && want[key] != value {
				t.Errorf("%s: %s was %q, is %q", s.Name, key, want[key], value)
			}
		}
	}
	t.Logf("%d packs of %d sessions", len(got), len(sessions))
	if *update {
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(got)) {
			fmt.Fprintf(&b, "%s: %s\n", key, got[key])
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// packed returns the line of one session and budget. The compiler sees the session grow, as it does in use.
func packed(t *testing.T, s *eval.Session, budget int) (key, value string) {
	var c pack.Compiler
	bytes := sha256.New()
	id, n := "", s.Messages.Len()
	for _, at := range []int{n / 3, 2 * n / 3, n} {
		history := s.Messages.Prefix(at)
		b, err := c.Compile(pack.Input{
			Session: "s1", Agent: "coder", Budget: budget, Encoding: tokens.DefaultEncoding,
			Messages: history, Head: history.Head(),
		})
		if err != nil {
			t.Fatalf("%s at %d: %v", s.Name, budget, err)
		}
		bytes.Write(b.Markdown)
		bytes.Write(b.JSON())
		for _, f := range native.Formats {
			native, err := b.Native(f, func() (messages, events packrecord.Records, err error) { return history, nil, nil })
			if err != nil && !errors.Is(err, ctxabi.ErrOverBudget) {
				t.Fatalf("%s at %d, %v: %v", s.Name, budget, f, err)
			}
			bytes.Write(native)
		}
		id = b.ID
	}
	head := sha256.Sum256([]byte(s.Messages.Head()))
	return fmt.Sprintf("%s %d records at %d", hex.EncodeToString(head[:6]), n, budget), id + " " + hex.EncodeToString(bytes.Sum(nil))[:32]
}
