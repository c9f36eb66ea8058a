package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// recipeOf is a recipe of sources, with the defaults that the parser fills in.
func recipeOf(sources ...recipe.Source) *recipe.Recipe {
	r := &recipe.Recipe{Name: "context.yaml", Files: []recipe.File{{Path: "context.yaml"}}, TotalMaxTokens: -1,
		History: recipe.History{High: 1, Low: 0.55, KeyLines: 0.25, MinGain: 0.15}, Sources: sources}
	for i := range r.Sources {
		s := &r.Sources[i]
		if s.Block == "" {
			if s.Block = s.ID; s.Block == "" {
				s.Block = string(s.Type)
			}
		}
		if s.Phase == "" {
			s.Phase = usualPhase(s.Type)
		}
		if s.Priority == 0 {
			s.Priority = 100
		}
		if s.OnMissing == "" {
			s.OnMissing = recipe.Skip
		}
		if s.Top == 0 {
			s.Top = 3
		}
		s.Origin = recipe.Origin{File: "context.yaml", Line: i + 2, Column: 5}
	}
	return rehash(r)
}

// rehash stands in for the parser's hash: it changes with anything in the recipe.
func rehash(r *recipe.Recipe) *recipe.Recipe {
	r.Hash = ""
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(b)
	r.Hash = hex.EncodeToString(sum[:])
	return r
}

func usualPhase(t recipe.Type) recipe.Phase {
	switch t {
	case recipe.TypeSystemRole, recipe.TypeTools, recipe.TypeSkills:
		return recipe.Stable
	case recipe.TypeChildren, recipe.TypeRecall, recipe.TypeErrors, recipe.TypePlan, recipe.TypeTodo:
		return recipe.Dynamic
	}
	return recipe.Session
}

// allTypes are the types of sources in the order of the default recipe.
var allTypes = []recipe.Type{
	recipe.TypeSystemRole, recipe.TypeTools, recipe.TypeSkills, recipe.TypePinned, recipe.TypeFile, recipe.TypeComputed, recipe.TypePipeline,
	recipe.TypeHandoff, recipe.TypeMemory, recipe.TypeKnowledge, recipe.TypePlaybook, recipe.TypeSummary, recipe.TypeFacts, recipe.TypeDecisions,
	recipe.TypeRefs, recipe.TypeJournal, recipe.TypeChildren, recipe.TypeRecall, recipe.TypeErrors, recipe.TypePlan, recipe.TypeTodo,
}

const samplePlan = `{"goal":"Make the token refresh retry.","issue":{"title":"Refresh fails","description":"Under load it gives 401."},"design":"A retry with backoff.",
"tasks":[{"id":"t1","title":"Reproduce","description":"Write a failing test.","status":"done"},
{"id":"t2","title":"Retry","description":"Add RetryMax.","status":"in_progress","acceptance":["TestRefreshExpired passes"],"files":[{"operation":"modify","path":"auth/refresh.go"}],"steps":[{"description":"Add the field.","done":true},{"description":"Use it.","command":"go test ./auth"}]}],
"current_task_id":"t2"}`

// sampleOf gives files for a source of type t at index at of a recipe.
func sampleOf(t recipe.Type, at int) []File {
	file := func(id, path, content string) File { return File{At: at, ID: id, Path: path, Data: []byte(content)} }
	switch t {
	case recipe.TypeSystemRole:
		return []File{file("system_role", "system_prompt.md", "You are a careful coding agent.\n")}
	case recipe.TypeTools:
		return []File{file("tools", "tools.json", `[{"name":"bash","description":"Run a command.","parameters":{"type":"object","properties":{"cmd":{"type":"string"}}}}]`)}
	case recipe.TypeSkills:
		return []File{file("review", "skills/review.md", "---\nname: review\nactive: true\n---\n# Review\n\nRead the diff first.\n"),
			file("deploy", "skills/deploy.md", "---\nname: deploy\n---\n# Deploy\n\nNever on a Friday.\n")}
	case recipe.TypePinned:
		return []File{file("pinned/ledger.md", "context/pinned/ledger.md", "Never delete the ledger."), file("pinned/rules.md", "context/pinned/rules.md", "Ask before a push.\n")}
	case recipe.TypeMemory:
		return []File{file("a", "memory/refresh.md", "# Token refresh\n\nThe token refresh needs a retry when the clock is off.\n"), file("b", "memory/lunch.md", "# Lunch\n\nThe user likes soup.\n")}
	case recipe.TypeKnowledge:
		return []File{file("k", "knowledge/auth.md", "# Auth\n\nThe token refresh lives in auth/refresh.go and has no retry.\n\n# Paint\n\nThe walls are white.\n")}
	case recipe.TypePlaybook:
		return []File{file("p", "playbooks/retry.md", "# Make something retry\n\n1. Write a failing test.\n2. Add the retry to the token refresh.\n"), file("q", "playbooks/paint.md", "# Paint a wall\n\n1. Buy paint.\n")}
	case recipe.TypePlan:
		return []File{file("plan", "context/plan.json", samplePlan)}
	case recipe.TypeTodo:
		return []File{file("todo", "context/todo.md", "- [x] reproduce\n- [ ] add RetryMax to config.go\n")}
	case recipe.TypeFacts, recipe.TypeDecisions, recipe.TypeRefs:
		return []File{file(string(t), "context/"+string(t)+".jsonl", `{"id":"x1","text":"one of the `+string(t)+`","source":"messages:3"}`+"\n")}
	case recipe.TypeErrors, recipe.TypeJournal:
		return nil
	case recipe.TypeFile:
		return []File{file("file", "/work/DELTA.md", "Run the tests with make test.\n")}
	}
	return []File{file(string(t), "context/"+string(t)+".md", "The content of "+string(t)+".\n")}
}

var sampleErrors = []ErrorEvent{{Line: 4, Text: "run_tests: exit 1"}, {Line: 9, Text: "write_file: permission denied"}}

// sampleLog is a session whose last request is about the token refresh.
func sampleLog() *memLog {
	return logOf(
		string(message("user", "Make the token refresh retry.")),
		`{"role":"assistant","content":"Looking.","tool_calls":[{"id":"c1","name":"read_file","arguments":"{\"path\":\"auth/refresh.go\"}"}]}`,
		`{"role":"tool","tool_call_id":"c1","content":"package auth\n"}`,
		string(message("assistant", "It has no retry yet.")),
	)
}

// inputBy compiles the sample files of each source of r.
func inputBy(r *recipe.Recipe, l *memLog, budget int) Input {
	in := inputOf(l, budget)
	in.Recipe = r
	for i, s := range r.Sources {
		in.Files = append(in.Files, sampleOf(s.Type, i)...)
		if s.Type == recipe.TypeErrors {
			in.Errors = sampleErrors
		}
	}
	return in
}

// Each source type on its own, beside a journal, as pack.md and pack.json show it.
func TestEachSourceType(t *testing.T) {
	for _, kind := range allTypes {
		t.Run(string(kind), func(t *testing.T) {
			r := recipeOf(recipe.Source{Type: kind})
			if kind != recipe.TypeJournal {
				r = recipeOf(recipe.Source{Type: kind}, recipe.Source{Type: recipe.TypeJournal})
			}
			r.Hash = "of the test" // so that a golden file does not change with the shape of a recipe
			b := mustCompile(t, inputBy(r, sampleLog(), 8000))
			golden(t, "golden/source_"+string(kind)+".md", b.Markdown)
			golden(t, "golden/source_"+string(kind)+".json", b.JSON)
			if !strings.Contains(string(b.Markdown), "# Context Block: ") || kind != recipe.TypeJournal && len(parseJSON(t, b).Items) < 2 {
				t.Errorf("%s shows nothing:\n%s", kind, b.Markdown)
			}
		})
	}
}

// Every pair of source types, in both orders: both stand where their phases say, and nowhere else.
func TestEveryPairOfSourceTypes(t *testing.T) {
	rank := map[phase]int{phaseStable: 0, phaseSession: 1, phaseJournal: 2, phaseDynamic: 3}
	for _, a := range allTypes {
		for _, b := range allTypes {
			if a == b {
				continue
			}
			in := inputBy(recipeOf(recipe.Source{Type: a}, recipe.Source{Type: b}), sampleLog(), 8000)
			build := mustCompile(t, in)
			last, seen := 0, map[string]int{}
			p := parseJSON(t, build)
			sum := p.Framing
			for _, it := range p.Items {
				sum += it.Tokens
				if rank[it.Phase] < last {
					t.Errorf("%s and %s: %s stands behind a later phase", a, b, it.ID)
				}
				last = rank[it.Phase]
				seen[strings.Split(it.ID, "/")[0]]++
			}
			if n := count(t, "", build.Markdown); n != build.Tokens || n != sum {
				t.Errorf("%s and %s: %d tokens, %d stated, %d by the items", a, b, n, build.Tokens, sum)
			}
			for _, kind := range []recipe.Type{a, b} {
				if kind == recipe.TypeJournal {
					if !strings.Contains(string(build.Markdown), conversation) {
						t.Errorf("%s and %s: no conversation", a, b)
					}
				} else if seen[string(kind)] == 0 {
					t.Errorf("%s and %s: no block of %s\n%s", a, b, kind, build.Markdown)
				}
			}
			if i, j := strings.Index(string(build.Markdown), "Block: "+string(a)), strings.Index(string(build.Markdown), "Block: "+string(b)); usualPhase(a) == usualPhase(b) && a != recipe.TypeJournal && b != recipe.TypeJournal && i > j {
				t.Errorf("%s is listed before %s and stands behind it", a, b)
			}
		}
	}
}

// A whole recipe of everything, with conditions of each form, fallbacks and stale and failing sources.
func TestWholeRecipe(t *testing.T) {
	r := recipeOf(
		recipe.Source{Type: recipe.TypeSystemRole},
		recipe.Source{Type: recipe.TypeFile, Block: "file (AGENTS.md)", Path: "${CWD}/AGENTS.md"},
		recipe.Source{Type: recipe.TypeFile, ID: "api", Path: "${CWD}/api.md", Condition: &recipe.Condition{When: recipe.TaskContains, Pattern: "API|endpoint"}},
		recipe.Source{Type: recipe.TypeFile, ID: "tokens", Path: "${AGENT_HOME}/tokens.md", Condition: &recipe.Condition{All: []recipe.Condition{{When: recipe.TaskContains, Pattern: "TOKEN"}, {Not: &recipe.Condition{When: recipe.FileExists, Path: "${CWD}/no"}}}}},
		recipe.Source{Type: recipe.TypeComputed, ID: "map", MaxTokens: 100},
		recipe.Source{Type: recipe.TypeFile, Block: "map.1", Path: "${CWD}/map.md", Fallback: 1, Phase: recipe.Session},
		recipe.Source{Type: recipe.TypeComputed, ID: "slow"},
		recipe.Source{Type: recipe.TypeFile, ID: "absent", Path: "${CWD}/absent.md"},
		recipe.Source{Type: recipe.TypeJournal},
		recipe.Source{Type: recipe.TypeFile, ID: "late", Path: "${CWD}/late.md", Phase: recipe.Dynamic, Condition: &recipe.Condition{When: recipe.StateIs, States: []string{"waiting"}}},
		recipe.Source{Type: recipe.TypeTodo},
	)
	r.Hash = "of the test"
	in := inputOf(sampleLog(), 8000)
	in.Recipe, in.Notes, in.EpochReason = r, []string{"The recipe context.yaml is wrong, so the last good one is used:", "context.yaml:7:5: unknown key colour"}, "DELTA.md changed"
	in.Exists = map[string]bool{"${CWD}/no": false}
	file := func(at int, path, content string) {
		in.Files = append(in.Files, File{At: at, ID: r.Sources[at].Block, Path: path, Data: []byte(content)})
	}
	file(0, "system_prompt.md", "Be careful.\n")
	file(1, "/work/AGENTS.md", "Use Go.\n")
	file(2, "/work/api.md", "GET /token\n")
	file(3, "tokens.md", "Tokens expire.\n")
	in.Files = append(in.Files, File{At: 4, ID: "map", Path: "outputs/map", Reason: "exit status 3", Note: "uid 1000, no_new_privs\nctags: not found\n"})
	file(5, "/work/map.md", strings.Repeat("func F() // does something or other\n", 80))
	in.Files = append(in.Files, File{At: 6, ID: "slow", Path: "outputs/slow", Pending: true})
	file(9, "/work/late.md", "waiting\n")
	file(10, "context/todo.md", "- [ ] add RetryMax\n")
	in.Files[1].Stale = true
	b := mustCompile(t, in)
	golden(t, "golden/whole.md", b.Markdown)
	golden(t, "golden/whole.json", b.JSON)
	golden(t, "golden/whole.report.md", b.Report)
	if !b.Stale {
		t.Error("a stale file and a pending generator do not make the build stale")
	}
	for _, c := range []struct{ source, reason string }{
		{"/work/api.md", `the condition does not hold: task_contains "API|endpoint"`},
		{"outputs/map", "exit status 3"},
		{"outputs/slow", "its generator has not given anything yet"},
		{"${CWD}/absent.md", "missing"},
		{"/work/late.md", "the condition does not hold: state_is waiting"},
	} {
		if !slices.ContainsFunc(parseJSON(t, b).Omitted, func(o omitted) bool { return o.Source == c.source && o.Reason == c.reason }) {
			t.Errorf("no omission of %s: %s", c.source, c.reason)
		}
	}
	for source, want := range map[string][2]string{"/work/AGENTS.md": {"guide", "workspace"}, "tokens.md": {"file", "owner"}, "system_prompt.md": {"system", "owner"}} {
		if !slices.ContainsFunc(parseJSON(t, b).Items, func(i item) bool { return i.Source == source && i.Kind == want[0] && i.Trust == want[1] }) {
			t.Errorf("%s is not of kind and trust %s", source, want)
		}
	}
}

// Each strategy that is built in, chosen by name or by the agent's, and what happens without what it needs.
func TestStrategies(t *testing.T) {
	for _, c := range []struct {
		name, agent, want string
		files             []File
	}{
		{"architect", "coder", "architect", []File{{At: ofPlan, ID: "plan", Path: "context/plan.json", Data: []byte(samplePlan)}}},
		{"", "developer", "developer", []File{{At: ofPlan, ID: "plan", Path: "context/plan.json", Data: []byte(samplePlan)}}},
		{"reviewer", "coder", "reviewer", []File{{At: ofPlan, ID: "plan", Path: "context/plan.json", Data: []byte(samplePlan)}, {At: ofDiff, ID: "diff", Path: "context/review.diff", Data: []byte("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")}}},
		{"developer", "coder", "general", nil},
		{"no such", "coder", "general", nil},
	} {
		r := recipeOf(recipe.Source{Type: recipe.TypeSystemRole}, recipe.Source{Type: recipe.TypeFile}, recipe.Source{Type: recipe.TypeJournal},
			recipe.Source{Type: recipe.TypeErrors}, recipe.Source{Type: recipe.TypeTodo})
		r.Strategy, r.Strategies, r.Hash = c.name, recipe.Default().Strategies, "of the test"
		in := inputBy(r, sampleLog(), 8000)
		in.Agent, in.Files = c.agent, append(in.Files[1:], c.files...) // no system prompt of the agent's own
		b := mustCompile(t, in)
		name := strings.ReplaceAll("golden/strategy_"+c.name+"_"+c.agent, " ", "_")
		golden(t, name+".md", b.Markdown)
		golden(t, name+".json", b.JSON)
		p := parseJSON(t, b)
		if p.Strategy.Name != c.want || p.Strategy.SystemPrompt != (c.want != "general") {
			t.Errorf("%s of %s: %+v", c.name, c.agent, p.Strategy)
		}
		for _, left := range p.Strategy.LeavesOut {
			if strings.Contains(string(b.Markdown), "# Context Block: "+left+"\n") {
				t.Errorf("%s shows %s", c.want, left)
			}
		}
		if c.want == "general" && c.name != "" && !strings.Contains(string(b.Report), "- note: ") {
			t.Errorf("the report does not say why %s is not used:\n%s", c.name, b.Report)
		}
	}
}

// A session of many iterations by max_iterations and by truncate_head, and a recipe without a journal.
func TestJournalForms(t *testing.T) {
	for name, s := range map[string]recipe.Source{
		"iterations": {Type: recipe.TypeJournal, MaxIterations: 3},
		"truncated":  {Type: recipe.TypeJournal, MaxTokens: 600, TruncateHead: true},
		"none":       {Type: recipe.TypeSummary},
	} {
		r := recipeOf(s)
		r.Hash = "of the test"
		b := mustCompile(t, inputBy(r, longLog(60), 8000))
		golden(t, "golden/journal_"+name+".md", b.Markdown)
		golden(t, "golden/journal_"+name+".json", b.JSON)
		golden(t, "golden/journal_"+name+".report.md", b.Report)
		p := parseJSON(t, b)
		want := map[string]string{"iterations": "max_iterations", "truncated": "truncated", "none": "not_in_recipe"}[name]
		if len(p.Omitted) == 0 || p.Omitted[len(p.Omitted)-1].Reason != want {
			t.Errorf("%s: omitted %+v", name, p.Omitted)
		}
		if name == "truncated" && (strings.Contains(string(b.Markdown), "## 2 user") || !strings.Contains(string(b.Markdown), "## 1 system")) {
			t.Errorf("the first request is kept, or the system record is not:\n%s", b.Markdown)
		}
	}
}

func TestConditions(t *testing.T) {
	cond := func(when recipe.Predicate, pattern string, n int) recipe.Condition {
		return recipe.Condition{When: when, Pattern: pattern, Path: pattern, States: []string{pattern}, N: n}
	}
	yes, no := cond(recipe.BudgetAtLeast, "", 10), cond(recipe.BudgetAtLeast, "", 10_000)
	open := cond(recipe.TurnAtLeast, "", 3)
	f := &facts{task: "Please write the API\nof it", turns: 3, state: "running", exists: map[string]bool{"a": true}, limit: 1000}
	for _, c := range []struct {
		name            string
		c               recipe.Condition
		holds, possible bool
	}{
		{"task", cond(recipe.TaskContains, "api|endpoint", 0), true, true},
		{"task not", cond(recipe.TaskContains, "^endpoint", 0), false, true},
		{"bad pattern", cond(recipe.TaskContains, "(", 0), false, true},
		{"file", cond(recipe.FileExists, "a", 0), true, true},
		{"file not", cond(recipe.FileExists, "b", 0), false, false},
		{"state", cond(recipe.StateIs, "running", 0), true, true},
		{"state not", cond(recipe.StateIs, "idle", 0), false, true},
		{"turn", open, true, true},
		{"turn not", cond(recipe.TurnAtLeast, "", 4), false, true},
		{"budget", yes, true, true},
		{"budget not", no, false, false},
		{"all", recipe.Condition{All: []recipe.Condition{yes, open}}, true, true},
		{"all not", recipe.Condition{All: []recipe.Condition{open, no}}, false, false},
		{"any", recipe.Condition{Any: []recipe.Condition{no, yes}}, true, true},
		{"any not", recipe.Condition{Any: []recipe.Condition{no, no}}, false, false},
		{"not", recipe.Condition{Not: &no}, true, true},
		{"not not", recipe.Condition{Not: &yes}, false, false},
		{"not open", recipe.Condition{Not: &open}, false, true},
		{"unknown", cond("weather_is", "fine", 0), false, true},
	} {
		if got := f.holds(&c.c); got != c.holds {
			t.Errorf("%s holds: %v", c.name, got)
		}
		if got := f.possible(&c.c); got != c.possible {
			t.Errorf("%s is possible: %v", c.name, got)
		}
		if describe(&c.c) == "" {
			t.Errorf("%s has no description", c.name)
		}
	}
	if !f.holds(nil) || !(&facts{}).holds(&no) || describe(nil) != "always" {
		t.Error("no condition, or no limit of the budget, does not hold")
	}
	if got := describe(&recipe.Condition{Any: []recipe.Condition{{Not: &no}, {All: []recipe.Condition{yes}}}}); got != "any(not(budget_at_least 10000), all(budget_at_least 10))" {
		t.Error(got)
	}
}

// A source before the journal is chosen by the task at the last compaction, one after it by the task now.
func TestSettledPoint(t *testing.T) {
	when := &recipe.Condition{When: recipe.TaskContains, Pattern: "gamma"}
	r := recipeOf(
		recipe.Source{Type: recipe.TypeFile, ID: "before", Condition: when},
		recipe.Source{Type: recipe.TypeJournal, MaxIterations: 4, Step: 3},
		recipe.Source{Type: recipe.TypeFile, ID: "after", Phase: recipe.Dynamic, Condition: when},
	)
	l := newLog()
	shows := func() (before, after bool) {
		in := inputOf(l.prefix(l.Len()), 8000)
		in.Recipe = r
		in.Files = []File{{At: 0, ID: "before", Path: "/b.md", Data: []byte("b\n")}, {At: 2, ID: "after", Path: "/a.md", Data: []byte("a\n")}}
		md := string(mustCompile(t, in).Markdown)
		return strings.Contains(md, "# Context Block: before\n"), strings.Contains(md, "# Context Block: after\n")
	}
	if b, a := shows(); b || a {
		t.Errorf("without any record: %v %v", b, a)
	}
	for i, want := range []struct {
		task          string
		before, after bool
	}{
		{"alpha", false, false}, // the first request settles the point
		{"gamma", false, true},
		{"delta", false, false},
		{"gamma", false, true},
		{"gamma", true, true}, // the fifth iteration moves the boundary
		{"alpha", true, false},
	} {
		l.Append(message("user", "Do "+want.task+"."))
		if b, a := shows(); b != want.before || a != want.after {
			t.Errorf("request %d (%s): before %v, after %v", i+1, want.task, b, a)
		}
		l.Append(message("assistant", "Done."))
		if b, _ := shows(); b != want.before {
			t.Errorf("after the answer to request %d: before %v", i+1, b)
		}
	}
}

func TestOpenTodosAreOfTheTaskAfterTheJournal(t *testing.T) {
	when := &recipe.Condition{When: recipe.TaskContains, Pattern: "retrymax"}
	r := recipeOf(recipe.Source{Type: recipe.TypeJournal}, recipe.Source{Type: recipe.TypeFile, ID: "hint", Phase: recipe.Dynamic, Condition: when})
	for todo, want := range map[string]bool{"- [ ] add RetryMax\n": true, "- [x] add RetryMax\n": false, "RetryMax\n": false} {
		in := inputOf(sampleLog(), 8000)
		in.Recipe, in.Files = r, []File{{At: 1, ID: "hint", Path: "/h.md", Data: []byte("h\n")}, {At: ofTodo, ID: "todo", Path: "context/todo.md", Data: []byte(todo)}}
		if got := strings.Contains(string(mustCompile(t, in).Markdown), "# Context Block: hint\n"); got != want {
			t.Errorf("%q: %v", todo, got)
		}
	}
}

func TestMissingSourceNamesItself(t *testing.T) {
	r := recipeOf(recipe.Source{Type: recipe.TypeFile, ID: "design", Path: "${CWD}/design.md", OnMissing: recipe.Error},
		recipe.Source{Type: recipe.TypeFile, Block: "design.1", Path: "${CWD}/DESIGN.md", Fallback: 1}, recipe.Source{Type: recipe.TypeJournal})
	in := inputOf(sampleLog(), 8000)
	in.Recipe = r
	for _, files := range [][]File{nil, {{At: 0, ID: "design", Path: "/w/design.md"}}, {{At: 0, ID: "design", Path: "/w/design.md", Reason: "permission denied"}}} {
		in.Files = files
		_, err := Compile(in)
		if !errors.Is(err, ctxabi.ErrNoData) || !strings.Contains(err.Error(), "source design (context.yaml:2)") {
			t.Errorf("%+v: %v", files, err)
		}
		if len(files) > 0 && files[0].Reason != "" && !strings.Contains(err.Error(), files[0].Reason) {
			t.Errorf("the reason is missing: %v", err)
		}
		if _, err := in.plan(nil, testCounter); err != nil {
			t.Errorf("plan: %v", err)
		}
	}
	for _, f := range []File{{At: 0, Pending: true}, {At: 0, Data: []byte("x")}, {At: 1, Data: []byte("x")}} {
		in.Files = []File{f}
		mustCompile(t, in)
	}
	r.Sources[0].Condition = &recipe.Condition{When: recipe.StateIs, States: []string{"never"}}
	r.Sources[1].Condition = r.Sources[0].Condition
	in.Files = nil
	mustCompile(t, in) // not used, so not missed
}

// The first of a chain that yields something is used, and no generator runs for nothing.
func TestFallbackChain(t *testing.T) {
	r := recipeOf(
		recipe.Source{Type: recipe.TypeComputed, ID: "a"},
		recipe.Source{Type: recipe.TypeComputed, Block: "a.1", Fallback: 1},
		recipe.Source{Type: recipe.TypeFile, Block: "a.2", Fallback: 2},
		recipe.Source{Type: recipe.TypeJournal},
	)
	in := inputOf(sampleLog(), 8000)
	in.Recipe = r
	content := func(at int) File {
		return File{At: at, ID: r.Sources[at].Block, Path: fmt.Sprint("f", at), Data: []byte("content\n")}
	}
	failed := func(at int) File {
		return File{At: at, ID: r.Sources[at].Block, Path: fmt.Sprint("f", at), Reason: "exit status 1"}
	}
	for i, c := range []struct {
		files  []File
		wanted []bool
		block  string
	}{
		{nil, []bool{true, false, true, false}, ""},
		{[]File{{At: 0, Pending: true}, content(2)}, []bool{true, false, true, false}, "a.2"},
		{[]File{content(0), content(2)}, []bool{true, false, false, false}, "a"},
		{[]File{failed(0)}, []bool{true, true, true, false}, ""},
		{[]File{failed(0), content(1), content(2)}, []bool{true, true, false, false}, "a.1"},
		{[]File{failed(0), failed(1), content(2)}, []bool{true, true, true, false}, "a.2"},
	} {
		in.Files = c.files
		p, err := in.plan(nil, testCounter)
		if err != nil || !slices.Equal(p.wanted, c.wanted) {
			t.Errorf("%d: wanted %v, want %v (%v)", i, p.wanted, c.wanted, err)
		}
		blocks, _, _ := readBack(string(mustCompile(t, in).Markdown))
		if want := strings.Fields(c.block + " conversation"); !slices.Equal(blocks, want) {
			t.Errorf("%d: blocks %q, want %q", i, blocks, want)
		}
	}
}

// One change of one source makes that block anew, and no other.
func TestOneChangeRendersOneBlock(t *testing.T) {
	var sources []recipe.Source
	for _, kind := range allTypes {
		sources = append(sources, recipe.Source{Type: kind})
	}
	r := recipeOf(sources...)
	mm := newMemo()
	in := inputBy(r, sampleLog(), 32000)
	build := func() int {
		before := mm.rendered
		b, err := compile(&in, mm)
		if err != nil {
			t.Fatal(err)
		}
		sameBuild(t, b, mustCompile(t, in))
		return mm.rendered - before
	}
	if n := build(); n < len(allTypes)-1 {
		t.Fatalf("%d blocks at first", n)
	}
	if n := build(); n != 0 {
		t.Errorf("%d blocks though nothing changed", n)
	}
	for i := range in.Files {
		f := &in.Files[i]
		if r.Sources[f.At].Type == recipe.TypeTools {
			continue // its JSON takes no line more
		}
		f.Data = append(slices.Clone(f.Data), "\n"...)
		if n := build(); n != 1 {
			t.Errorf("%d blocks after a change of %s", n, f.Path)
		}
	}
	in.Errors = sampleErrors[:1]
	if n := build(); n != 1 {
		t.Errorf("%d blocks after another error", n)
	}
}

func TestWhatBeganTheEpoch(t *testing.T) {
	r := recipeOf(recipe.Source{Type: recipe.TypePinned}, recipe.Source{Type: recipe.TypeSummary}, recipe.Source{Type: recipe.TypeJournal})
	in := inputBy(r, sampleLog(), 8000)
	before := mustCompile(t, in)
	files := in.Files
	for _, c := range []struct {
		name, want string
		change     func()
	}{
		{"nothing", "", func() {}},
		{"edit", "context/pinned/rules.md changed", func() { in.Files[1].Data = []byte("Other rules.\n") }},
		{"removal", "context/summary.md was removed", func() { in.Files = in.Files[:2] }},
		{"addition", "context/pinned/new.md was added", func() {
			in.Files = append(in.Files, File{At: 0, ID: "pinned/new.md", Path: "context/pinned/new.md", Data: []byte("x")})
		}},
		{"order", "the order of the blocks changed", func() { in.Files[0], in.Files[1] = in.Files[1], in.Files[0] }},
		{"recipe", "the recipe changed", func() {
			in.Recipe = recipeOf(append(slices.Clone(r.Sources), recipe.Source{Type: recipe.TypeTodo})...)
		}},
	} {
		in.Recipe, in.Files = r, slices.Clone(files)
		c.change()
		if got := mustCompile(t, in).changedFrom(before); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	in.Recipe, in.Files, in.EpochReason = r, files, "the budget changed"
	b := mustCompile(t, in)
	if p := parseJSON(t, b); p.EpochReason != "the budget changed" || b.ID != before.ID {
		t.Errorf("epoch_reason %q, another id: %v", p.EpochReason, b.ID != before.ID)
	}
}

// The id changes with all that decides what a pack says, and with nothing else.
func TestPackID(t *testing.T) {
	r := recipeOf(recipe.Source{Type: recipe.TypeErrors}, recipe.Source{Type: recipe.TypeJournal})
	withState := recipeOf(recipe.Source{Type: recipe.TypeErrors, Condition: &recipe.Condition{Any: []recipe.Condition{{Not: &recipe.Condition{When: recipe.StateIs}}}}}, recipe.Source{Type: recipe.TypeJournal})
	id := func(r *recipe.Recipe, change func(*Input)) string {
		in := inputOf(sampleLog(), 8000)
		in.Recipe = r
		change(&in)
		return in.id("o200k_base")
	}
	base, stateful := id(r, func(*Input) {}), id(withState, func(*Input) {})
	for name, change := range map[string]func(*Input){
		"skills": func(in *Input) { in.Skills = []string{"a"} },
		"errors": func(in *Input) { in.Errors = sampleErrors },
		"exists": func(in *Input) { in.Exists = map[string]bool{"a": true} },
		"files":  func(in *Input) { in.Files = []File{{At: ofDiff, Data: []byte("x")}} },
		"recipe": func(in *Input) { in.Recipe = withState },
	} {
		if id(r, change) == base {
			t.Errorf("%s: the same id", name)
		}
	}
	state := func(in *Input) { in.State = "waiting" }
	if id(r, state) != base || id(withState, state) == stateful {
		t.Error("the state is part of the id where a condition looks at it, and only there")
	}
	if id(r, func(in *Input) { in.Notes, in.EpochReason = []string{"x"}, "y" }) != base {
		t.Error("notes and the reason of the epoch are no part of the id")
	}
}
