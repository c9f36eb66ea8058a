package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// The end of a journal is gone on all servers, which agree with each other: nobody named it. A host that has read that
// end tells so once it was so for a second, and no longer than it is so. One whose servers do not answer tells nothing.
func TestTheEndOfAJournalWasLostAndNobodyNamedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "a")
		n := r.nodes[0]
		for _, text := range []string{"one", "two"} {
			if err := n.append(text); err != nil {
				t.Fatal(err)
			}
		}
		s := Subject(n.x)
		end := must(n.engine.Last(t.Context(), s, true))
		looks := func(bad bool) {
			t.Helper()
			if err := n.h.Fresh(t.Context(), n.x, 0); (err != nil) != bad {
				t.Fatalf("a look at the journal: %v", err)
			}
		}
		told := func(want int) {
			t.Helper()
			list := n.h.Stuck()
			if len(list) != want || want > 0 && (list[0].Subject != s || list[0].Seq != end.Seq || list[0].Why == nil) {
				t.Fatalf("it tells %+v", list)
			}
		}
		looks(false)
		told(0)
		for replica := range 3 {
			r.servers.Lose(s.Shard(), replica, end.Seq)
		}
		looks(true)
		looks(true)
		told(0) // a leader that is cut off says so, too
		time.Sleep(stuckAfter)
		looks(true)
		told(1)
		n.h.member(n.x).found(context.DeadlineExceeded)
		told(1)
		n.h.member(n.x).found(nil)
		told(0)
		n.h.member(n.x).found(engine.ErrUnreachable)
		time.Sleep(stuckAfter)
		n.h.member(n.x).found(engine.ErrUnreachable)
		told(0)
		n.stop()
	})
}
