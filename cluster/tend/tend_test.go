package tend

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
)

func TestAFreshHostOpensASessionThatWasTrimmed(t *testing.T) {
	r := newRig(t, t.TempDir(), "a")
	a := r.nodes[0]
	for i := range 20 {
		r.must(a.append(fmt.Sprint(i)))
	}
	r.must(a.x.SetControl(ctxabi.BudgetFile, []byte("4000\n")))
	r.must(a.x.MakeChild("rev"))
	r.must(a.x.SetControl(ctxabi.ChildPath("rev", ctxabi.ChildAgent), []byte("critic\n")))
	a.shelf.Round(ctx, a.h)
	if report := r.round(); report.Trimmed != 0 {
		t.Errorf("trimmed at once: %+v", report)
	}
	if report := r.round(); report.Trimmed != 1 || r.entries() != 1 {
		t.Errorf("%d entries are left: %+v", r.entries(), report)
	}
	if report := r.round(); report.Trimmed != 0 {
		t.Errorf("trimmed again: %+v", report)
	}
	r.must(a.append("behind it"))
	b := r.add("b")
	r.fresh(b)
	r.must(b.append("of b"))
	if got := strings.Count(r.agree(), "\n"); got != 22 {
		t.Errorf("%d records", got)
	}
	r.newTender()
	if report := r.round(); report.Trimmed != 0 {
		t.Errorf("a new maintainer trims again: %+v", report)
	}
}

// A store that went on from a snapshot, and was looked at without its cluster, counted as one with problems.
func TestAStoreIsVerifiedWithoutItsCluster(t *testing.T) {
	r := newRig(t, t.TempDir(), "a")
	a := r.nodes[0]
	for i := range 20 {
		r.must(a.append(strings.Repeat(fmt.Sprint(i, " "), 60000)))
	}
	a.shelf.Round(ctx, a.h)
	r.round()
	if report := r.round(); report.Trimmed != 1 {
		t.Fatalf("%+v", report)
	}
	b := r.add("b")
	r.fresh(b)
	b.stop()
	s, err := session.Open("/store", session.Options{VFS: b.disk, Now: b.disk.Now, ReadOnly: true})
	r.must(err)
	defer s.Close()
	found, err := check.Verify(ctx, s, ref)
	r.must(err)
	away := false
	for _, p := range found {
		away = away || p == check.Away(ctxabi.MessagesFile)
		if p.Severity != check.Noted {
			t.Error(p)
		}
	}
	if !away {
		t.Errorf("it has no note of what is not there: %v", found)
	}
}

// A reader that has the session open sees it grow, and nothing else.
func TestAHostThatIsBehindATrimGoesOn(t *testing.T) {
	r := newRig(t, t.TempDir(), "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	for i := range 8 {
		r.must(a.append(fmt.Sprint(i)))
	}
	r.must(a.x.SetControl(ctxabi.BudgetFile, []byte("4000\n")))
	r.must(a.x.MakeChild("gone"))
	r.fresh(b)
	before := content(t, b.x.Messages())
	ix, err := b.x.Messages().Index()
	r.must(err)
	r.must(a.x.RemoveChild("gone"))
	for i := range 2000 {
		r.must(a.append(fmt.Sprint("more ", i, strings.Repeat(" and more", 100))))
	}
	a.snapshot()
	r.round()
	r.round()
	if r.entries() != 1 {
		t.Fatalf("%d entries", r.entries())
	}
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for last := ""; ; {
			now := content(t, b.x.Messages())
			if !strings.HasPrefix(now, last) || !strings.HasPrefix(now, before) {
				t.Error("what was shown has changed")
			}
			last = now
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	r.fresh(b)
	close(stop)
	reader.Wait()
	if rec, err := ix.Record(3); err != nil || !strings.Contains(string(rec), "2") {
		t.Errorf("an index that was taken before: %s, %v", rec, err)
	}
	r.must(b.append("of b"))
	r.agree()
	b.stop()
	b.start()
	r.agree()
}

// The history of a parked session was empty.
func TestAParkedSessionHasTheHistoryOfItsSnapshot(t *testing.T) {
	r := newRig(t, t.TempDir(), "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	for _, budget := range []string{"4000\n", "5000\n"} {
		r.must(a.x.SetControl(ctxabi.BudgetFile, []byte(budget)))
	}
	r.fresh(b)
	before, err := a.x.History(ctx, ctxabi.BudgetFile)
	r.must(err)
	r.round()
	r.later(2 * ParkAfter)
	if report := r.round(); report.Parked != 1 || r.entries() != 0 {
		t.Fatalf("not parked: %d entries, %+v", r.entries(), report)
	}
	for _, n := range []*node{a, b, r.add("c")} {
		list, err := n.x.History(ctx, ctxabi.BudgetFile)
		if err != nil || len(list) != 1 || list[0] != before[len(before)-1] {
			t.Errorf("%s: %v %v, want the last of %v", n.name, list, err, before)
			continue
		}
		if data, err := n.x.Earlier(ctx, ctxabi.BudgetFile, list[0].Entry); err != nil || string(data) != "5000\n" {
			t.Errorf("%s: %q %v", n.name, data, err)
		}
	}
}

func TestAParkedSessionComesBackOnTwoHostsAtOnce(t *testing.T) {
	for _, snapshotted := range []bool{false, true} {
		r := newRig(t, t.TempDir(), "a", "b", "late")
		a, b := r.nodes[0], r.nodes[1]
		for i := range 7 {
			r.must(a.append(fmt.Sprint(i)))
		}
		r.fresh(b)
		if snapshotted {
			a.snapshot()
		}
		r.must(a.append("one more"))
		r.round()
		r.later(ParkAfter / 2)
		if report := r.round(); report.Parked != 0 || r.entries() == 0 {
			t.Fatalf("parked too early: %+v", report)
		}
		r.newTender()
		r.later(ParkAfter / 2)
		if report := r.round(); report.Parked != 1 || r.entries() != 0 {
			t.Fatalf("not parked: %d entries, %+v", r.entries(), report)
		}
		r.agree() // all of them open it, parked as it is
		c := r.add("c")
		r.fresh(c)
		var both sync.WaitGroup
		for _, n := range []*node{a, b, c} {
			both.Go(func() {
				if err := n.append("of " + n.name); err != nil {
					t.Errorf("%s: %v", n.name, err)
				}
			})
		}
		both.Wait()
		if got := strings.Count(r.agree(), "\n"); got != 11 {
			t.Errorf("%d records", got)
		}
		first, err := a.engine.Read(ctx, subject, engine.Range{Count: 1})
		r.must(err)
		if _, ok := beginsWith(first[0]); !ok {
			t.Error("the journal does not begin with the snapshot")
		}
		r.add("d")
		r.agree()
		r.round()
		r.later(2 * ParkAfter)
		r.round()
		r.later(ParkAfter)
		if report := r.round(); r.entries() != 0 {
			t.Errorf("not parked again: %+v", report)
		}
		r.add("e")
		r.agree()
	}
}

func TestWhoComesBackWhileASessionIsParkedLosesNothing(t *testing.T) {
	r := newRig(t, t.TempDir(), "a")
	a := r.nodes[0]
	r.must(a.append("early"))
	r.round()
	r.later(ParkAfter + time.Hour)
	// Behind the row that parks, and in front of the removal.
	maintenance := r.servers.Maintenance()
	r.tender.o.Engine = &interrupted{maintenance, func() { r.must(a.append("meanwhile")) }}
	r.tender.shelf.o.Engine = maintenance
	r.round()
	r.tender.o.Engine = maintenance
	if r.entries() != 1 {
		t.Fatalf("%d entries", r.entries())
	}
	b := r.add("b")
	r.fresh(b)
	r.must(b.append("of b"))
	for range 6 {
		r.must(a.append("more"))
	}
	if got := strings.Count(r.agree(), "\n"); got != 9 {
		t.Errorf("%d records", got)
	}
	a.snapshot()
	r.round()
	r.round()
	if r.entries() != 1 {
		t.Errorf("%d entries: not trimmed", r.entries())
	}
	r.add("c")
	r.agree()
}

// interrupted is an engine in which something happens in front of a trim.
type interrupted struct {
	Engine
	before func()
}

func (i *interrupted) Trim(ctx context.Context, s engine.Subject, before uint64) error {
	i.before()
	return i.Engine.Trim(ctx, s, before)
}
