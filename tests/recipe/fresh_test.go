package recipetest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A change of anything that a recipe names is seen by the very next read.
func TestAChangeIsSeenByTheNextRead(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	const all = `
wait_ms: 60000
sources:
  - {type: system_role}
  - {type: tools}
  - {type: skills}
  - {type: pinned}
  - {type: memory}
  - {type: knowledge}
  - {type: playbook}
  - {type: file, id: guide, path: "${CWD}/DELTA.md", on_missing: skip}
  - {type: file, id: deep, path: "${CWD}/a/b/c.md", on_missing: skip}
  - {type: file, id: gate, path: f.md, on_missing: skip, condition: {when: file_exists, path: "${CWD}/gate"}}
  - type: computed_file
    id: gen
    generator: {command: ["sh", "-c", "echo X=$X; cat src/input* 2>/dev/null; true"]}
    cache: {strategy: file_hash, invalidate_on: ["src/**"]}
  - {type: handoff}
  - {type: summary}
  - {type: facts}
  - {type: decisions}
  - {type: refs}
  - {type: journal}
  - {type: errors}
  - {type: plan}
  - {type: todo}
`
	for _, c := range []struct {
		file    string
		before  string // "": not there
		after   string // "": removed
		recipe  string // "": all
		was, is string // what the pack holds
	}{
		{file: "work/DELTA.md", before: "Old guide.", after: "New guide.", was: "Old guide.", is: "New guide."},
		{file: "work/DELTA.md", before: "", after: "New guide.", is: "New guide."},
		{file: "work/DELTA.md", before: "Old guide.", after: "", was: "Old guide."},
		{file: "work/a/b/c.md", before: "", after: "Deep.", is: "Deep."},
		{file: "work/gate", before: "", after: "x", is: "the gate is open"},
		{file: "work/gate", before: "x", after: "", was: "the gate is open"},
		{file: "home/system_prompt.md", before: "Old prompt.", after: "New prompt.", was: "Old prompt.", is: "New prompt."},
		{file: "home/system_prompt.md", before: "", after: "New prompt.", is: "New prompt."},
		{file: "home/tools.json", before: `[{"name":"old"}]`, after: `[{"name":"new"}]`, was: `"old"`, is: `"new"`},
		{file: "home/memory/m.md", before: "Begin with old things.", after: "Begin with new things.", was: "old things", is: "new things"},
		{file: "home/memory/m.md", before: "", after: "Begin with new things.", is: "new things"},
		{file: "home/memory/m.md", before: "Begin with old things.", after: "", was: "old things"},
		{file: "home/knowledge/http/k.md", before: "Begin with old knowledge.", after: "Begin with new knowledge.", was: "old knowledge", is: "new knowledge"},
		{file: "home/knowledge/http/k.md", before: "", after: "Begin with new knowledge.", is: "new knowledge"},
		{file: "home/playbooks/p.md", before: "How to begin the old way.", after: "How to begin the new way.", was: "old way", is: "new way"},
		{file: "home/skills/s/SKILL.md", before: "---\nname: s\nactive: true\n---\nOld skill.", after: "---\nname: s\nactive: true\n---\nNew skill.", was: "Old skill.", is: "New skill."},
		{file: "home/skills/s/SKILL.md", before: "---\nname: s\nactive: true\n---\nOld skill.", after: "---\nname: s\nactive: false\n---\nOld skill.", was: "Old skill."},
		{file: "meta.json", before: `{}`, after: `{"skills":["listed"]}`, is: "The listed skill."},
		{file: "meta.json", before: `{"skills":["listed"]}`, after: `{"skills":[]}`, was: "The listed skill."},
		{file: "context/pinned/p.md", before: "", after: "New pin.", is: "New pin."},
		{file: "context/handoff.md", before: "Old handoff.", after: "New handoff.", was: "Old handoff.", is: "New handoff."},
		{file: "context/summary.md", before: "Old summary.", after: "New summary.", was: "Old summary.",
			is: "New summary.", recipe: "sources: [{type: summary}]"},
		{file: "context/facts.jsonl", before: `{"id":"f","text":"old fact"}`, after: `{"id":"f","text":"new fact"}`, was: "old fact", is: "new fact"},
		{file: "context/decisions.jsonl", before: `{"id":"d","decision":"old one"}`, after: `{"id":"d","decision":"new one"}`, was: "old one", is: "new one"},
		{file: "context/refs.jsonl", before: `{"id":"r","path":"old.go","kind":"file"}`, after: `{"id":"r","path":"new.go","kind":"file"}`, was: "old.go", is: "new.go"},
		{file: "context/plan.json", before: `{"goal":"the old goal","tasks":[]}`, after: `{"goal":"the new goal","tasks":[]}`, was: "the old goal", is: "the new goal"},
		{file: "context/todo.md", before: "- [ ] old step", after: "- [ ] new step", was: "old step", is: "new step"},
		{file: "context/env", before: "X=old\n", after: "X=new\n", recipe: "env: {X: recipe}\n" + all, was: "X=old", is: "X=new"},
		{file: "context/env", before: "X=old\n", after: "", recipe: "env: {X: recipe}\n" + all, was: "X=old", is: "X=recipe"},
		{file: "work/src/input", before: "old input\n", after: "new input\n", was: "old input", is: "new input"},
		{file: "work/src/input2", before: "", after: "more input\n", is: "more input"},
		{file: "work/src/input2", before: "old input\n", after: "", was: "old input"},
		{file: "home/context.yaml", before: "wait_ms: 60000\nsources: [{type: file, id: old, path: f.md}, {type: journal}]", after: "wait_ms: 60000\nsources: [{type: file, id: new, path: f.md}, {type: journal}]", was: "Block: old", is: "Block: new"},
		{file: "home/context.yaml", before: "wait_ms: 60000\nsources: [{type: file, id: old, path: f.md}, {type: journal}]", after: "", was: "Block: old", is: "The listed file of the default"},
		{file: "context/context.yaml", before: "", after: "wait_ms: 60000\nsources: [{type: file, id: new, path: f.md}, {type: journal}]", is: "Block: new"},
		{file: "context/context.yaml", before: "wait_ms: 60000\nsources: [{type: file, id: old, path: f.md}, {type: journal}]", after: "", was: "Block: old"},
		{file: "home/base.yaml", recipe: "import: ./base.yaml\nsources: [{type: journal}]", before: "sources: [{type: file, id: old, path: f.md}]", after: "sources: [{type: file, id: new, path: f.md}]", was: "Block: old", is: "Block: new"},
		{file: "home/node_modules/@a/b/context.yaml", recipe: "import: '@a/b'\nsources: [{type: journal}]", before: "sources: [{type: file, id: old, path: f.md}]", after: "sources: [{type: file, id: new, path: f.md}]", was: "Block: old", is: "Block: new"},
		{file: "home/packages/p/deep.yaml", recipe: "import: mid.yaml\nsources: [{type: journal}]", before: "sources: [{type: file, id: old, path: f.md}]", after: "sources: [{type: file, id: new, path: f.md}]", was: "Block: old", is: "Block: new"},
		{file: "context/plan.json", recipe: "strategy: architect\nsources: [{type: journal}]", before: `{"issue":{"title":"old title","description":""},"tasks":[]}`, after: `{"issue":{"title":"new title","description":""},"tasks":[]}`, was: "old title", is: "new title"},
		{file: "context/review.diff", recipe: "strategy: reviewer\nsources: [{type: journal}]", before: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+old line\n", after: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+new line\n", was: "old line", is: "new line"},
		{file: "state", before: "idle", after: "active", recipe: "sources: [{type: journal}, {type: file, id: busy, path: f.md, phase: dynamic, condition: {when: state_is, state: [active]}}]", is: "Block: busy"},
		{file: "context/budget", before: "9000", after: "32000", recipe: "sources: [{type: file, id: wide, path: f.md, condition: {when: budget_at_least, tokens: 10000}}, {type: journal}]", is: "Block: wide"},
		{file: "cwd", before: "$WORK", after: "$WORK/elsewhere", was: "x of work", is: "x of elsewhere"},
	} {
		what := "of"
		switch {
		case c.before == "":
			what = "creation of"
		case c.after == "":
			what = "removal of"
		}
		t.Run(strings.ReplaceAll(what+" "+c.file, "/", "_"), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, m, owner())
			s.putAll([]file{{"work/f.md", "the gate is open\n"}, {"work/DELTA.md", "x of work\n"}, {"work/elsewhere/DELTA.md", "x of elsewhere\n"},
				{"work/AGENTS.md", "The listed file of the default\n"}, {"home/skills/listed/SKILL.md", "---\nname: listed\n---\nThe listed skill.\n"},
				{"home/mid.yaml", "import: ./packages/p/deep.yaml\n"}})
			if c.recipe == "" {
				c.recipe = all
			}
			if !strings.Contains(c.recipe, "wait_ms:") { // so that no reader is too slow
				c.recipe = "wait_ms: 60000\n" + c.recipe
			}
			if c.file != "home/context.yaml" {
				s.recipe(c.recipe)
			}
			s.say("user", "Begin with the API.")
			set := func(text string) {
				t.Helper()
				if text == "" {
					s.client("", `rm -f "$1"`, s.path(c.file)).OK()
				} else {
					s.put(c.file, text)
				}
			}
			set(c.before)
			old := s.pack()
			if !strings.Contains(old.md, c.was) || c.is != "" && strings.Contains(old.md, c.is) {
				t.Fatalf("before the change, want %q and not %q:\n%s\n%s", c.was, c.is, old.md, s.tail("context/errors.jsonl"))
			}
			set(c.after)
			read := s.pack
			if c.file == "home/context.yaml" && c.after == "" { // the default does not wait so long
				read = s.settled
			}
			now := read()
			if !strings.Contains(now.md, c.is) || c.was != "" && strings.Contains(now.md, c.was) {
				t.Errorf("after the change, want %q and not %q:\n%s\n%s", c.is, c.was, now.md, s.tail("context/errors.jsonl"))
			}
			if now.PackID == old.PackID {
				t.Error("another pack under the same pack_id")
			}
			if now.HeadSHA256 != old.HeadSHA256 && string(now.Epoch) == string(old.Epoch) {
				t.Errorf("another head in the same epoch %s", now.Epoch)
			}
			if string(now.Epoch) != string(old.Epoch) && now.EpochReason == "" {
				t.Error("a new epoch without a reason")
			}
			set(c.before)
			if again := s.pack(); again.md != old.md {
				t.Errorf("changed back, the pack is\n%s\nand was\n%s", again.md, old.md)
			}
		})
	}
}

// gated makes a FIFO at which a generator waits for the test, and gives the words
// of its script that do so.
func (s *stage) gated() (script string) {
	s.client("", `rm -f "$1" && mkfifo "$1"`, s.path("work/gate.fifo")).OK()
	return `read -r go < gate.fifo; echo passed >> passed`
}

// pass frees the run that waits, and returns when it does. It waits until there is one.
func (s *stage) pass() {
	s.t.Helper()
	passed := s.lines("work/passed")
	defer harness.Eventually(s.t, "a run to pass the gate", func() bool { return s.lines("work/passed") > passed })
	harness.Eventually(s.t, "a run at the gate", s.tryPass)
}

// tryPass frees the run that waits, and reports whether there was one.
func (s *stage) tryPass() bool {
	s.t.Helper()
	f, err := os.OpenFile(s.path("work/gate.fifo"), os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err == nil {
		defer f.Close()
		_, err = f.WriteString("go\n")
	}
	// ENXIO: nobody has it open for reading. EPIPE: who had has ended since, or was freed before.
	if err != nil && !errors.Is(err, unix.ENXIO) && !errors.Is(err, unix.EPIPE) {
		s.t.Fatal(err)
	}
	return err == nil
}

// A generator slower than wait_ms is seen by the read after it ended; meanwhile the last output stands, marked stale.
func TestASlowGeneratorIsSeenAfterItEnded(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/gen", "#!/bin/bash\n"+s.gated()+"\necho run >> runs\ncat input\n")
	s.put("work/input", "first\n")
	s.recipe(`
wait_ms: 100
env: {MARK: "$MARK"}
sources:
  - {type: computed_file, id: gen, on_missing: skip, generator: {command: ["$WORK/gen"], timeout_ms: 60000}, cache: {strategy: file_hash, invalidate_on: [input]}}
  - {type: journal}
`)
	s.say("user", "Begin.")
	// Nothing yet: it is left out.
	b := s.pack()
	if !b.Stale || b.block("gen") != "" || !strings.Contains(b.md, "Begin.") || !strings.Contains(b.md, "\nOut of date: gen omitted, no content yet\n") {
		t.Errorf("while it runs for the first time, stale is %v:\n%s", b.Stale, b.md)
	}
	s.pass()
	s.wantGone()
	harness.Eventually(t, "the first output", func() bool { return s.pack().block("gen") == "first\n" })
	s.want(s.settled(), "gen", "first\n") // nothing runs any more
	s.put("work/input", "second\n")
	b = s.pack()
	if s.want(b, "gen", "first\n"); !b.Stale || !strings.Contains(b.md, "\nOut of date: gen shown with earlier content\n") {
		t.Error("not stale while the new output is being made")
	}
	harness.Eventually(t, "a read that saw the changed input to start it", func() bool { // one on a busy machine has no time to look at it
		s.want(s.pack(), "gen", "first\n")
		return len(s.alive()) > 0
	})
	for range 20 { // does not start it again
		s.want(s.pack(), "gen", "first\n")
	}
	s.pass()
	s.wantGone()
	harness.Eventually(t, "the second output", func() bool { return s.pack().block("gen") == "second\n" })
	if n := s.lines("work/runs"); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
}

// What changes while a generator runs is not lost: it runs once more.
func TestAnInputThatChangesDuringARunIsSeen(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/gen", "#!/bin/bash\nx=$(cat input); echo run >> runs\n[ -e passed ] || { "+s.gated()+"; }\necho \"$x\"\n")
	s.put("work/input", "first\n")
	s.recipe(`
wait_ms: 50
env: {MARK: "$MARK"}
sources:
  - {type: computed_file, id: gen, on_missing: skip, generator: {command: ["$WORK/gen"], timeout_ms: 60000}, cache: {strategy: file_hash, invalidate_on: [input]}}
  - {type: journal}
`)
	s.say("user", "Begin.")
	s.pack()
	harness.Eventually(t, "the first run to have read its input", func() bool { return s.lines("work/runs") == 1 })
	s.put("work/input", "second\n")
	s.pack()
	s.pass()
	harness.Eventually(t, "the second output", func() bool { return s.pack().block("gen") == "second\n" })
	for range 10 {
		s.pack()
	}
	if n := s.lines("work/runs"); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
}

// One change of one source makes that block anew and leaves the others as they are.
func TestOneChangeRunsOneGenerator(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	var yaml strings.Builder
	yaml.WriteString("wait_ms: 60000\nsources:\n")
	const n = 8
	for i := range n {
		fmt.Fprintf(&yaml, "  - {type: computed_file, id: g%d, generator: {command: [sh, -c, 'echo run >> runs%d; cat in%d']}, cache: {strategy: file_hash, invalidate_on: [in%d]}}\n", i, i, i, i)
		s.put(fmt.Sprintf("work/in%d", i), fmt.Sprintf("input %d\n", i))
	}
	yaml.WriteString("  - {type: journal}\n")
	s.recipe(yaml.String())
	s.say("user", "Begin.")
	old := s.pack()
	s.put("work/in3", "changed\n")
	now := s.pack()
	for i := range n {
		id, runs, want := fmt.Sprintf("g%d", i), 1, fmt.Sprintf("input %d\n", i)
		s.want(old, id, want)
		if i == 3 {
			runs, want = 2, "changed\n"
		}
		s.want(now, id, want)
		if got := s.lines(fmt.Sprintf("work/runs%d", i)); got != runs {
			t.Errorf("%s ran %d times, want %d", id, got, runs)
		}
	}
}
