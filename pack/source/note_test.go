package source

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// A note that is in neither of its places when each is looked at, because it passes from one to the other, is in the pack.
func TestANoteIsInThePackWhileItIsChanged(t *testing.T) {
	x := newSession(t)
	b := &Gatherer{}
	h, rel, err := b.openHome(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if f := h.file(rel+"/"+ctxabi.FactsFile, maxFile); !f.absent {
		t.Fatal("it is there")
	}
	const row = `{"id":"f1","text":"It is so."}` + "\n"
	if err := x.SetNote(ctxabi.FactsFile, []byte(row), ctxabi.OriginAgent); err != nil {
		t.Fatal(err)
	}
	s := &sources{g: &Gathered{}, h: h, rel: rel}
	s.stored(0, "facts", rel+"/"+ctxabi.FactsFile)
	if len(s.g.in.Files) != 1 || string(s.g.in.Files[0].Data) != row || s.g.in.Files[0].Life != ctxabi.OriginAgent {
		t.Errorf("%+v", s.g.in.Files)
	}
}

// newSession returns a new session in a store of its own.
func newSession(t *testing.T) *session.Session {
	store, err := session.Open(filepath.Join(t.TempDir(), "store"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	x, err := store.Create(ctxabi.Ref{UID: uid, Agent: "coder", Session: "s1"}, disk.Owner{UID: uid, GID: gid, Mode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestUnchangedFilesAreNotReadAgain(t *testing.T) {
	x := newSession(t)
	dir := filepath.Join(x.Dir(), "../../knowledge")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for i := range 200 {
		name := filepath.Join(dir, fmt.Sprintf("k%03d.md", i))
		if err := cmp.Or(os.WriteFile(name, []byte(fmt.Sprintf("Token refresh %d.\n", i)), 0o600), os.Chtimes(name, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	var b Gatherer
	logs := NewLogs(nil, x.ID())
	var last *Gathered
	for last == nil || !last.Settled() {
		g, err := b.Gather(context.Background(), x, &logs, last)
		if err != nil {
			t.Fatal(err)
		}
		last = g
	}
	before := last.stored
	if g, err := b.Gather(context.Background(), x, &logs, last); err != nil || g != last {
		t.Fatalf("the inputs differ though nothing changed: %v", err)
	}
	if len(before) < 200 || len(before) != len(last.stored) {
		t.Fatalf("%d and %d files", len(before), len(last.stored))
	}
	for name, f := range last.stored {
		if was := before[name]; was == nil || was.content != f.content {
			t.Errorf("%s was read again", name)
		}
	}
}
