package recipetest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A recipe that is saved half-finished: the pack goes on with the last good one and reports the mistake.
func TestAWrongRecipeLeavesTheLastGoodOne(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for _, where := range []string{"home/context.yaml", "context/context.yaml", "home/base.yaml"} {
		t.Run(strings.ReplaceAll(where, "/", "_"), func(t *testing.T) {
			s := newStage(t, m, owner())
			s.put("work/f.md", "The file.\n")
			if where == "home/base.yaml" {
				s.recipe("import: ./base.yaml\nsources: [{type: journal}]\n")
			}
			const good = "sources:\n  - {type: file, id: good, path: f.md}\n  - {type: journal}\n"
			s.put(where, good)
			s.say("user", "Begin.")
			before := s.settled()
			s.want(before, "good", "The file.\n")
			file := where[strings.Index(where, "/")+1:]
			for i, c := range []struct {
				yaml, at string // where the error is
				words    []string
			}{
				{"sources:\n  - {type: file, id: new, path: f.md}\n  - {type: fil}\n", "3:", []string{"fil", "computed_file"}},
				{"sources:\n  - {type: file, id: new, path: f.md}\n    colour: red\n", "3:", nil},
				{"sources:\n  - type: file\n    id: new\n    path: f.md\n    colour: red\n", "5:5", []string{"colour"}},
				{"total_max_tokens: many\nsources: []\n", "1:19", []string{"total_max_tokens"}},
				{"sources: [\n", "", nil},
				{"sources: [{type: journal}]\nimport: ./nowhere.yaml\n", "2:", []string{"nowhere.yaml"}},
			} {
				s.put(where, c.yaml)
				row := regexp.MustCompile(regexp.QuoteMeta(file) + ":" + c.at)
				s.say("assistant", fmt.Sprint("Answer ", i))
				b := s.settled()
				s.want(b, "good", "The file.\n")
				if !slices.ContainsFunc(s.Errors(), func(r harness.ErrorRow) bool {
					text := r.Path + " " + r.Reason
					return row.MatchString(text) && !slices.ContainsFunc(c.words, func(w string) bool { return !strings.Contains(text, w) })
				}) {
					t.Errorf("%d: errors.jsonl has no row that names %s and %q", i, row, c.words)
				}
				if !strings.Contains(b.md, fmt.Sprint("Answer ", i)) || strings.Contains(b.md, file+":") {
					t.Errorf("%d: the last good recipe does not go on over the history of now:\n%s", i, b.md)
				}
				report := s.Read("context/pack.report.md")
				if head := report[:min(len(report), 1500)]; !row.MatchString(head) {
					t.Errorf("%d: the top of the report does not say %s:\n%s", i, row, report)
				}
				if i == 2 {
					m.Restart()
					s.want(s.settled(), "good", "The file.\n")
				}
			}
			s.put(where, strings.Replace(good, "id: good", "id: better", 1))
			b := s.settled()
			s.want(b, "better", "The file.\n")
			if report := s.Read("context/pack.report.md"); strings.Contains(report, file+":") {
				t.Errorf("the mended recipe's report:\n%s", report)
			}
		})
	}
}

// There was no good one yet: the default goes on.
func TestAWrongFirstRecipeLeavesTheDefault(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/AGENTS.md", "The guide.\n")
	s.recipe("sources: [{type: nothing}]\n")
	s.say("user", "Begin.")
	s.want(s.settled(), "AGENTS.md", "The guide.\n")
	s.wantError("context.yaml:1:", "nothing")
}

// What the last good recipe is, survives a restart and is part of the pack's id.
func TestTheLastGoodRecipeSurvivesARestart(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/f.md", "The file.\n")
	s.recipe("sources: [{type: file, id: good, path: f.md}, {type: journal}]\n")
	s.say("user", "Begin.")
	s.want(s.settled(), "good", "The file.\n")
	s.recipe("sources: [")
	wrong := s.settled()
	m.Restart()
	if after := s.settled(); after.md != wrong.md || after.PackID != wrong.PackID {
		t.Errorf("after a restart %s\n%s\nbefore %s\n%s", after.PackID, after.md, wrong.PackID, wrong.md)
	}
	m.Kill()
	m.Restart()
	if after := s.settled(); after.md != wrong.md {
		t.Errorf("after a crash\n%s", after.md)
	}
	if err := os.Remove(s.path("home/context.yaml")); err != nil {
		t.Fatal(err)
	}
	if b := s.settled(); b.block("good") != "" {
		t.Errorf("without a recipe, not the default one:\n%s", b.md)
	}
}

// Whoever reads, and how often: a mistake is told once, and again only when it was made again.
func TestAMistakeIsReportedOncePerChange(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/f.md", "The file.\n")
	s.say("user", "Begin.")
	const good = "sources: [{type: file, id: good, path: f.md}, {type: journal}]\n"
	rows := func() (n int) {
		for _, r := range s.Errors() {
			if r.Op == "recipe" {
				n++
			}
		}
		return n
	}
	look := func(want int) {
		t.Helper()
		for i := range 10 {
			for _, name := range []string{"context/pack.md", "context/pack.json", "context/pack.report.md", "context/pack.openai.json"} {
				s.Read(name)
			}
			if i == 5 {
				s.say("assistant", "A record.")
			}
		}
		if n := rows(); n != want {
			t.Errorf("%d rows, want %d: %+v", n, want, s.Errors())
		}
	}
	s.recipe(good)
	look(0)
	s.recipe("sources: [{type: fil}]\n")
	look(1)
	m.Restart()
	look(1)
	s.recipe("sources: [{type: fil}] # another text, the same mistake in the same place\n")
	look(1)
	s.recipe(good)
	look(1)
	s.recipe("sources: [{type: fil}]\n")
	look(2)
	s.recipe("modle: x\nwait_ms: y\nsources: [{type: fil}]\n")
	look(5)
	if md := s.Read("context/pack.md"); strings.Contains(md, "fil}") || strings.Contains(md, "modle") {
		t.Errorf("the mistake is in the pack:\n%s", md)
	}
}
