package recipetest

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// slowRecipe has a required generator, $WORK/gen, whose output depends on the file input, and a read that waits for no optional one.
const slowRecipe = `
wait_ms: 0
env: {MARK: "$MARK"}
sources:
  - {type: computed_file, id: gen, generator: {command: ["$WORK/gen"], timeout_ms: 60000}, cache: {strategy: file_hash, invalidate_on: [input]}}
  - {type: journal}
`

// newSlow makes a session of slowRecipe whose generator waits for stage.pass.
func newSlow(t *testing.T, m *harness.Mount) *stage {
	s := newStage(t, m, owner())
	s.put("work/gen", "#!/bin/bash\n"+s.gated()+"\ncat input\n")
	s.put("work/input", "first\n")
	s.recipe(slowRecipe)
	s.say("user", "Begin.")
	return s
}

// A required generator that took longer than wait_ms was left out of the first pack without a word, and stood one turn late in all others.
func TestARequiredGeneratorThatIsSlowIsNeitherLeftOutNorLate(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newSlow(t, m)
	for _, input := range []string{"first\n", "second\n"} {
		s.put("work/input", input)
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				md, err := os.ReadFile(s.Path("context/pack.md"))
				if err != nil || !strings.Contains(string(md), input) || strings.Contains(string(md), "Out of date") {
					t.Errorf("%v\n%s", err, md)
				}
			})
		}
		s.pass()
		readers.Wait()
		if b := s.pack(); b.Stale {
			t.Errorf("stale:\n%s", b.md)
		}
	}
}

// While a reader waits for a required generator, others list the directory and write to its files: only who opens the pack, or asks for its size, waits.
func TestNoLookUpWaitsForARequiredGenerator(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newSlow(t, m)
	var reader sync.WaitGroup
	reader.Go(func() {
		if md, err := os.ReadFile(s.Path("context/pack.md")); err != nil || !strings.Contains(string(md), "first\n") {
			t.Errorf("%v\n%s", err, md)
		}
	})
	harness.Eventually(t, "the generator to run", func() bool { return len(s.alive()) > 0 })
	s.client("", `cd "$1"; ls context && echo idle > state && cat context/gc.policy messages.jsonl`, s.Dir).OK()
	s.pass()
	reader.Wait()
}

// A required generator that is not there in time, or fails, is an error, also where an earlier run has left an output.
func TestARequiredGeneratorThatFailsIsAnErrorAndNotTheOutputBefore(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for name, c := range map[string]struct{ command, reason string }{
		"fails":     {`[ ! -e bad ] && echo made || { echo no such model >&2; exit 3; }`, "exit status 3 (no such model)"},
		"times out": {`[ ! -e bad ] && echo made || exec sleep 1000`, "timed out after 700ms"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, m, owner())
			s.put("work/gen", "#!/bin/bash\n"+c.command+"\n")
			s.recipe("env: {MARK: \"$MARK\"}\nsources:\n  - {type: system_role}\n  - {type: computed_file, id: gen, generator: {command: [\"$WORK/gen\"], timeout_ms: 700}}\n  - {type: journal}\n")
			s.say("user", "Begin.")
			// On a machine that is busy enough a good run may time out, too.
			harness.Eventually(t, "a good run", func() bool { b, err := s.tryPack(); return err == nil && b.block("gen") == "made\n" })
			s.put("work/bad", "")
			s.say("user", "Again.")
			if b, err := s.tryPack(); !errors.Is(err, unix.ENODATA) {
				t.Errorf("got %v and\n%s", err, b.md)
			}
			s.wantError("gen", c.reason, "on_missing: skip")
		})
	}
}

// A program that waits for a required generator can be ended. A run may fail on a busy machine; who reads again starts another.
func TestAReaderThatWaitsForARequiredGeneratorCanBeKilled(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		s := newSlow(t, m)
		var cat *exec.Cmd
		ended := make(chan error, 1)
		start := func() {
			cat = exec.Command("cat", s.Path("context/pack.md"))
			if err := cat.Start(); err != nil {
				t.Fatal(err)
			}
			go func(cat *exec.Cmd) { ended <- cat.Wait() }(cat)
		}
		start()
		harness.Eventually(t, "the generator to run", func() bool {
			select {
			case <-ended:
				start()
			default:
			}
			return len(s.alive()) > 0
		})
		if err := cat.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if err := <-ended; err == nil {
			t.Errorf("%v: cat ended as if it had read all", signal)
		}
		result := make(chan error, 1)
		read := func() {
			_, err := os.ReadFile(s.Path("context/pack.md"))
			result <- err
		}
		go read()
		harness.Eventually(t, "the pack with what the generator made", func() bool {
			select {
			case err := <-result:
				if errors.Is(err, unix.ENODATA) {
					go read()
				} else if err != nil {
					t.Fatal(err)
				}
				return err == nil
			default:
				s.tryPass()
				return false
			}
		})
		s.want(s.settled(), "gen", "first\n")
	}
}
