package recipetest

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A program before the journal that prints the time began a new prefix with each of its runs.
func TestATimestampInAStableBlockKeepsThePrefix(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.recipe("sources:\n  - {type: computed_file, id: now, phase: stable, generator: {command: [sh, -c, 'echo run >> runs; echo \"Runs so far are many. Current time: $(date +%s)$(wc -l < runs | tr -dc 0-9)00\"; echo The map.']}}\n  - {type: journal}\n")
	s.say("user", "Begin.")
	first := s.pack()
	s.say("assistant", "Done.")
	second := s.pack()
	if first.PrefixSHA256 == "" || string(first.Epoch) != string(second.Epoch) || !strings.HasPrefix(second.md, first.md[:first.PrefixBytes]) {
		t.Errorf("epoch %s, then %s, the packs are\n%s\n%s", first.Epoch, second.Epoch, first.md, second.md)
	}
	if s.want(second, "now", "Runs so far are many. Current time: [time: at the end of the prompt]\nThe map.\n"); !strings.Contains(second.block("goal"), "now: Runs so far are many. Current time: 1") {
		t.Errorf("the time is not in the goal:\n%s", second.md)
	}
}
