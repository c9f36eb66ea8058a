package blocks

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

var testStrategies = []recipe.Strategy{
	{Name: "architect", Sections: []recipe.Section{{Name: "Issue", From: "plan.issue", Required: true}, {Name: "Design", From: "plan.design"}}},
	{Name: "bug-hunter", Sections: []recipe.Section{{Name: "Rules", Text: "Find it."}}},
	{Name: "developer", Sections: []recipe.Section{{Name: "Task", From: "plan.task", Required: true}, {Name: "Files", From: "plan.files"}, {Name: "Steps", From: "plan.steps"}}},
	{Name: "general"},
	{Name: "hunter"},
	{Name: "reviewer"},
}

func TestStrategyIsChosen(t *testing.T) {
	all := func(recipe.Section) string { return "" }
	for _, c := range []struct{ written, agent, want, note string }{
		{"", "developer", "developer", ""},
		{"", "Developer", "developer", ""},
		{"", "developer-2", "developer", ""},
		{"", "senior.developer", "developer", ""},
		{"", "team_developer_eu", "developer", ""},
		{"", "developers", "general", ""},
		{"", "coder", "general", ""},
		{"", "general", "general", ""},
		{"", "", "general", ""},
		{"", "code-architect-reviewer", "reviewer", ""},
		{"", "reviewer-architect", "architect", ""},
		{"", "bug-hunter-7", "bug-hunter", ""},
		{"", "hunter-bug", "hunter", ""},
		{"", "hunter-bug-hunter-hunter", "bug-hunter", ""},
		{"reviewer", "developer", "reviewer", ""},
		{"tester", "developer", "general", `there is no strategy "tester"`},
	} {
		s, note := ChooseStrategy(&recipe.Recipe{Strategy: c.written, Strategies: testStrategies}, c.agent, all)
		if s.Name != c.want || !strings.Contains(note, c.note) || c.note == "" && note != "" {
			t.Errorf("%q, agent %q: %s, %q; want %s, %q", c.written, c.agent, s.Name, note, c.want, c.note)
		}
	}
	if s, _ := ChooseStrategy(nil, "nobody", all); s.Name != "general" {
		t.Errorf("without a recipe: %s", s.Name)
	}
	if s, _ := ChooseStrategy(&recipe.Recipe{}, "developer", all); s.Name != "general" {
		t.Errorf("without strategies: %s", s.Name)
	}
}

// The words say what to write, and where.
func TestADeveloperWithoutATaskGetsTheGeneralStrategy(t *testing.T) {
	r := &recipe.Recipe{Strategies: testStrategies}
	for plan, want := range map[string]string{
		``:   "there is no context/plan.json",
		"\n": "there is no context/plan.json",
		`{}`: "context/plan.json has no current task: set its current_task_id",
		`{"tasks":[{"id":"a","description":"do it"}]}`:                   "context/plan.json has no current task: set its current_task_id",
		`{"tasks":[{"id":"a","title":" "}],"current_task_id":"a"}`:       "the current task of context/plan.json has no title and no description",
		`{"tasks":[{"id":"a","description":"x"}],"current_task_id":"a"}`: "",
		`{"tasks":[{"id":"a","title":"x"}],"current_task_id":"a"}`:       "",
	} {
		name, wrong := StrategyOf(r, "developer", []byte(plan), nil)
		if want == "" {
			if name != "developer" || wrong != "" {
				t.Errorf("%s: %s, %q", plan, name, wrong)
			}
		} else if full := "the strategy developer needs its section Task, but " + want + "; general is used"; name != "general" || wrong != full {
			t.Errorf("%s: %s, %q, want %q", plan, name, wrong, full)
		}
	}
}

func TestARequiredSectionSaysWhatItLacks(t *testing.T) {
	const plan = `{"tasks":[{"id":"a","title":"x"}],"current_task_id":"a"}`
	for _, c := range []struct {
		section recipe.Section
		want    string
	}{
		{recipe.Section{From: "plan.issue"}, "context/plan.json has no issue"},
		{recipe.Section{From: "plan.design"}, "context/plan.json has no design"},
		{recipe.Section{From: "plan.constraints"}, "context/plan.json has no constraints"},
		{recipe.Section{From: "plan.files"}, "the current task of context/plan.json has no files"},
		{recipe.Section{From: "plan.steps"}, "the current task of context/plan.json has no steps"},
		{recipe.Section{From: "plan.acceptance"}, "the current task of context/plan.json has no acceptance"},
		{recipe.Section{From: "review.diff"}, "context/review.diff is not there"},
	} {
		c.section.Name, c.section.Required = "S", true
		r := &recipe.Recipe{Strategy: "mine", Strategies: []recipe.Strategy{{Name: "mine", Sections: []recipe.Section{c.section}}}}
		if name, wrong := StrategyOf(r, "x", []byte(plan), nil); name != "general" || wrong != "the strategy mine needs its section S, but "+c.want+"; general is used" {
			t.Errorf("%s: %s, %q", c.section.From, name, wrong)
		}
	}
}

const strategyPlan = `{"issue":{"title":"Refresh fails","description":"Once a day.\nSee logs.\n"},"design":"# Retry\n\nOnce.\n","constraints":["no new dependency","","two\nlines"],
"tasks":[{"id":"t1","description":"Retry the refresh.","acceptance":["retries once","logs it"],
 "files":[{"operation":"modify","path":"auth/refresh.go"},{"operation":"create","path":"odd` + "`" + `name.go"}],
 "steps":[{"description":"Write the test","code":"func TestRetry() {}\n","command":"go test ./auth"},
          {"description":"Document it","code":"` + "```sh\\nmake\\n```" + `"},
          {"description":"Old","code":"x","command":"y","done":true},
          {"description":"Check","command":"make\nmake test"}]}],"current_task_id":"t1"}`

func TestSectionForms(t *testing.T) {
	p := planOf(t, strategyPlan)
	diff := []byte("diff --git a/x b/x\n@@ -1 +1 @@\n-`a`\n+```\n")
	var sections []Section
	for _, from := range []string{"plan.issue", "plan.design", "plan.constraints", "plan.task", "plan.files", "plan.steps", "plan.acceptance", "review.diff"} {
		text, source := SectionText(recipe.Section{Name: from, From: from}, p, diff, nil)
		sections = append(sections, Section{from, text, source})
	}
	text, source := SectionText(recipe.Section{Name: "Notes", Path: "${CWD}/notes.md"}, p, diff, &File{Path: "/work/notes.md", Data: []byte("Be brief.\n")})
	sections = append(sections, Section{"Notes", text, source})
	text, source = SectionText(recipe.Section{Name: "Rules", Text: "Stay calm.\n"}, nil, nil, nil)
	sections = append(sections, Section{"Rules", text, source})
	var b strings.Builder
	for _, s := range sections {
		b.WriteString("==== " + s.Name + " (" + s.Source + ")\n" + s.Content + "\n")
	}
	b.WriteString("==== messages\n")
	for _, m := range StrategyMessages("Work carefully.\n", sections[:4], nil) {
		b.WriteString("<" + m.Role + ">\n" + m.Content + "\n")
	}
	packtest.Golden(t, "builtin/sections.txt", []byte(b.String()))
}

// What the strategies' protocol prints, to the letter.
func TestDeveloperMessagesAreAsTheProtocolHasThem(t *testing.T) {
	p := planOf(t, `{"tasks":[{"id":"1","description":"Add a flag","files":[{"operation":"create","path":"a.py"},{"operation":"modify","path":"b.py"}],
		"steps":[{"description":"Write test","code":"assert f()","command":"pytest"},{"description":"Commit"}]}],"current_task_id":"1"}`)
	var sections []Section
	for _, s := range testStrategies[2].Sections {
		text, source := SectionText(s, p, nil, nil)
		sections = append(sections, Section{s.Name, text, source})
	}
	want := []native.Message{
		{Role: "system", Content: "You are a senior developer executing tasks following TDD principles."},
		{Role: "user", Content: "## Task\nAdd a flag\n\n## Files\n- create: `a.py`\n- modify: `b.py`\n\n## Steps\n### Step 1: Write test\n```\nassert f()\n```\nRun: `pytest`\n\n### Step 2: Commit"},
	}
	if got := StrategyMessages("You are a senior developer executing tasks following TDD principles.", sections, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestSectionsWithoutContent(t *testing.T) {
	for _, from := range []string{"plan.issue", "plan.design", "plan.constraints", "plan.task", "plan.files", "plan.steps", "plan.acceptance", "review.diff"} {
		for _, plan := range []string{`{}`, `{"tasks":[{"id":"a"}],"current_task_id":"a","constraints":[" "]}`} {
			if text, source := SectionText(recipe.Section{From: from}, planOf(t, plan), []byte(" \n"), nil); text != "" || !strings.HasPrefix(source, "context/") {
				t.Errorf("%s of %s: %q from %q", from, plan, text, source)
			}
		}
		if text, _ := SectionText(recipe.Section{From: from}, nil, nil, nil); text != "" {
			t.Errorf("%s of nothing: %q", from, text)
		}
	}
	for _, f := range []*File{nil, {Path: "x"}, {Path: "x", Data: []byte("a"), Reason: "unreadable"}, {Path: "x", Data: []byte("a"), Pending: true}} {
		if text, _ := SectionText(recipe.Section{Path: "x"}, nil, nil, f); text != "" {
			t.Errorf("%+v: %q", f, text)
		}
	}
}

func TestStrategyMessages(t *testing.T) {
	sections := []Section{{"A", "a\n", "s"}, {"Empty", "", "s"}, {"B\nC", "b", "s"}}
	for _, c := range []struct {
		system   string
		sections []Section
		override []recipe.Message
		want     []native.Message
	}{
		{"", nil, nil, nil},
		{" \n", nil, nil, nil},
		{"sys\n", nil, nil, []native.Message{{Role: "system", Content: "sys"}}},
		{"", sections, nil, []native.Message{{Role: "user", Content: "## A\na\n\n## B C\nb"}}},
		{"sys", sections, []recipe.Message{{Role: "system", Content: "x"}, {Role: "user", Content: "y"}}, []native.Message{{Role: "system", Content: "x"}, {Role: "user", Content: "y"}}},
	} {
		if got := StrategyMessages(c.system, c.sections, c.override); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %q, want %q", c.system, got, c.want)
		}
	}
}

// Whatever stands in code, its fence is not closed before its end; whatever in a path, its span is not.
func TestCodeStaysInItsFence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("[`~a\n ]{0,30}").Draw(t, "text")
		lines := strings.Split(fenced("", text), "\n")
		mark := lines[0]
		for i, l := range lines[1:] {
			l = strings.TrimSpace(l)
			closes := strings.HasPrefix(l, mark) && strings.Trim(l, "`") == ""
			if closes != (i == len(lines)-2) {
				t.Fatalf("%q: line %d", text, i)
			}
		}
		span := codeSpan(text)
		mark = span[:len(span)-len(strings.TrimLeft(span, "`"))]
		if strings.Count(span, mark) != 2 && strings.Trim(text, "\n ") != "" {
			t.Fatalf("%q gives %q", text, span)
		}
	})
}
