package nodestest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// Both trees are read by several at once while the session grows, its packs are read and blobs come and go.
func TestReadersBesideAWriter(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write(ctxabi.BudgetFile, "3000\n")
	talk(s, 0, 9)
	done := make(chan struct{})
	var wait sync.WaitGroup
	each := func(index, dir, id string) error {
		f, err := os.Open(s.Path(index))
		if err != nil {
			return err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			var row map[string]any
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				return fmt.Errorf("%s: %w", index, err)
			}
			name := row[id].(string)
			b, err := os.ReadFile(s.Path(filepath.Join(dir, name)))
			if row["source"] == ctxabi.BlobOfUser && os.IsNotExist(err) {
				continue // removed since
			}
			if err != nil || harness.BlobID(string(b)) != name {
				return fmt.Errorf("%s: %v", name, err)
			}
		}
		return lines.Err()
	}
	background := func(do func(round int) error) {
		wait.Go(func() {
			for round := 0; ; round++ {
				if err := do(round); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	background(func(int) error { return each(swapIndex, ctxabi.SwapChunkDir, "id") })
	background(func(int) error { return each(dedupIndex, ctxabi.DedupBlobDir, "hash") })
	for k := range 2 {
		background(func(round int) error {
			content := strings.Repeat(fmt.Sprintf("blob %d of %d\n", round%3, k*(round%2)), 500)
			file := s.Path(filepath.Join(ctxabi.DedupBlobDir, harness.BlobID(content)))
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil && !os.IsPermission(err) && !os.IsNotExist(err) {
				return err // the other one may have stored it, or removed it, in between
			}
			if round%4 > 1 {
				if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
					return err
				}
			}
			return nil
		})
	}
	for i := 10; i < 50; i += 2 {
		talk(s, i, i+1)
		s.Read(ctxabi.PackFile)
	}
	close(done)
	wait.Wait()
	swapTree(t, s)
	dedupTree(t, s)
}
