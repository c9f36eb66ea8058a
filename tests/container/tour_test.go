package container

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// The first part of docs/tour.md prints what it says, too: the transcript that was imported goes on in a container.
func TestTourContainer(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "tour.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := steps(string(b))
	if len(all) != 1 || all[0].output == "" {
		t.Fatalf("docs/tour.md has %d commands with a container, and what they print", len(all))
	}
	w := newWorld(t)
	w.must("start_dockerd docker")
	for _, s := range documentSteps(t)[:2] { // the mount and the image
		w.must(s.script)
	}
	w.must("ctxfs import /usr/src/ctxfs/examples/transcripts/claude-code.jsonl coder/refresh")
	if got := w.run(all[0].script); got != all[0].output {
		t.Errorf("docs/tour.md:%d:\n%s\nprints\n%s\nwant\n%s", all[0].line, all[0].script, got, all[0].output)
	}
}
