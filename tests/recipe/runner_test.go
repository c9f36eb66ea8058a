package recipetest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// runnerOf returns the pid of the child of a daemon, 0 where it has none.
func runnerOf(daemon int) int {
	for pid, stat := range harness.Processes("stat") {
		f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(f) > 1 && string(f[0]) != "Z" && string(f[1]) == fmt.Sprint(daemon) {
			return pid
		}
	}
	return 0
}

func TestPacksRecoverFromDeadRunner(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, harness.Self())
	s.say("user", "hello")
	s.put("work/AGENTS.md", "Old guide.\n")
	s.put("work/in", "old input\n")
	s.recipe(`
sources:
  - {type: file, id: guide, path: "${CWD}/AGENTS.md", on_missing: skip}
  - {type: computed_file, id: gen, on_missing: skip, generator: {command: ["cat", "in"]}, cache: {strategy: file_hash, invalidate_on: ["in"]}}
  - {type: journal}
`)
	harness.Eventually(t, "the first pack", func() bool {
		pack := s.Read("context/pack.md")
		return strings.Contains(pack, "Old guide.") && strings.Contains(pack, "old input")
	})
	for range 2 {
		if err := unix.Kill(runnerOf(m.PID()), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		s.put("work/AGENTS.md", "New guide.\n")
		s.put("work/in", "new input\n")
		harness.Eventually(t, "a current pack", func() bool {
			pack := s.Read("context/pack.md")
			return strings.Contains(pack, "New guide.") && strings.Contains(pack, "new input") && !strings.Contains(pack, "Out of date")
		})
		harness.Eventually(t, "a runner", func() bool { return runnerOf(m.PID()) != 0 })
	}
	for _, want := range []string{"level=ERROR", "the runner process ended", "times=2", "signal: killed"} {
		if !strings.Contains(m.Log.String(), want) {
			t.Errorf("the log has no %q:\n%s", want, m.Log)
		}
	}
	if said := m.CLI(t, "doctor", "--store", m.Store); !strings.Contains(said.Stdout, "ended 2 times") {
		t.Errorf("doctor does not report the ends:\n%s", said.Stdout)
	}
}
