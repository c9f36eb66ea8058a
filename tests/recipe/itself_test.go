package recipetest

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A file of the workspace that leads to the session's own pack is refused with a reason, for as long as it does; whoever reads
// the pack does not wait for what waits for him.
func TestASourceThatLeadsToItsOwnPackIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for _, to := range []string{"context/pack.md", "context/pack.json", "context/pack.openai.json/", "context/at/1/pack.md"} {
		for _, recipe := range []string{"", `
wait_ms: 60000
sources:
  - {type: file, id: AGENTS.md, path: "${CWD}/AGENTS.md", on_missing: skip}
  - {type: file, id: written, path: "$SESSION/` + to + `", on_missing: skip}
  - {type: computed_file, id: gen, generator: {command: [echo, made]}, cache: {strategy: file_hash, invalidate_on: ["*.md"]}}
  - {type: file, id: there, path: there.md, condition: {when: file_exists, path: AGENTS.md}}
  - {type: journal}
`} {
			s := newStage(t, m, owner())
			read := s.settled // the default waits half a second, which is short for the reader's first start on a busy machine
			if recipe != "" {
				read = s.pack
				s.recipe(recipe)
			}
			s.put("work/there.md", "It is there.\n")
			s.say("user", "Begin.")
			s.say("assistant", "Begun.")
			s.client("", `ln -s "$1" "$2/AGENTS.md"`, s.Dir+"/"+to, s.work).OK()
			for range 2 {
				b := read()
				if strings.Contains(b.md, "AGENTS.md") || !strings.Contains(b.md, "Begin.") || b.Stale {
					t.Errorf("%s: stale %v, the pack is\n%s", to, b.Stale, b.md)
				}
				want := 1
				if recipe != "" {
					want = 2
					s.want(b, "gen", "made\n")
					s.want(b, "there", "It is there.\n")
				}
				if report := s.Read("context/pack.report.md"); strings.Count(report, source.ReasonPack) < want {
					t.Errorf("%s: the reason is not %d times in\n%s", to, want, report)
				}
			}
			s.client("", `rm "$1/AGENTS.md"; echo 'The guide.' > "$1/AGENTS.md"`, s.work).OK()
			s.want(read(), "AGENTS.md", "The guide.\n")
		}
	}
}

// Two sessions whose files lead to each other's packs wait for nobody, either.
func TestSourcesThatLeadInACircleAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	a, b := newStage(t, m, owner()), newStage(t, m, owner())
	for _, s := range []*stage{a, b} {
		s.recipe("wait_ms: 60000\nsources: [{type: file, path: other.md, on_missing: skip}, {type: journal}]\n")
		s.say("user", "Begin.")
	}
	a.client("", `ln -s "$1" "$2/other.md"`, b.Path("context/pack.md"), a.work).OK()
	b.client("", `ln -s "$1" "$2/other.md"`, a.Path("context/pack.md"), b.work).OK()
	for _, s := range []*stage{a, b} {
		if got := s.pack(); got.Stale || got.block("other.md") != "" {
			t.Errorf("stale %v, the pack is\n%s", got.Stale, got.md)
		}
		if report := s.Read("context/pack.report.md"); !strings.Contains(report, source.ReasonPack) {
			t.Errorf("no reason in\n%s", report)
		}
	}
}

// A workspace that is a part of the mount itself.
func TestCwdInsideTheMount(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for _, cwd := range []string{"$SESSION", "$SESSION/context", "$HOME_IN_MOUNT", "$SESSION/context/line"} {
		s := newStage(t, m, owner())
		s.put("cwd", cwd)
		s.put("home/DELTA.md", "Guide of the home.\n")
		s.put("context/todo.md", "- [ ] one\n")
		s.recipe(`
wait_ms: 50
env: {MARK: "$MARK"}
sources:
  - {type: file, path: "${CWD}/DELTA.md", on_missing: skip}
  - {type: file, id: todo file, path: todo.md, on_missing: skip}
  - {type: file, id: itself, path: pack.md, on_missing: skip}
  - {type: file, id: itself from above, path: session/s1/context/pack.md, on_missing: skip}
  - {type: computed_file, id: gen, on_missing: skip, generator: {command: [sh, -c, "pwd; ls | wc -l; cat pack.md >/dev/null 2>&1; true"]}, cache: {strategy: file_hash, invalidate_on: ["src/**"]}}
  - {type: journal}
  - {type: file, id: there, path: messages.jsonl, on_missing: skip, phase: dynamic, condition: {when: file_exists, path: pack.md}}
`)
		s.say("user", "Begin.")
		for range 3 {
			if md := s.Read("context/pack.md"); !strings.Contains(md, "Begin.") {
				t.Errorf("cwd %s: the pack is\n%s", cwd, md)
			}
		}
		s.wantGone()
		harness.Eventually(t, "what a generator says in "+cwd, func() bool { return strings.Contains(s.Read("context/pack.md"), s.expand(cwd)+"\n") })
	}
}
