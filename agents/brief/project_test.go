package brief

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAProjectIsReadWithoutTheSessionsOwnEntries(t *testing.T) {
	p := Project(t.TempDir())
	for name, text := range map[string]string{"notes.md": "Deploys are on Tuesdays.\n", "memory.md": `# Memory of /a

## Pinned
- Never push. (codex/s1 context/pinned/rules.md)

## Known
- The port is 8443. (codex/s1 messages:1)
- Two
  lines (odd). (codex/s2 messages:7)

## Last answer
- Done. (codex/s2 messages:9)
`} {
		if err := os.WriteFile(filepath.Join(string(p), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for own, want := range map[string]string{
		"":         "Notes of this project:1 Pinned:1 Known:2 Last answer:1",
		"codex/s1": "Notes of this project:1 Known:1 Last answer:1",
		"codex/s2": "Notes of this project:1 Pinned:1 Known:1",
		"codex/s":  "Notes of this project:1 Pinned:1 Known:2 Last answer:1",
	} {
		var got []string
		for _, part := range p.Read(NewWriter(t.Context(), 1000), own) {
			got = append(got, fmt.Sprintf("%s:%d", part.Title, len(part.Entries())))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("without %q: %v, want %s", own, got, want)
		}
	}
	if parts := Project("").Read(NewWriter(t.Context(), 1000), ""); parts != nil {
		t.Errorf("no project keeps %v", parts)
	}
}

// A file that nobody answers for is not waited for, and is named.
func TestAWriterWaitsForNoFileBeyondItsTime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := NewWriter(ctx, 1000)
	if got := w.Read(name); got != "" || len(w.Late()) != 1 || w.Late()[0] != name {
		t.Errorf("%q, late are %v", got, w.Late())
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0) // lets the reader go
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
