package builder

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/session/disk"
)

// However often a session is renamed meanwhile, its pack has what lies in it.
func TestAPackOfASessionThatIsRenamedHasItsFiles(t *testing.T) {
	d := newDesk(t, Config{Budget: 8000})
	d.write("context/pinned/rules.md", "Pinned.\n")
	d.append(packtest.Message("user", "hello"))
	names := []ctxabi.Ref{deskRef, deskRef, deskRef}
	names[1].Session = "s2"
	names[2].Agent = "coder2"
	if err := d.store.EnsureAgent(names[2], disk.Owner{UID: names[2].UID, Mode: 0o700}); err != nil {
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
