package builder

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

func TestASourceThatLeftTheRecipeIsCancelledAndForgotten(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x := b.session("s")
		b.fake.auto = says("one")
		b.gather(x, -1, plain("stays"), plain("goes"))
		b.fake.auto = nil
		running, waiting := plain("goes"), plain("waits")
		running.history = "2"
		b.gather(x, 0, running, plain("third"), waiting)
		synctest.Wait()
		got := make(chan []made, 1)
		go func() { got <- b.gather(x, -1, running, waiting) }()
		synctest.Wait()
		b.o.retain(x, []string{"stays", "third"})
		b.expect(<-got, "(its run was called off)", "(its run was called off)")
		synctest.Wait()
		b.runs(4)
		if !b.fake.of("goes").canceled || b.fake.of("third").canceled {
			b.Error("the wrong run was cancelled")
		}
		if names := x.DerivedNames(outputsDir); len(names) != 1 || names[0] != storedName("stays") {
			b.Errorf("stored are %q", names)
		}
		b.fake.of("third").answer <- source.Output{Data: []byte("3")}
		synctest.Wait()
		b.expect(b.gather(x, 0, plain("stays"), plain("third")), "one", "3")
		b.runs(4)
	})
}

func TestAnotherEntryCallsOffTheRun(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), plain("map")
		first := make(chan []made, 1)
		go func() { first <- b.gather(x, -1, w) }()
		synctest.Wait()
		old := b.fake.last()
		w.entry = "edited"
		second := make(chan []made, 1)
		go func() { second <- b.gather(x, -1, w) }()
		synctest.Wait()
		b.runs(2)
		if !old.canceled {
			b.Error("the run of the entry before goes on")
		}
		b.expect(<-first, "(its run was called off)")
		b.fake.last().answer <- source.Output{Data: []byte("one")}
		b.expect(<-second, "one")
	})
}

func TestRunsAreBoundedAndShared(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		start := func(name string, uid uint32) *session.Session {
			x := b.session(name)
			for i := range 5 {
				w := plain(fmt.Sprint(i))
				w.stages[0].Session = x.ID()
				b.o.gather(context.Background(), x, uid, uid, []want{w}, 0)
			}
			return x
		}
		var greedy []*session.Session
		for i := range 5 {
			greedy = append(greedy, start(fmt.Sprint("greedy", i), 7))
		}
		synctest.Wait()
		b.runs(maxUserRuns)
		start("modest", 8)
		synctest.Wait()
		b.runs(maxUserRuns + maxSessionRuns)
		start("late", 9)
		synctest.Wait()
		b.runs(maxRuns)
		start("later", 10)
		b.fake.at(0).answer <- source.Output{}
		synctest.Wait()
		if r := b.fake.last(); r.uid != 10 {
			b.Errorf("a run of %d follows, though 10 has none", r.uid)
		}
		done := 1
		for {
			synctest.Wait()
			n := b.fake.count()
			if n == done {
				break
			}
			for ; done < n; done++ {
				b.fake.at(done).answer <- source.Output{}
			}
		}
		b.runs(40)
		for place, n := range b.fake.most {
			if strings.HasPrefix(place, "session") && n > maxSessionRuns || strings.HasPrefix(place, "user") && n > maxUserRuns || n > maxRuns {
				b.Errorf("%s had %d runs at once", place, n)
			}
		}
		b.gather(greedy[0], 0, plain("0"))
		b.runs(40)
	})
}

func TestClosingLeavesNothingRunning(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	store, err := session.Open(t.TempDir(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	b := &outputsBench{T: t, store: store, fake: newFakeGenerators()}
	b.o = newOutputs(b.fake)
	x := b.session("s")
	done := make(chan []made)
	wants := []want{plain("1"), plain("2"), plain("3")}
	go func() { done <- b.gather(x, -1, wants...) }()
	for b.fake.count() < 2 {
		b.gather(x, time.Millisecond, wants...)
	}
	b.o.Close()
	off := "(its run was called off)"
	b.expect(<-done, off, off, off)
	b.expect(b.gather(x, -1, wants...), off, off, off)
	if b.fake.now["all"] != 0 || b.fake.count() != 2 {
		t.Errorf("%d of %d runs are left", b.fake.now["all"], b.fake.count())
	}
	b.o.Close()
}
