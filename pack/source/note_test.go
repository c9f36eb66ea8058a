package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// A note that is in neither of its places when each is looked at, because it passes from one to the other, is in the pack.
func TestANoteIsInThePackWhileItIsChanged(t *testing.T) {
	store, err := session.Open(filepath.Join(t.TempDir(), "store"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	x, err := store.Create(ctxabi.Ref{UID: uint32(os.Getuid()), Agent: "coder", Session: "s1"}, disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
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
	s := &sources{g: &Gathered{scan: h.now}, h: h, rel: rel}
	s.stored(0, "facts", rel+"/"+ctxabi.FactsFile)
	if len(s.g.files) != 1 || string(s.g.files[0].Data) != row || s.g.files[0].Life != ctxabi.OriginAgent {
		t.Errorf("%+v", s.g.files)
	}
}
