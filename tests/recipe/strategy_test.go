package recipetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// said is one text of a native rendering and who says it.
type said struct{ role, text string }

// spoken returns the texts of a native rendering in their order, whatever its format, but for the goal at the end.
func (s *stage) spoken(format string) (all []said) {
	s.t.Helper()
	var body struct {
		System            []any
		SystemInstruction struct{ Parts []any }
		Config            struct{ SystemInstruction struct{ Parts []any } }
		Messages          []struct {
			Role    string
			Content any
		}
		Input []struct {
			Role    string
			Content any
		}
		Contents []struct {
			Role  string
			Parts any
		}
	}
	if err := json.Unmarshal([]byte(s.Read("context/pack."+format+".json")), &body); err != nil {
		s.t.Fatalf("%s: %v", format, err)
	}
	add := func(role string, content any) {
		if text, ok := content.(string); ok {
			content = []any{map[string]any{"text": text}}
		}
		parts, _ := content.([]any)
		for _, p := range parts {
			text, ok := p.(map[string]any)["text"].(string)
			if !ok {
				s.t.Fatalf("%s: a part without a text: %v", format, p)
			}
			if at := goalBegins.FindStringIndex(text); at != nil {
				text = strings.TrimSuffix(text[:at[0]], "\n")
			}
			if text = strings.TrimSuffix(harness.Unmarked(text), "\n"); text != "" {
				all = append(all, said{role, text})
			}
		}
	}
	add("system", body.System)
	add("system", append(body.SystemInstruction.Parts, body.Config.SystemInstruction.Parts...))
	for _, m := range append(body.Messages, body.Input...) {
		add(m.Role, m.Content)
	}
	for _, c := range body.Contents {
		add(c.Role, c.Parts)
	}
	return all
}

// goalBegins matches the mark before the goal.
var goalBegins = regexp.MustCompile(`(?m)^\[ctxfs \d+: [^\n]*\]\n# Context Block: goal\n`)

// joined returns texts as a format says them: OpenAI's have one string for texts of the user that
// follow each other.
func joined(format string, texts ...said) (all []said) {
	for _, x := range texts {
		last := len(all) - 1
		if last >= 0 && x.role == "user" && all[last].role == "user" && (format == "openai" || format == "responses") {
			all[last].text += "\n" + x.text
			continue
		}
		all = append(all, x)
	}
	return all
}

var formats = []string{"openai", "anthropic", "responses", "gemini", "genai"}

const strategyPlan = `{"goal":"G","issue":{"title":"Refresh fails","description":"Once a day."},"design":"Retry.","constraints":["no new dependency"],
"tasks":[{"id":"t1","title":"Retry it","description":"Three times.","acceptance":["no retry of 4xx"],"files":[{"operation":"modify","path":"a.go"}],
"steps":[{"description":"Test it","code":"x := 1","command":"go test"}]}],"current_task_id":"t1"}
`

const strategyDiff = "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n"

// What a strategy shows is one message of the user, before the conversation, in each format; pack.md has a block for each section, and
// pack.json what was compiled, token by token.
func TestSectionsAreAMessageOfTheUserInEachFormat(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for _, c := range []struct {
		strategy, recipe string
		sections         []string // names, and what they are from
		want             string
	}{
		{"architect", "", []string{"Issue: context/plan.json issue", "Design: context/plan.json design", "Constraints: context/plan.json constraints"},
			"## Issue\nRefresh fails\n\nOnce a day.\n\n## Design\nRetry.\n\n## Constraints\n- no new dependency"},
		{"developer", "", []string{"Task: context/plan.json tasks[current]", "Files: context/plan.json tasks[current].files", "Steps: context/plan.json tasks[current].steps"},
			"## Task\nRetry it\n\nThree times.\n\n## Files\n- modify: `a.go`\n\n## Steps\n### Step 1: Test it\n```\nx := 1\n```\nRun: `go test`"},
		{"reviewer", "", []string{"Diff: context/review.diff", "Task: context/plan.json tasks[current]", "Acceptance: context/plan.json tasks[current].acceptance"},
			"## Diff\n```diff\n" + strategyDiff + "```\n\n## Task\nRetry it\n\nThree times.\n\n## Acceptance\n- no retry of 4xx"},
		{"general", "", nil, ""},
		{"clerk", "strategies:\n  clerk:\n    sections:\n      - {name: Rules, text: Be brief.}\n      - {name: Guide, path: guide.md}\n      - {name: Nothing, path: nothing.md}\n",
			[]string{"Rules: recipe", "Guide: $WORK/guide.md"}, "## Rules\nBe brief.\n\n## Guide\nOf the workspace."},
	} {
		t.Run(c.strategy, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, m, owner())
			s.put("work/guide.md", "Of the workspace.\n")
			s.recipe("strategy: " + c.strategy + "\n" + c.recipe + "sources:\n  - {type: journal}\n")
			s.put("context/plan.json", strategyPlan)
			s.put("context/review.diff", strategyDiff)
			s.say("user", "Go.")
			b := s.settled()
			var compiled struct {
				Strategy struct {
					Name     string
					Sections []struct {
						Name, Source string
						Tokens       int
					}
				}
			}
			if err := json.Unmarshal([]byte(b.json), &compiled); err != nil {
				t.Fatal(err)
			}
			var sections []string
			for _, x := range compiled.Strategy.Sections {
				sections = append(sections, x.Name+": "+s.hide(x.Source))
				i := slices.IndexFunc(b.Items, func(it item) bool { return it.Kind == "section" && it.Source == x.Source })
				if i < 0 || b.Items[i].Tokens != x.Tokens || x.Tokens == 0 {
					t.Errorf("section %s has %d tokens; the items are %+v", x.Name, x.Tokens, b.Items)
				}
				if b.block(c.strategy+"/"+x.Name) == "" {
					t.Errorf("section %s is no block of\n%s", x.Name, b.md)
				}
				if row := fmt.Sprintf("| %s/%s: ", c.strategy, x.Name); !strings.Contains(s.Read("context/pack.report.md"), row) {
					t.Errorf("the report has no row %q:\n%s", row, s.Read("context/pack.report.md"))
				}
			}
			if compiled.Strategy.Name != c.strategy || !slices.Equal(sections, c.sections) {
				t.Errorf("pack.json has the strategy %s of %q, want %q", compiled.Strategy.Name, sections, c.sections)
			}
			want := []said{{"user", "Go."}}
			if c.want != "" {
				want = append([]said{{"user", c.want}}, want...)
			}
			for _, format := range formats {
				want := joined(format, want...)
				if got := s.spoken(format); !slices.Equal(got, want) {
					t.Errorf("%s says\n%q\nwant\n%q", format, got, want)
				}
			}
		})
	}
}

// A recipe's messages stand in each native rendering in place of the sections, variables untouched; pack.md goes on to show the sections.
func TestMessagesOfARecipeStandForTheSections(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.recipe("strategy: developer\nmessages:\n  - {role: system, content: Mind the ledger.}\n  - {role: user, content: \"## Mine\\n${CWD} costs $5\"}\nsources:\n  - {type: journal}\n")
	s.put("context/plan.json", strategyPlan)
	s.say("user", "Go.")
	for _, format := range formats {
		mine := said{"user", "## Mine\n${CWD} costs $5"}
		want := joined(format, said{"system", "Mind the ledger."}, mine, said{"user", "Go."})
		if got := s.spoken(format); !slices.Equal(got, want) {
			t.Errorf("%s says\n%q\nwant\n%q", format, got, want)
		}
	}
	if b := s.pack(); b.block("developer/Task") != "Retry it\n\nThree times.\n" || strings.Contains(b.md, "Mine") {
		t.Errorf("pack.md is\n%s", b.md)
	}
	// Messages that cannot fit make no rendering, in words, and leave pack.md alone.
	s.put("context/budget", "400\n")
	s.recipe("messages:\n  - {role: user, content: \"" + strings.Repeat("word ", 800) + "\"}\nsources:\n  - {type: journal}\n")
	if r := s.client("", "cat context/pack.openai.json"); !strings.Contains(r.Stderr, "File too large") {
		t.Errorf("800 words in 400 tokens: %.200s%s", r.Stdout, r.Stderr)
	}
	s.wantError("native renderings", "raise context/budget")
	if b := s.pack(); !strings.Contains(b.md, "Go.") {
		t.Errorf("pack.md is\n%s", b.md)
	}
}

// A plan that is wrong is refused where its writer looks, says where it is wrong, and leaves what was there.
func TestAWrongPlanIsRefusedAndTheOldOneStays(t *testing.T) {
	t.Parallel()
	harness.Need(t, "python3")
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.recipe("strategy: developer\nsources:\n  - {type: journal}\n")
	s.put("context/plan.json", strategyPlan)
	s.say("user", "Go.")
	want := s.pack().md
	for plan, words := range map[string]string{
		`{"goal":`:                          "it ends too early",
		`{"goal":x}`:                        "line 1, column 9",
		`[1]`:                               "it is a list",
		`{"goal":5}`:                        "goal: it must be a string, it is a number",
		`{"tasks":{}}`:                      "tasks: it must be a list of objects, it is an object",
		`{"tasks":[{"title":"x"}]}`:         "tasks[0].id: it is missing",
		`{"tasks":[{"id":"a"},{"id":"a"}]}`: `tasks[1].id: tasks[0] has the id "a" already`,
		`{"tasks":[{"id":"a","files":[{"path":"x"}]}]}`:                   "tasks[0].files[0].operation: it is missing",
		`{"tasks":[{"id":"a","steps":[{"done":"no"}]}]}`:                  "tasks[0].steps[0].done: it must be true or false",
		`{"tasks":[{"id":"a"}],"current_task_id":"b"}`:                    `current_task_id: no task has the id "b"`,
		`{"goal":"` + strings.Repeat("x", 1<<20) + `"}`:                   "the limit is 1048576",
		`{"tasks":[{"id":"a"}],"current_task_id":"a"} {"goal":"another"}`: "there is text after it",
	} {
		r := s.client(plan, `python3 -c 'import sys; f = open("context/plan.json", "w"); f.write(sys.stdin.read()); f.close()'`)
		if r.Code == 0 || !strings.Contains(r.Stderr, "Invalid argument") && !strings.Contains(r.Stderr, "Message too long") {
			t.Errorf("%.80s was taken: %s", plan, r.Stderr)
		}
		rows := s.Errors()
		if last := rows[len(rows)-1]; !strings.Contains(last.Reason, words) || last.Path != "context/plan.json" {
			t.Errorf("%.80s: %+v, want %q", plan, last, words)
		}
		if got := s.Read("context/plan.json"); got != strategyPlan {
			t.Errorf("after %.80s there stands %q", plan, got)
		}
	}
	if got := s.pack().md; got != want {
		t.Errorf("the pack is another:\n%s", got)
	}
	// Keys that nobody knows are kept, for programs that store more.
	more := strings.Replace(strategyPlan, `"goal"`, `"owner":{"team":1},"goal"`, 1)
	s.put("context/plan.json", more)
	if got := s.Read("context/plan.json"); got != more || s.pack().md != want {
		t.Errorf("with an unknown key: %q", got)
	}
}

// A diff larger than the pack is cut between lines, its fence closed, and both the pack and the report say where the rest is.
func TestAHugeDiffIsCutInItsFence(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.recipe("strategy: reviewer\ntotal_max_tokens: 4000\nsources:\n  - {type: journal}\n")
	s.put("context/plan.json", strategyPlan)
	var diff strings.Builder
	diff.WriteString("--- a/a.go\n+++ b/a.go\n@@ -1,9000 +1 @@\n")
	for i := range 9000 {
		fmt.Fprintf(&diff, "-line %d with ``` in it\n", i)
	}
	s.put("context/review.diff", diff.String())
	s.say("user", "Go.")
	b := s.pack()
	block := b.block("reviewer/Diff")
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	first := slices.Index(lines, "-line 0 with ``` in it")
	note := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "all of it in context/review.diff") })
	fence := lines[max(0, note-1)]
	if first != 4 || note != len(lines)-1 || len(fence) < 4 || strings.Trim(fence, "`") != "" || lines[0] != fence+"diff" {
		t.Fatalf("the block begins %q and ends %q", lines[:6], lines[len(lines)-4:])
	}
	for i, l := range lines[first : note-1] {
		if want := fmt.Sprintf("-line %d with ``` in it", i); l != want {
			t.Fatalf("line %d is %q, want %q", i, l, want)
		}
	}
	if !strings.Contains(b.block("reviewer/Acceptance"), "no retry of 4xx") || !strings.Contains(b.md, "Go.") {
		t.Errorf("the diff left no room for the rest:\n%.3000s", b.md)
	}
	if report := s.Read("context/pack.report.md"); !strings.Contains(report, "| reviewer/Diff: context/review.diff | ") {
		t.Errorf("the report is\n%s", report)
	}
	for _, format := range formats {
		said := len(joined(format, said{"user", "## Diff"}, said{"user", "Go."}))
		if got := s.spoken(format); len(got) != said || !strings.HasPrefix(got[0].text, "## Diff\n"+fence) || !strings.Contains(got[0].text, fence+"\n"+lines[note]+"\n\n## Task\n") {
			t.Errorf("%s says %.300q", format, got)
		}
	}
}
