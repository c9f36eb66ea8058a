package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
	"go.uber.org/goleak"
)

func TestAThousandGathersAreOneRun(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), hashed("map")
		b.fake.auto = says("one")
		b.fake.files["/work"] = inputs{fingerprint: "a"}
		last := b.gather(x, time.Second, w)
		for i := range 1000 {
			w.history = fmt.Sprint(i)
			b.expect(b.gather(x, time.Second, w), "one")
			if !b.unchanged(x, last, w) {
				b.Fatal("something changed")
			}
		}
		b.runs(1)
		b.fake.set(func() { b.fake.auto, b.fake.files["/work"] = says("two"), inputs{fingerprint: "b"} })
		if b.unchanged(x, last, w) {
			b.Fatal("a changed input is not seen")
		}
		for range 1000 {
			b.expect(b.gather(x, time.Second, w), "two")
		}
		b.runs(2)
	})
}

// What makes a source run again, and what does not, by its cache.
func TestASourceRunsAgainWhenWhatItDependsOnChanged(t *testing.T) {
	changes := map[string]func(b *outputsBench, w *want){
		"nothing": func(*outputsBench, *want) {},
		"history": func(_ *outputsBench, w *want) { w.history += "1" },
		"entry":   func(_ *outputsBench, w *want) { w.entry += "1" },
		"files":   func(b *outputsBench, _ *want) { b.fake.files["/work"] = inputs{fingerprint: "b"} },
		"time":    func(*outputsBench, *want) { time.Sleep(time.Minute) },
		"long":    func(*outputsBench, *want) { time.Sleep(time.Hour) },
	}
	for _, c := range []struct {
		cache recipe.Cache
		again string // the changes that run it
	}{
		{recipe.Cache{}, "history entry"},
		{recipe.Cache{Strategy: recipe.CacheFileHash, InvalidateOn: []string{"*"}}, "entry files"},
		{recipe.Cache{Strategy: recipe.CacheTTL, TTL: time.Hour}, "entry long"},
		{recipe.Cache{Strategy: recipe.CacheNever}, "nothing history entry files time long"},
	} {
		for name, change := range changes {
			t.Run(string(c.cache.Strategy)+" "+name, func(t *testing.T) {
				inBubble(t, func(b *outputsBench) {
					x, w := b.session("s"), plain("map")
					w.cache = c.cache
					b.fake.auto = says("one")
					last := b.gather(x, time.Second, w)
					change(b, &w)
					again := strings.Contains(c.again, name)
					if b.unchanged(x, last, w) == again {
						b.Errorf("unchanged is %v", again)
					}
					b.runs(1)
					b.expect(b.gather(x, time.Second, w), "one")
					if again {
						b.runs(2)
					} else {
						b.runs(1)
					}
				})
			})
		}
	}
}

func TestASlowSourceIsGivenByTheNextGatherAfterItsEnd(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), plain("map")
		start := time.Now()
		last := b.gather(x, time.Second, w)
		b.expect(last, "(pending: it is still running)")
		if d := time.Since(start); d != time.Second {
			b.Errorf("waited for %v", d)
		}
		if !b.unchanged(x, last, w) {
			b.Error("a run that goes on is no change")
		}
		start = time.Now()
		b.expect(b.gather(x, time.Second, w), "(pending: it is still running)")
		if d := time.Since(start); d != 0 {
			b.Errorf("waited for %v again", d)
		}
		b.fake.last().answer <- Output{Data: []byte("one")}
		synctest.Wait()
		if b.unchanged(x, last, w) {
			b.Error("the end of the run is not seen")
		}
		b.expect(b.gather(x, time.Second, w), "one")

		w.history = "2"
		last = b.gather(x, time.Second, w)
		b.expect(last, "one (stale: it is still running"+behind+")")
		b.fake.last().answer <- Output{Data: []byte("two")}
		synctest.Wait()
		b.expect(b.gather(x, time.Second, w), "two")
		b.runs(2)
	})
}

func TestChangesDuringARunAreOneMoreRun(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), plain("map")
		b.gather(x, 0, w)
		for i := range 10 {
			w.history = fmt.Sprint("later ", i)
			w.stages = []Command{{Args: []string{w.history}}}
			b.gather(x, 0, w)
		}
		synctest.Wait()
		b.runs(1)
		if b.fake.last().canceled {
			b.Error("the run was cancelled")
		}
		b.fake.last().answer <- Output{Data: []byte("one")}
		synctest.Wait()
		b.runs(2)
		b.expect(b.gather(x, 0, w), "one (stale: it is still running"+behind+")")
		if got := b.fake.last().command.Args[0]; got != "later 9" {
			b.Errorf("ran for %q", got)
		}
		b.fake.last().answer <- Output{Data: []byte("two")}
		synctest.Wait()
		b.expect(b.gather(x, 0, w), "two")
		b.runs(2)
	})
}

func TestGathersAtOnceShareARun(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), plain("map")
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if got := inWords(b.gather(x, -1, w)[0]); got != "one" {
					b.Errorf("made %q", got)
				}
			})
		}
		synctest.Wait()
		b.fake.last().answer <- Output{Data: []byte("one")}
		all.Wait()
		b.runs(1)
	})
}

func TestWhoComesDuringARunOfNeverGetsTheNext(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), plain("map")
		w.cache.Strategy = recipe.CacheNever
		b.gather(x, 0, w)
		synctest.Wait()
		got := make(chan []made)
		for range 3 {
			go func() { got <- b.gather(x, -1, w) }()
		}
		synctest.Wait()
		b.fake.last().answer <- Output{Data: []byte("one")}
		synctest.Wait()
		b.runs(2)
		b.fake.last().answer <- Output{Data: []byte("two")}
		for range 3 {
			b.expect(<-got, "two")
		}
	})
}

func TestAFailedRunLeavesWhatWasThereAndPauses(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), plain("map")
		b.fake.auto = fails("exit status 3")
		for i, pause := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
			last := b.gather(x, time.Second, w)
			b.expect(last, "(exit status 3)")
			b.runs(i + 1)
			time.Sleep(time.Duration(pause)*time.Second - time.Nanosecond)
			b.gather(x, time.Second, w)
			if b.runs(i + 1); !b.unchanged(x, last, w) {
				b.Error("a pause is no change")
			}
			time.Sleep(time.Nanosecond)
			if b.unchanged(x, last, w) {
				b.Error("the end of the pause is not seen")
			}
		}
		b.fake.set(func() { b.fake.auto = says("one") })
		b.expect(b.gather(x, time.Second, w), "one")
		b.runs(9)

		b.fake.set(func() { b.fake.auto = fails("exit status 4") })
		w.history = "2"
		got := b.gather(x, time.Second, w)
		b.expect(got, "one (stale: exit status 4"+behind+")")
		if got[0].note != "stderr: boom" {
			b.Errorf("note %q", got[0].note)
		}
		w.history = "3" // does not wait for the pause
		b.gather(x, time.Second, w)
		b.runs(11)
		w.history = "1" // is what the good run was made from
		b.expect(b.gather(x, time.Second, w), "one")
		b.runs(11)
	})
}

func TestAStageGetsWhatTheOneBeforeGave(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), plain("map")
		w.stages = []Command{{Args: []string{"a"}, Stdin: []byte("0")}, {Args: []string{"b"}}, {Args: []string{"c"}, Output: "/work/out.md"}}
		b.fake.auto = func(c Command) (Output, error) {
			return Output{Data: append(bytes.Clone(c.Stdin), c.Args[0]...), Sandbox: "uid 7", Stderr: "hm\n"}, nil
		}
		got := b.gather(x, time.Second, w)
		b.expect(got, "0abc")
		if got[0].path != "/work/out.md" {
			b.Errorf("path %q", got[0].path)
		}
		if want := "sandbox: uid 7\nstage 1 of 3: stderr: hm\nstage 2 of 3: stderr: hm\nstage 3 of 3: stderr: hm"; got[0].note != want {
			b.Errorf("note %q", got[0].note)
		}
		b.fake.auto = func(c Command) (Output, error) {
			if c.Args[0] == "b" {
				return Output{Failed: "ended after 30s"}, nil
			}
			return Output{Data: []byte{0xff}}, nil
		}
		w.history = "2"
		b.expect(b.gather(x, time.Second, w), "0abc (stale: stage 2 of 3: ended after 30s"+behind+")")
		b.runs(5)
	})
}

func TestWhatASourceMayGive(t *testing.T) {
	for _, c := range []struct {
		name string
		out  Output
		err  error
		want string
	}{
		{"nothing", Output{}, nil, ""},
		{"NUL", Output{Data: []byte("a\x00b")}, nil, "(it is not text)"},
		{"invalid UTF-8", Output{Data: []byte("a\xffb")}, nil, "(it is not text)"},
		{"the most", Output{Data: []byte(aBitMore(""))}, nil, aBitMore("")},
		{"too much", Output{Data: []byte(aBitMore("y"))}, nil, "(it gave 4194305 bytes, 4194304 are allowed)"},
		{"no runner", Output{}, errors.New("gone"), "(it could not be run: gone)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(b *outputsBench) {
				b.fake.auto = func(Command) (Output, error) { return c.out, c.err }
				x := b.session("s")
				b.expect(b.gather(x, -1, plain("map")), c.want)
				if n := b.o.size(x.ID()); n < len(c.out.Data) && !strings.HasPrefix(c.want, "(") {
					b.Errorf("its size is %d", n)
				}
				b.expect(b.gather(x, -1, want{name: "empty"}), "(it has no command)")
			})
		})
	}
}

func TestACachedSourceDoesNotRunAgainAfterARestart(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		wants := []want{plain("plain"), hashed("hashed"), plain("ttl"), plain("failing")}
		wants[2].cache = recipe.Cache{Strategy: recipe.CacheTTL, TTL: time.Hour}
		b.fake.auto = func(c Command) (Output, error) {
			if c.Args[0] == "failing" {
				return Output{Failed: "exit status 1"}, nil
			}
			return Output{Data: []byte(c.Args[0]), Sandbox: "uid 7"}, nil
		}
		before := b.gather(b.session("s"), -1, wants...)
		for i, o := range []session.Options{{}, {ReadOnly: true}} {
			b.restart(o)
			got := b.gather(b.session("s"), -1, wants[:3]...)
			b.expect(got, "plain", "hashed", "ttl")
			b.runs(0)
			if got[0].sha256 != before[0].sha256 || got[0].note != before[0].note {
				b.Errorf("restart %d: %+v, before %+v", i, got[0], before[0])
			}
		}
		b.restart(session.Options{})
		b.fake.auto = says("new")
		time.Sleep(time.Hour)
		b.expect(b.gather(b.session("s"), -1, wants...), "plain", "hashed", "new", "new")
		b.runs(2)
	})
}

func TestATornOrForeignOutputIsAbsent(t *testing.T) {
	for _, name := range []string{"torn", "foreign", "of another source", "of another format"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *outputsBench) {
				b.fake.auto = says("old")
				x := b.session("s")
				b.gather(x, -1, plain("map"))
				file := storedName("map")
				data, err := x.Derived(file)
				if err != nil {
					b.Fatal(err)
				}
				switch name {
				case "torn":
					f, err := b.disk.OpenFile(x.Dir()+"/.ctxfs/"+file, 2, 0)
					if err != nil {
						b.Fatal(err)
					}
					f.Truncate(int64(len(data)))
					f.Close()
				case "foreign":
					x = b.session("other")
					x.SetDerived(file, data)
				case "of another source":
					x.SetDerived(file, bytes.Replace(data, []byte(`"name":"map"`), []byte(`"name":"mop"`), 1))
				case "of another format":
					x.SetDerived(file, bytes.Replace(data, []byte(`"format":1`), []byte(`"format":2`), 1))
				}
				place := x.Ref().Session
				b.restart(session.Options{})
				b.fake.auto = says("new")
				b.expect(b.gather(b.session(place), -1, plain("map")), "new")
				b.runs(1)
			})
		})
	}
}

func TestNothingIsStoredInAStoreThatIsReadOnly(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		b.session("s")
		b.restart(session.Options{ReadOnly: true})
		b.fake.auto = says("one")
		x := b.session("s")
		_, before := b.disk.Ops()
		b.expect(b.gather(x, -1, plain("map")), "one")
		b.o.retain(x, nil)
		if _, after := b.disk.Ops(); after != before {
			b.Errorf("%d changes of the disk", after-before)
		}
	})
}

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
		b.fake.of("third").answer <- Output{Data: []byte("3")}
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
		b.fake.last().answer <- Output{Data: []byte("one")}
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
		b.fake.at(0).answer <- Output{}
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
				b.fake.at(done).answer <- Output{}
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

func TestInputsThatAreLateRunNothingTwice(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), hashed("map")
		b.fake.auto, b.fake.lookFor, b.fake.files["/work"] = says("one"), 3*time.Second, inputs{fingerprint: "a"}
		b.expect(b.gather(x, time.Second, w), "(pending: it is still running)")
		time.Sleep(10 * time.Second)
		last := b.gather(x, time.Second, w)
		b.expect(last, "one (stale: its inputs were not looked at in time"+behind+")")
		if !b.unchanged(x, last, w) {
			b.Error("late again is no change")
		}
		b.fake.set(func() { b.fake.lookFor = 0 })
		if b.unchanged(x, last, w) {
			b.Error("inputs that are known now are no change")
		}
		b.expect(b.gather(x, time.Second, w), "one")
		b.runs(1)
	})
}

func TestInputsThatCannotBeKnownGoByTheHistory(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), hashed("map")
		b.fake.auto, b.fake.files["/work"] = says("one"), inputs{reason: "too many files"}
		b.gather(x, -1, w)
		b.gather(x, -1, w)
		b.runs(1)
		w.history = "2"
		b.gather(x, -1, w)
		b.runs(2)
	})
}

func TestWhatIsEvictedIsReadAgain(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x := b.session("s")
		b.fake.auto = says("one")
		last := b.gather(x, -1, plain("map"))
		b.o.evict(x.ID())
		if n := b.o.size(x.ID()); n != 0 {
			b.Errorf("%d bytes are held", n)
		}
		if b.unchanged(x, last, plain("map")) {
			b.Error("what is not remembered cannot be known to be unchanged")
		}
		b.expect(b.gather(x, -1, plain("map")), "one")
		b.runs(1)
		b.fake.auto = nil
		b.gather(x, 0, plain("slow"))
		synctest.Wait()
		b.o.drop(x.ID())
		synctest.Wait()
		if !b.fake.last().canceled || b.o.size(x.ID()) != 0 {
			b.Error("a run of a session that was removed goes on")
		}
	})
}

func TestClosingLeavesNothingRunning(t *testing.T) {
	defer goleak.VerifyNone(t)
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
