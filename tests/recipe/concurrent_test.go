package recipetest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// Messages, recipes, inputs, pins and readers at once: each pack that anybody
// reads is whole and keeps the promises, and in the end it is the one that a
// new daemon makes of the same files.
func TestEverythingAtOnce(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, harness.Self())
	recipe := func(i int) string {
		return fmt.Sprintf(`
wait_ms: 20
total_max_tokens: 3000
sources:
  - {type: pinned}
  - {type: file, id: round%d, path: f.md, on_missing: skip}
  - {type: computed_file, id: gen, on_missing: skip, generator: {command: [sh, -c, "cat in; echo done"]}, cache: {strategy: file_hash, invalidate_on: [in]}}
  - {type: computed_file, id: turn, on_missing: skip, phase: dynamic, generator: {command: [sh, -c, "wc -l < $CTX_SESSION/messages.jsonl"]}}
  - {type: journal}
`, i%7)
	}
	write := func(name, text string) error {
		if err := os.WriteFile(s.path(name)+".new", []byte(text), 0o600); err != nil {
			return err
		}
		return os.Rename(s.path(name)+".new", s.path(name))
	}
	const rounds = 120
	s.put("home/context.yaml", recipe(0))
	s.say("user", "Begin.")
	stop := make(chan struct{})
	var writers, readers sync.WaitGroup
	run := func(wg *sync.WaitGroup, f func() error) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := f(); err != nil {
				t.Error(err)
			}
		}()
	}
	each := func(f func(i int) error) func() error {
		return func() error {
			for i := range rounds {
				if err := f(i); err != nil {
					return err
				}
			}
			return nil
		}
	}
	log, err := os.OpenFile(s.Path("messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	run(&writers, each(func(i int) error {
		_, err := log.WriteString(harness.Message([]string{"assistant", "user"}[i%2], strings.Repeat(fmt.Sprint("message ", i, ". "), 1+i%40)))
		return err
	}))
	run(&writers, each(func(i int) error { return write("home/context.yaml", recipe(i)) }))
	run(&writers, each(func(i int) error { return write("work/in", fmt.Sprint("input ", i, "\n")) }))
	run(&writers, each(func(i int) error { return write("work/f.md", strings.Repeat("line of f\n", i)) }))
	run(&writers, each(func(i int) error {
		return os.WriteFile(s.Path(fmt.Sprintf("context/pinned/p%d", i%3)), []byte(fmt.Sprint("pin ", i, "\n")), 0o600)
	}))
	for range 4 {
		run(&readers, func() error {
			for {
				select {
				case <-stop:
					return nil
				default:
				}
				md, err := os.ReadFile(s.Path("context/pack.md"))
				if err != nil {
					return err
				}
				if !strings.HasPrefix(string(md), "# Context Block: ") || !strings.HasSuffix(string(md), "\n") || strings.Contains(string(md), "\x00") {
					return fmt.Errorf("a pack is torn:\n%s", md)
				}
			}
		})
	}
	writers.Wait()
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	close(stop)
	readers.Wait()
	if err := write("home/context.yaml", strings.Replace(recipe(rounds-1), "wait_ms: 20\n", "wait_ms: 60000\n", 1)); err != nil { // time for all there is
		t.Fatal(err)
	}
	harness.Eventually(t, "the last outputs", func() bool {
		b := s.pack()
		return !b.Stale && b.block("gen") == fmt.Sprintf("input %d\ndone\n", rounds-1) && b.block("turn") == fmt.Sprintln(rounds+1)
	})
	b := s.pack()
	for _, what := range b.unaccounted(rounds + 1) {
		t.Error(what)
	}
	if rows := s.Errors(); len(rows) > 0 {
		t.Errorf("errors.jsonl has %+v", rows)
	}
	m.Restart()
	if after := s.settled(); after.md != b.md {
		t.Errorf("after a restart\n%s\nbefore\n%s", after.md, b.md)
	}
}
