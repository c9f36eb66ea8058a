package runner

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkReadUnchanged(b *testing.B) {
	c, err := Start(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	dir := b.TempDir()
	paths := []string{filepath.Join(dir, "AGENTS.md"), filepath.Join(dir, "DELTA.md")}
	os.WriteFile(paths[0], bytes.Repeat([]byte("rule\n"), 1000), 0o644)
	for b.Loop() {
		files, _ := c.ReadFiles(context.Background(), uint32(os.Getuid()), 0, paths, limit, long)
		if files[0].Stale {
			b.Fatal("stale")
		}
	}
}

// The least that a look at a pack with two guides costs: two files that did not change.
func BenchmarkReadSettled(b *testing.B) {
	c, err := Start(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for b.Loop() {
		files, _ := c.ReadFiles(context.Background(), uint32(os.Getuid()), 0, []string{"/etc/passwd", "/nowhere/DELTA.md"}, limit, long)
		if files[0].Stale || !files[0].Exists {
			b.Fatal("not read")
		}
	}
}
