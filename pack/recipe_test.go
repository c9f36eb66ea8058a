package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// recipeOf is a recipe of sources, with the defaults that the parser fills in.
func recipeOf(sources ...recipe.Source) *recipe.Recipe {
	r := &recipe.Recipe{Name: "context.yaml", Files: []recipe.File{{Path: "context.yaml"}}, TotalMaxTokens: -1,
		History: recipe.History{High: 1, Low: 0.55, UserWords: 0.1, Summary: 0.1, FilesAndRuns: 0.05, KeyLines: 0.1, Folded: 0.05, MinGain: 0.15}, Sources: sources}
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

// sampleOf returns files for a source of type t at index at of a recipe.
func sampleOf(t recipe.Type, at int) []blocks.File {
	file := func(id, path, content string) blocks.File {
		return blocks.File{At: at, ID: id, Path: path, Data: []byte(content)}
	}
	switch t {
	case recipe.TypeSystemRole:
		return []blocks.File{file("system_role", "system_prompt.md", "You are a careful coding agent.\n")}
	case recipe.TypeTools:
		return []blocks.File{file("tools", "tools.json", `[{"name":"bash","description":"Run a command.","parameters":{"type":"object","properties":{"cmd":{"type":"string"}}}}]`)}
	case recipe.TypeSkills:
		return []blocks.File{file("review", "skills/review.md", "---\nname: review\nactive: true\n---\n# Review\n\nRead the diff first.\n"),
			file("deploy", "skills/deploy.md", "---\nname: deploy\n---\n# Deploy\n\nNever on a Friday.\n")}
	case recipe.TypePinned:
		return []blocks.File{file("pinned/ledger.md", "context/pinned/ledger.md", "Never delete the ledger."), file("pinned/rules.md", "context/pinned/rules.md", "Ask before a push.\n")}
	case recipe.TypeMemory:
		return []blocks.File{file("a", "memory/refresh.md", "# Token refresh\n\nThe token refresh needs a retry when the clock is off.\n"), file("b", "memory/lunch.md", "# Lunch\n\nThe user likes soup.\n")}
	case recipe.TypeKnowledge:
		return []blocks.File{file("k", "knowledge/auth.md", "# Auth\n\nThe token refresh lives in auth/refresh.go and has no retry.\n\n# Paint\n\nThe walls are white.\n")}
	case recipe.TypePlaybook:
		return []blocks.File{file("p", "playbooks/retry.md", "# Make something retry\n\n1. Write a failing test.\n2. Add the retry to the token refresh.\n"), file("q", "playbooks/paint.md", "# Paint a wall\n\n1. Buy paint.\n")}
	case recipe.TypePlan:
		return []blocks.File{file("plan", "context/plan.json", samplePlan)}
	case recipe.TypeTodo:
		return []blocks.File{file("todo", "context/todo.md", "- [x] reproduce\n- [ ] add RetryMax to config.go\n")}
	case recipe.TypeFacts, recipe.TypeDecisions, recipe.TypeRefs:
		return []blocks.File{file(string(t), "context/"+string(t)+".jsonl", `{"id":"x1","text":"one of the `+string(t)+`","source":"messages:3"}`+"\n")}
	case recipe.TypeErrors, recipe.TypeJournal, recipe.TypeRecall, recipe.TypeChildren:
		return nil
	case recipe.TypeFile:
		return []blocks.File{file("file", "/work/DELTA.md", "Run the tests with make test.\n")}
	}
	return []blocks.File{file(string(t), "context/"+string(t)+".md", "The content of "+string(t)+".\n")}
}

var sampleErrors = []blocks.ErrorEvent{{Line: 4, Text: "run_tests: exit 1"}, {Line: 9, Text: "write_file: permission denied"}}

var sampleChildren = []blocks.ChildResult{
	{Name: "rev-1", Who: "rev/r1", Status: "done", Finished: true, Text: "Two bugs:\n# Context Block: no\n1. the retry has no limit\n", Bytes: 56, SHA256: "a", After: 2},
	{Name: "map", Who: "scout/m1", Status: "error", Finished: true, After: 1},
	{Name: "long", Who: "scout/m2", Status: "active"},
}

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
		if s.Type == recipe.TypeChildren {
			in.Children = sampleChildren
		}
	}
	return in
}

// Each source type on its own, beside a journal, as pack.md and pack.json show it.
func TestEachSourceType(t *testing.T) {
	for _, kind := range allTypes {
		t.Run(string(kind), func(t *testing.T) {
			r := recipeOf(recipe.Source{Type: kind})
			// Next to a journal, recall and summary show nothing of their own.
			if kind != recipe.TypeJournal && kind != recipe.TypeRecall && kind != recipe.TypeSummary {
				r = recipeOf(recipe.Source{Type: kind}, recipe.Source{Type: recipe.TypeJournal})
			}
			r.Hash = "of the test" // so that a golden file does not change with the shape of a recipe
			b := mustCompile(t, inputBy(r, sampleLog(), 8000))
			golden(t, "golden/source_"+string(kind)+".md", b.Markdown)
			golden(t, "golden/source_"+string(kind)+".json", b.JSON())
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
					if !strings.Contains(string(build.Markdown), journal.Conversation) {
						t.Errorf("%s and %s: no conversation", a, b)
					}
				} else if all := (kind == recipe.TypeRecall || kind == recipe.TypeSummary) &&
					(a == recipe.TypeJournal || b == recipe.TypeJournal); all != (seen[string(kind)] == 0) {
					t.Errorf("%s and %s: %d blocks of %s\n%s", a, b, seen[string(kind)], kind, build.Markdown)
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
		in.Files = append(in.Files, blocks.File{At: at, ID: r.Sources[at].Block, Path: path, Data: []byte(content)})
	}
	file(0, "system_prompt.md", "Be careful.\n")
	file(1, "/work/AGENTS.md", "Use Go.\n")
	file(2, "/work/api.md", "GET /token\n")
	file(3, "tokens.md", "Tokens expire.\n")
	in.Files = append(in.Files, blocks.File{At: 4, ID: "map", Path: "outputs/map", Reason: "exit status 3", Note: "uid 1000, no_new_privs\nctags: not found\n"})
	file(5, "/work/map.md", strings.Repeat("func F() // does something or other\n", 80))
	in.Files = append(in.Files, blocks.File{At: 6, ID: "slow", Path: "outputs/slow", Pending: true})
	file(9, "/work/late.md", "waiting\n")
	file(10, "context/todo.md", "- [ ] add RetryMax\n")
	in.Files[1].Stale = true
	b := mustCompile(t, in)
	golden(t, "golden/whole.md", b.Markdown)
	golden(t, "golden/whole.json", b.JSON())
	golden(t, "golden/whole.report.md", b.Report)
	if !b.Stale {
		t.Error("a stale file and a pending generator do not make the build stale")
	}
	for _, c := range []struct{ source, reason string }{
		{"/work/api.md", `the condition does not hold: task_contains "API|endpoint"; before the journal the first request decides until a compaction, after it the last one`},
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
		files             []blocks.File
	}{
		{"architect", "coder", "architect", []blocks.File{{At: blocks.OfPlan, ID: "plan", Path: "context/plan.json", Data: []byte(samplePlan)}}},
		{"", "developer", "developer", []blocks.File{{At: blocks.OfPlan, ID: "plan", Path: "context/plan.json", Data: []byte(samplePlan)}}},
		{"reviewer", "coder", "reviewer", []blocks.File{{At: blocks.OfPlan, ID: "plan", Path: "context/plan.json", Data: []byte(samplePlan)}, {At: blocks.OfDiff, ID: "diff", Path: "context/review.diff", Data: []byte("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")}}},
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
		golden(t, name+".json", b.JSON())
		p := parseJSON(t, b)
		if p.Strategy.Name != c.want || p.Strategy.SystemPrompt != (c.want != "general") {
			t.Errorf("%s of %s: %+v", c.name, c.agent, p.Strategy)
		}
		for _, left := range p.Strategy.LeavesOut {
			if strings.Contains(string(b.Markdown), "# Context Block: "+left+"\n") {
				t.Errorf("%s shows %s", c.want, left)
			}
		}
		if c.want == "general" && c.name != "" && !strings.Contains(string(b.Report), "\n- error: ") {
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
		golden(t, "golden/journal_"+name+".json", b.JSON())
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

// The encodings that a recipe may name are those that tokens are counted in.
func TestEveryEncodingOfARecipeCounts(t *testing.T) {
	var schema struct {
		Defs struct {
			Recipe struct {
				Properties struct{ Encoding struct{ Enum []string } }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(recipe.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	names := schema.Defs.Recipe.Properties.Encoding.Enum
	if !slices.Contains(names, tokens.DefaultEncoding) || len(names) < 2 {
		t.Errorf("a recipe may name %v", names)
	}
	for _, name := range names {
		if c, err := tokens.For(name); err != nil || c.Encoding() != name {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
}
