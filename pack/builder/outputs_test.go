package builder

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/source"
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
					if !again && !b.unchanged(x, last, w) {
						b.Error("it changed")
					}
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
		b.fake.last().answer <- source.Output{Data: []byte("one")}
		synctest.Wait()
		if b.unchanged(x, last, w) {
			b.Error("the end of the run is not seen")
		}
		b.expect(b.gather(x, time.Second, w), "one")

		w.history = "2"
		last = b.gather(x, time.Second, w)
		b.expect(last, "one (stale: it is still running"+behind+")")
		b.fake.last().answer <- source.Output{Data: []byte("two")}
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
			w.stages = []source.Command{{Args: []string{w.history}}}
			b.gather(x, 0, w)
		}
		synctest.Wait()
		b.runs(1)
		if b.fake.last().canceled {
			b.Error("the run was cancelled")
		}
		b.fake.last().answer <- source.Output{Data: []byte("one")}
		synctest.Wait()
		b.runs(2)
		b.expect(b.gather(x, 0, w), "one (stale: it is still running"+behind+")")
		if got := b.fake.last().command.Args[0]; got != "later 9" {
			b.Errorf("ran for %q", got)
		}
		b.fake.last().answer <- source.Output{Data: []byte("two")}
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
		b.fake.last().answer <- source.Output{Data: []byte("one")}
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
		b.fake.last().answer <- source.Output{Data: []byte("one")}
		synctest.Wait()
		b.runs(2)
		b.fake.last().answer <- source.Output{Data: []byte("two")}
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
		w.stages = []source.Command{{Args: []string{"a"}, Stdin: []byte("0")}, {Args: []string{"b"}}, {Args: []string{"c"}, Output: "/work/out.md"}}
		b.fake.auto = func(c source.Command) (source.Output, error) {
			return source.Output{Data: append(bytes.Clone(c.Stdin), c.Args[0]...), Sandbox: "uid 7", Stderr: "hm\n"}, nil
		}
		got := b.gather(x, time.Second, w)
		b.expect(got, "0abc")
		if got[0].path != "/work/out.md" {
			b.Errorf("path %q", got[0].path)
		}
		if want := "sandbox: uid 7\nstage 1 of 3: stderr: hm\nstage 2 of 3: stderr: hm\nstage 3 of 3: stderr: hm"; got[0].note != want {
			b.Errorf("note %q", got[0].note)
		}
		b.fake.auto = func(c source.Command) (source.Output, error) {
			if c.Args[0] == "b" {
				return source.Output{Failed: "timed out after 30s"}, nil
			}
			return source.Output{Data: []byte{0xff}}, nil
		}
		w.history = "2"
		b.expect(b.gather(x, time.Second, w), "0abc (stale: stage 2 of 3: timed out after 30s"+behind+")")
		b.runs(5)
	})
}

func TestWhatASourceMayGive(t *testing.T) {
	for _, c := range []struct {
		name string
		out  source.Output
		err  error
		want string
	}{
		{"nothing", source.Output{}, nil, ""},
		{"NUL", source.Output{Data: []byte("a\x00b")}, nil, "(it is not text)"},
		{"invalid UTF-8", source.Output{Data: []byte("a\xffb")}, nil, "(it is not text)"},
		{"the most", source.Output{Data: []byte(aBitMore(""))}, nil, aBitMore("")},
		{"too much", source.Output{Data: []byte(aBitMore("y"))}, nil, "(it gave 4194305 bytes, 4194304 are allowed)"},
		{"no runner", source.Output{}, errors.New("gone"), "(it could not be run: gone)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(b *outputsBench) {
				b.fake.auto = func(source.Command) (source.Output, error) { return c.out, c.err }
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
