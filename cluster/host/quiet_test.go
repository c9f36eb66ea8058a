package host

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/session"
)

// asked is an engine that counts how often it is asked for the end of a journal.
type asked struct {
	engine.Engine
	all, busy atomic.Int64
}

func (a *asked) Last(ctx context.Context, s engine.Subject, leader bool) (engine.Entry, error) {
	a.all.Add(1)
	if s.Session == id {
		a.busy.Add(1)
	}
	return a.Engine.Last(ctx, s, leader)
}

// A host that follows a thousand sessions which nobody has open asks for their ends a few times a second, and not two
// hundred. One that somebody has open is asked for as often as ever.
func TestAThousandQuietSessionsAreAskedForNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 1000
		r := newRig(t, "a")
		n := r.nodes[0]
		counts := &asked{Engine: n.engine}
		n.h.o.Engine, n.h.o.InUse = counts, func(of string) bool { return of == id }
		ctx, cancel := context.WithCancel(t.Context())
		for i := range count {
			other := ref
			other.Session = fmt.Sprint("quiet", i)
			if err := n.s.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: other, Owner: owner, ID: fmt.Sprintf("%032x", i)}); err != nil {
				t.Fatal(err)
			}
			n.h.Follow(ctx, must(n.s.Session(other)))
		}
		n.h.Follow(ctx, n.x)
		synctest.Wait()
		counts.all.Store(0)
		counts.busy.Store(0)
		const during = 5 * time.Minute
		time.Sleep(during)
		synctest.Wait()
		all, busy := counts.all.Load(), counts.busy.Load()
		if most := 30 * int64(during/time.Second); all > most || all < count {
			t.Errorf("the host asked %d times in %v, and should at most %d times, and for each session", all, during, most)
		}
		if want := int64(during/ConfirmEvery) - 1; busy < want {
			t.Errorf("it asked %d times for the session that is in use, and should %d times", busy, want)
		}
		cancel()
		synctest.Wait()
		if left := n.h.following.Load(); left != 0 {
			t.Errorf("%d sessions are followed in the end", left)
		}
		n.stop()
	})
}
