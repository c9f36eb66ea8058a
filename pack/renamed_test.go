package pack

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// However often a session is renamed meanwhile, its pack has what lies in it.
func TestAPackOfASessionThatIsRenamedHasItsFiles(t *testing.T) {
	d := newDesk(t, Config{Budget: 8000})
	d.write("context/pinned/rules.md", "Pinned.\n")
	d.append(message("user", "hello"))
	names := []ctxabi.Ref{deskRef, deskRef, deskRef}
	names[1].Session = "s2"
	names[2].Agent = "coder2"
	if err := d.store.EnsureAgent(names[2], session.Owner{UID: names[2].UID, Mode: 0o700}); err != nil {
		t.Fatal(err)
	}
	const rounds = 200
	var g sync.WaitGroup
	g.Go(func() {
		for i := range rounds {
			if err := d.store.Rename(names[i%3].Path(), names[(i+1)%3].Path()); err != nil {
				t.Error(err)
			}
		}
	})
	for range rounds {
		build, err := d.b.Current(context.Background(), d.x)
		if err != nil {
			t.Error(err)
			break
		}
		if !strings.Contains(string(build.Markdown), "Pinned.") {
			t.Errorf("the pin is missing:\n%s", build.Markdown)
			break
		}
	}
	g.Wait()
	if build := d.pack(); !strings.Contains(string(build.Markdown), "Pinned.") {
		t.Errorf("the pin is missing at the end:\n%s", build.Markdown)
	}
}

// A note that is in neither of its places when each is looked at, because it passes from one to the other, is in the pack.
func TestANoteIsInThePackWhileItIsChanged(t *testing.T) {
	d := newDesk(t, Config{})
	h, rel, err := d.b.openHome(d.x, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if f := h.file(rel+"/"+ctxabi.FactsFile, maxFile); !f.absent {
		t.Fatal("it is there")
	}
	const row = `{"id":"f1","text":"It is so."}` + "\n"
	if err := d.x.SetNote(ctxabi.FactsFile, []byte(row), ctxabi.OriginAgent); err != nil {
		t.Fatal(err)
	}
	s := &sources{g: &gathered{look: h.now}, h: h, rel: rel}
	s.stored(0, "facts", rel+"/"+ctxabi.FactsFile)
	if len(s.g.files) != 1 || string(s.g.files[0].Data) != row || s.g.files[0].Life != ctxabi.OriginAgent {
		t.Errorf("%+v", s.g.files)
	}
}
