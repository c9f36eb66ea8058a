package host

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/replica"
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

// slowLeader is an engine whose leaders answer the next questions for the end of a journal as they would have before its last
// entry: another replica has taken that in already.
type slowLeader struct {
	engine.Engine
	answers int
}

func (e *slowLeader) Last(ctx context.Context, s engine.Subject, leader bool) (engine.Entry, error) {
	end, err := e.Engine.Last(ctx, s, leader)
	if err != nil || e.answers == 0 || !leader {
		return end, err
	}
	e.answers--
	list, err := e.Read(ctx, s, engine.Range{})
	for _, x := range slices.Backward(list) {
		if x.Seq < end.Seq {
			return x, err
		}
	}
	return engine.Entry{}, err
}

// A host had read an entry that its leader had not taken in yet: its look at the journal, and what it was about to append,
// failed, as if the servers had lost something.
func TestALeaderIsAMomentBehindAReplica(t *testing.T) {
	r := newRig(t, "a")
	var slow *slowLeader
	b := r.add(&node{name: "b", fs: sessiontest.New(), dir: "/store", wrap: func(e engine.Engine) engine.Engine {
		slow = &slowLeader{Engine: e}
		return slow
	}})
	a := r.nodes[0]
	for _, words := range []string{"one", "two"} {
		if err := a.append(words); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.h.Fresh(t.Context(), b.x, 0); err != nil {
		t.Fatal(err)
	}
	slow.answers = 3
	if err := b.h.Fresh(t.Context(), b.x, 0); err != nil || slow.answers > 0 {
		t.Errorf("a look: %v", err)
	}
	r.net.Cut("a", true) // who would be asked to append for b
	slow.answers = 3
	b.engine.Inject(fake.LoseAck)
	if err := b.append("three"); err != nil || slow.answers > 0 {
		t.Errorf("an append: %v", err)
	}
	slow.answers = maxOlder
	if err := b.h.Fresh(t.Context(), b.x, 0); !errors.Is(err, replica.ErrOlder) {
		t.Errorf("a look at what stays so: %v", err)
	}
	if got, want := b.content(ctxabi.MessagesFile), string(message("one"))+string(message("two"))+string(message("three")); got != want {
		t.Errorf("it has %q", got)
	}
}
