package inspect

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// maxReal is how many records of a real session are replayed.
const maxReal = 250

// Of real conversations whose requests only ever grow, what is predicted to come from a cache is, to the token, what the records in
// front of the call before take.
func TestPredictionOnRealSessions(t *testing.T) {
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	tried, step := 0, suite.Pick(t, 16, 1) // from one session to the next; a quarter of those of tau, which are alike
	filepath.WalkDir(filepath.Join(dir, "sessions"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".jsonl") || tried%step != 0 || tried%4 != 0 && strings.Contains(path, "tau_") {
			if err == nil && !e.IsDir() {
				tried++
			}
			return nil
		}
		tried++
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		if len(lines) > maxReal {
			data = bytes.Join(lines[:maxReal], nil)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".jsonl"), func(t *testing.T) {
			d := newDesk(t)
			d.n++
			if _, err := d.x.Messages().Append(context.Background(), log.Batch{Data: data, Key: arrival.Key{Conn: 1, Unique: d.n}}); err != nil {
				t.Fatal(err)
			}
			h := d.look(0)
			s := stats(t, h, StatsOptions{Points: 1})
			if s.Cache.Calls < 2 {
				t.Skip("it has no two calls")
			}
			t.Logf("%d calls, %.3f predicted", s.Cache.Calls, s.Cache.Share)
			checkGrowing(t, h, s)
		})
		return nil
	})
	if tried == 0 {
		t.Skip("no real sessions here; set CTXFS_TESTDATA")
	}
}
