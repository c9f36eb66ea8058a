package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/inputs"
)

// A FIFO without a writer kept an import waiting for ever.
func TestFIFOIsRefused(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "run.jsonl")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fifo, link, "/dev/zero"} {
		all, err := Find([]string{name}, strings.NewReader(""))
		if err == nil || !strings.Contains(err.Error(), name+" is not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
		all.Close()
		if _, _, err := keptIn(name); err == nil {
			t.Errorf("%s may be a transcript", name)
		}
		if _, err := inputs.ReadFile(name); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}
