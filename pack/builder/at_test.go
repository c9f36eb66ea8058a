package builder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/source"
)

// What At gives for a moment is what Current gave then, while no file changed.
func TestAPackOfAnEarlierMomentIsTheOneThatWasGivenThen(t *testing.T) {
	d := newDesk(t, Config{Budget: 1500})
	defer d.b.Close()
	var then []*pack.Build
	for i := range 40 {
		d.append(fmt.Appendf(nil, `{"role":"%s","content":"message %d %s"}`, []string{"user", "assistant"}[i%2], i, strings.Repeat(fmt.Sprint("w", i*i, " "), 20)))
		if i%3 == 1 {
			d.event(fmt.Appendf(nil, `{"type":"tool_call","id":"c%d","name":"run","arguments":"ls %d"}`, i, i))
			d.event(fmt.Appendf(nil, `{"type":"tool_result","tool_call_id":"c%d","content":"%s"}`, i, strings.Repeat(fmt.Sprint("file", i, " "), 40)))
		}
		if i%7 == 2 {
			d.event([]byte(`{"type":"error","message":"disk full"}`))
		}
		then = append(then, d.pack())
	}
	if then[39].Epoch[0] == '0' {
		t.Fatal("nothing was compacted")
	}
	ctx := context.Background()
	for _, n := range []int{40, 1, 39, 20, 2, 20, 33, 7, 12} {
		b, err := d.b.At(ctx, d.x, n)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Markdown, then[n-1].Markdown) || b.ID != then[n-1].ID {
			t.Errorf("at %d: not the pack of that moment:\n%s\n-- then:\n%s", n, b.Markdown, then[n-1].Markdown)
		}
	}
	random := rand.New(rand.NewPCG(1, suite.Seed()))
	for range 300 {
		n := 1 + random.IntN(40)
		if b, err := d.b.At(ctx, d.x, n); err != nil || !bytes.Equal(b.Markdown, then[n-1].Markdown) || b.ID != then[n-1].ID ||
			!bytes.Equal(b.JSON(), then[n-1].JSON()) || !bytes.Equal(b.Report, then[n-1].Report) || b.Messages != n {
			t.Fatalf("at %d, out of order: %v\n%s\n-- then:\n%s", n, err, b.JSON(), then[n-1].JSON())
		}
	}
	if _, err := d.b.At(ctx, d.x, 41); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("at 41 of 40: %v", err)
	}
	if b, err := d.b.At(ctx, d.x, 0); err != nil || strings.Contains(string(b.Markdown), "## ") {
		t.Errorf("at 0: %v\n%s", err, b.Markdown)
	}
}

// Readers of many earlier moments beside an appender and readers of the present get what each moment gave.
func TestEarlierMomentsAreReadBesideAnAppender(t *testing.T) {
	d := newDesk(t, Config{Budget: 1200})
	defer d.b.Close()
	const all = 60
	var then [all + 1]atomic.Pointer[pack.Build]
	var at atomic.Int64
	then[0].Store(d.pack())
	var wg sync.WaitGroup
	for reader := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(reader)))
			for at.Load() < all {
				n := rnd.IntN(int(at.Load()) + 1)
				b, err := d.b.At(context.Background(), d.x, n)
				if err != nil {
					t.Errorf("at %d: %v", n, err)
					return
				}
				if was := then[n].Load(); b.ID != was.ID || !bytes.Equal(b.Markdown, was.Markdown) || !bytes.Equal(b.JSON(), was.JSON()) {
					t.Errorf("at %d: not the pack of that moment:\n%s\n-- then:\n%s", n, b.JSON(), was.JSON())
					return
				}
				for _, f := range native.Formats {
					if _, err := d.b.Native(d.x, b, f); err != nil {
						t.Errorf("at %d as %s: %v", n, f, err)
					}
				}
			}
		})
	}
	for i := range all {
		d.append(fmt.Appendf(nil, `{"role":"%s","content":"message %d %s"}`, []string{"user", "assistant"}[i%2], i, strings.Repeat(fmt.Sprint("w", i*i, " "), 20)))
		if b, err := d.b.At(context.Background(), d.x, i+1); err != nil || b.Messages != i+1 {
			t.Fatalf("at the last one: %+v, %v", b, err)
		}
		then[i+1].Store(d.pack())
		at.Store(int64(i + 1))
	}
	wg.Wait()
	e := d.b.entry(d.x.ID())
	if _, err := d.b.At(context.Background(), d.x, 1); err != nil {
		t.Fatal(err)
	}
	if n := len(e.past.builds); n > maxPast || e.past.size.Load() != int64(e.past.bytes()) {
		t.Errorf("%d builds, %d bytes, counted as %d", n, e.past.bytes(), e.past.size.Load())
	}
}

// A generator that reads earlier packs of its own session waits for nobody: neither for itself nor for others who
// wait for it.
func TestAGeneratorReadsEarlierMoments(t *testing.T) {
	d, f := computing(t, nil)
	in := &insider{fakeGenerators: f, pid: 77, session: d.x.ID()}
	inside := WithCaller(context.Background(), 77)
	d.append(packtest.Message("assistant", "ok"))
	d.append(packtest.Message("user", "and now?"))
	f.auto = func(source.Command) (source.Output, error) {
		for _, n := range []int{1, 3, 0, 2} { // while the outer ones hold the session
			b, err := d.b.At(inside, d.x, n)
			if err != nil || b.Messages != n {
				t.Errorf("at %d: %+v, %v", n, b, err)
			}
		}
		if _, err := d.b.At(inside, d.x, 99); !errors.Is(err, ctxabi.ErrNotFound) {
			t.Error(err)
		}
		return source.Output{Data: []byte("A map.\n")}, nil
	}
	c := d.b.config
	c.Generators = in
	d.builder(c)
	d.write("../../context.yaml", mapRecipe)
	for range 2 {
		if b, err := d.b.At(context.Background(), d.x, 2); err != nil || !strings.Contains(string(b.Markdown), "A map.") || strings.Contains(string(b.Markdown), "and now?") {
			t.Fatalf("%v\n%s", err, b.Markdown)
		}
		d.append(packtest.Message("user", "more"))
	}
	if f.count() != 2 {
		t.Errorf("%d runs for two states of the history: an earlier moment ran something", f.count())
	}
}

// Of a source that runs only for a task, an earlier pack has the output when that was the task, and not otherwise.
func TestAnEarlierMomentHasTheComputedSourcesOfItsTask(t *testing.T) {
	d, _ := computing(t, func(source.Command) (source.Output, error) { return source.Output{Data: []byte("A map.\n")}, nil })
	d.write("../../context.yaml", `
sources:
  - {type: journal}
  - {type: computed_file, id: map, generator: {command: [make-map]}, condition: {when: task_contains, pattern: "map"}}
  - {type: todo}
`)
	then := []*pack.Build{d.pack()}
	for _, text := range []string{"draw the map", "something else", "the map again"} {
		d.append(packtest.Message("user", text))
		then = append(then, d.pack())
	}
	for i, was := range then {
		n := i + 1
		b, err := d.b.At(context.Background(), d.x, n)
		if err != nil || b.ID != was.ID || !bytes.Equal(b.Markdown, was.Markdown) {
			t.Errorf("at %d: %v\n%s\n-- then:\n%s", n, err, b.Markdown, was.Markdown)
		}
		if strings.Contains(string(b.Markdown), "A map.") != (n%2 == 0) {
			t.Errorf("at %d:\n%s", n, b.Markdown)
		}
	}
}
