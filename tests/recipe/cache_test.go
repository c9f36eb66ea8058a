package recipetest

import (
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// counting is a generator that counts its runs.
const counting = `generator: {command: ["sh", "-c", "echo run >> runs; cat src/*.go"]}`

// reads reads the pack n times, as programs that look again and again do.
func (s *stage) reads(n int) {
	s.t.Helper()
	first := s.Read("context/pack.md")
	for range n - 1 {
		if md := s.Read("context/pack.md"); md != first {
			s.t.Fatalf("nothing changed, but the pack did:\n%s\n%s", first, md)
		}
	}
}

func (s *stage) wantRuns(n int, when string) {
	s.t.Helper()
	if got := s.lines("work/runs"); got != n {
		s.t.Fatalf("%d runs %s, want %d", got, when, n)
	}
}

func TestACachedGeneratorIsNotRunAgainByReads(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/src/a.go", "package a\n")
	s.recipe("wait_ms: 60000\nsources:\n  - {type: computed_file, id: gen, " + counting + `, cache: {strategy: file_hash, invalidate_on: ["src/**/*.go"]}}` + "\n  - {type: journal}\n")
	s.say("user", "Begin.")
	s.reads(1000)
	s.wantRuns(1, "after 1,000 reads")
	s.say("assistant", "Yes.")
	s.put("work/notes.md", "no input\n")
	s.reads(10)
	s.wantRuns(1, "after a message and a file that is no input")
	s.put("work/src/a.go", "package b\n")
	s.want(s.pack(), "gen", "package b\n")
	s.reads(100)
	s.wantRuns(2, "after a changed input")
	s.put("work/src/deep/c.go", "package c\n")
	s.reads(100)
	s.wantRuns(3, "after a new input")
	m.Restart()
	s.want(s.pack(), "gen", "package b\n")
	s.reads(100)
	s.wantRuns(3, "after a restart")
	s.client("", `cd "$1" && rm src/a.go && echo 'package d' > src/d.go`, s.work).OK()
	s.want(s.pack(), "gen", "package d\n")
	s.wantRuns(4, "after a restart and a changed input")
	m.Kill()
	m.Restart()
	s.want(s.pack(), "gen", "package d\n")
	s.wantRuns(4, "after a crash")
	// The entry of the recipe is an input, too.
	s.recipe("wait_ms: 60000\nsources:\n  - {type: computed_file, id: gen, generator: {command: [sh, -c, 'echo run >> runs; echo other']}, " + `cache: {strategy: file_hash, invalidate_on: ["src/**/*.go"]}}` + "\n  - {type: journal}\n")
	s.want(s.pack(), "gen", "other\n")
	s.reads(10)
	s.wantRuns(5, "after another command")
}

// A directory that is named without a wildcard is not an input that never changes.
func TestADirectoryAmongTheInputsIsAllBelowIt(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/src/a.go", "package a\n")
	s.recipe("wait_ms: 60000\nsources:\n  - {type: computed_file, id: gen, " + counting + `, cache: {strategy: file_hash, invalidate_on: [src/]}}` + "\n  - {type: journal}\n")
	s.say("user", "Begin.")
	s.reads(10)
	s.wantRuns(1, "at first")
	s.put("work/src/a.go", "package b\n")
	s.want(s.pack(), "gen", "package b\n")
	s.put("work/src/deep/er/c.md", "c\n")
	s.put("work/notes.md", "no input\n")
	s.reads(10)
	s.wantRuns(3, "after a change and a new file below it")
}

func TestWithoutACacheAGeneratorRunsOnceATurn(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/src/a.go", "package a\n")
	s.recipe("wait_ms: 60000\nsources:\n  - {type: computed_file, id: gen, " + counting + "}\n  - {type: journal}\n")
	s.say("user", "Begin.")
	s.reads(1000)
	s.wantRuns(1, "after 1,000 reads")
	s.say("assistant", "Yes.")
	s.reads(10)
	s.wantRuns(2, "after a message")
	m.Restart()
	s.reads(10)
	s.wantRuns(2, "after a restart")
}

func TestARefreshAtCompactionsWaitsForOne(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/src/a.go", "package a\n")
	s.recipe("wait_ms: 60000\ntotal_max_tokens: 2000\nsources:\n  - {type: computed_file, id: gen, refresh: compaction, max_tokens: 50, " + counting + "}\n  - {type: journal}\n")
	s.say("user", "Begin.")
	b := s.pack()
	for i := 0; b.Compactions == 0; i++ {
		s.wantRuns(1, "before a compaction")
		if i == 200 {
			t.Fatal("no compaction")
		}
		s.say("assistant", strings.Repeat("Some words of an answer. ", 20))
		b = s.pack()
	}
	s.wantRuns(1+b.Compactions, "after a compaction")
}

// A cache of a time is no clock in the pack: the age of an output is judged when somebody looks.
func TestACacheThatNeverHoldsRunsAtEachLookThatBuilds(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/src/a.go", "package a\n")
	s.recipe("wait_ms: 60000\nsources:\n  - {type: computed_file, id: gen, " + counting + ", cache: {strategy: never}}\n  - {type: journal}\n")
	s.say("user", "Begin.")
	s.pack()
	n := s.lines("work/runs")
	if n == 0 {
		t.Fatal("it did not run")
	}
	s.put("work/src/a.go", "package b\n")
	s.want(s.pack(), "gen", "package b\n")
	if s.lines("work/runs") <= n {
		t.Error("it did not run again")
	}
}

func TestATTLIsKeptAcrossARestart(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/src/a.go", "package a\n")
	s.recipe("wait_ms: 60000\nsources:\n  - {type: computed_file, id: gen, " + counting + ", cache: {strategy: ttl, ttl: 1h}}\n  - {type: journal}\n")
	s.say("user", "Begin.")
	s.reads(100)
	s.say("assistant", "Yes.")
	s.reads(10)
	m.Restart()
	s.reads(10)
	s.wantRuns(1, "within an hour")
}

// A pipeline runs again from its first stage, once.
func TestAPipelineRunsOnce(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/in", "b\na\n")
	s.recipe(`
wait_ms: 60000
sources:
  - type: pipeline
    id: pipe
    on_missing: skip
    stages:
      - {generator: [sh, -c, "echo run >> runs; cat in"], output: "${CWD}/tmp.txt"}
      - {generator: [sh, -c, "echo run >> runs; sort"]}
      - {generator: [sh, -c, "echo run >> runs; sed s/^/-/"], output: final.md}
    cache: {strategy: file_hash, invalidate_on: [in]}
  - {type: journal}
`)
	s.say("user", "Begin.")
	s.reads(100)
	s.want(s.pack(), "pipe", "-a\n-b\n")
	s.wantRuns(3, "of three stages")
	s.put("work/in", "d\nc\n")
	s.want(s.pack(), "pipe", "-c\n-d\n")
	s.wantRuns(6, "after a change")
	os.Remove(s.path("work/in"))
	s.pack()
	s.reads(10)
	if n := s.lines("work/runs"); n > 9 {
		t.Errorf("%d runs of a pipeline whose input is gone", n)
	}
}

// With a cache by file_hash a touch, or a checkout that wrote the same content again, ran the program again.
func TestAFileThatWasTouchedRunsNoGenerator(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/src/a.go", "package a\n")
	s.recipe("sources:\n  - {type: computed_file, id: gen, " + counting + `, cache: {strategy: file_hash, invalidate_on: ["src/**/*.go"]}}` + "\n  - {type: journal}\n")
	s.say("user", "Begin.")
	s.pack()
	s.wantRuns(1, "at first")
	s.client("", `cd "$1"; touch src/a.go; cp src/a.go b; mv b src/a.go; touch -d 2001-01-01 src/a.go`, s.work).OK()
	s.reads(3)
	s.wantRuns(1, "after the same content was written again")
	s.put("work/src/a.go", "package b\n")
	s.pack()
	s.wantRuns(2, "after other content was")
}
