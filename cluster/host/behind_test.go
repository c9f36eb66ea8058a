package host

import (
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// The servers that a host reads from lack for a while what it knows to be there: its append waits for them.
func TestAnAppendIsRefusedWhileAServerIsBehind(t *testing.T) {
	r := newRig(t, "a")
	b := r.add(&node{name: "b", fs: sessiontest.New(), dir: "/store", followers: true})
	a := r.nodes[0]
	for _, words := range []string{"one", "two", "three"} {
		if err := a.append(words); err != nil {
			t.Fatal(err)
		}
	}
	r.net.Cut("a", true) // who would be asked to append for b
	for range 3 {
		b.engine.Inject(fake.StaleRead)
	}
	if err := b.append("four"); err != nil {
		t.Error(err)
	}
	if got, want := b.content(ctxabi.MessagesFile), string(message("one"))+string(message("two"))+string(message("three"))+string(message("four")); got != want {
		t.Errorf("it has %q", got)
	}
}
