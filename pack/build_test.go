package pack

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

func TestWhatBeganTheEpoch(t *testing.T) {
	r := recipeOf(recipe.Source{Type: recipe.TypePinned}, recipe.Source{Type: recipe.TypeHandoff},
		recipe.Source{Type: recipe.TypeJournal})
	in := inputBy(r, sampleLog(), 8000)
	before := mustCompile(t, in)
	files := in.Files
	for _, c := range []struct {
		name, want string
		change     func()
	}{
		{"nothing", "", func() {}},
		{"edit", "context/pinned/rules.md changed", func() { in.Files[1].Data = []byte("Other rules.\n") }},
		{"removal", "context/handoff.md was removed", func() { in.Files = in.Files[:2] }},
		{"addition", "context/pinned/new.md was added", func() {
			in.Files = append(in.Files, blocks.File{At: 0, ID: "pinned/new.md", Path: "context/pinned/new.md", Data: []byte("x")})
		}},
		{"order", "the order of the blocks changed", func() { in.Files[0], in.Files[1] = in.Files[1], in.Files[0] }},
		{"recipe", "the recipe changed", func() {
			in.Recipe = recipeOf(append(slices.Clone(r.Sources), recipe.Source{Type: recipe.TypeTodo})...)
		}},
	} {
		in.Recipe, in.Files = r, slices.Clone(files)
		c.change()
		if got := mustCompile(t, in).ChangedFrom(before); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	in.Recipe, in.Files, in.EpochReason = r, files, "the budget changed"
	b := mustCompile(t, in)
	if p := parseJSON(t, b); p.EpochReason != "the budget changed" || b.ID != before.ID {
		t.Errorf("epoch_reason %q, another id: %v", p.EpochReason, b.ID != before.ID)
	}
}

// A compaction that lets memory be chosen anew is the reason, not the memory.
func TestCompactionIsTheReasonOfWhatItChooses(t *testing.T) {
	r := recipeOf(recipe.Source{Type: recipe.TypeMemory}, recipe.Source{Type: recipe.TypePinned}, recipe.Source{Type: recipe.TypeJournal})
	in := inputBy(r, sampleLog(), 8000)
	b := mustCompile(t, in)
	in.Files[0].Data = []byte("# Token refresh\n\nAnother word on the token refresh and its retry.\n")
	edited := mustCompile(t, in)
	if got := edited.ChangedFrom(b); got != "memory/refresh.md changed" {
		t.Errorf("an edit: %q", got)
	}
	before := *b
	before.Epoch = "7-0"
	if got := edited.ChangedFrom(&before); got != "" {
		t.Errorf("after a compaction: %q", got)
	}
	in.Files[2].Data = []byte("Other rules.\n")
	if got := mustCompile(t, in).ChangedFrom(&before); got != "context/pinned/ledger.md changed" {
		t.Errorf("a compaction and an edit: %q", got)
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
		return in.ID("o200k_base")
	}
	base, stateful := id(r, func(*Input) {}), id(withState, func(*Input) {})
	for name, change := range map[string]func(*Input){
		"skills":    func(in *Input) { in.Skills = []string{"a"} },
		"errors":    func(in *Input) { in.Errors = sampleErrors },
		"exists":    func(in *Input) { in.Exists = map[string]bool{"a": true} },
		"files":     func(in *Input) { in.Files = []blocks.File{{At: blocks.OfDiff, Data: []byte("x")}} },
		"summaries": func(in *Input) { in.Summaries = []journal.Summary{{To: 1, After: 2, Text: "x"}} },
		"recipe":    func(in *Input) { in.Recipe = withState },
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

// A pack keeps its id when ctxfs is updated: what is kept of it (context/served, ctxfs why) goes by that.
func TestPackIDIsThatOfEarlierVersions(t *testing.T) {
	sum := sha256.Sum256([]byte("other"))
	for _, f := range []blocks.File{
		{At: 3, ID: "knowledge/a.md", Path: "knowledge/a \"b\"\n\x01é\u2028.md", Data: []byte("text"), Stale: true},
		{At: blocks.OfTodo, Reason: "it is not text", Pending: true, Life: ctxabi.OriginMixed},
		{ID: "made", Data: []byte("text"), Sum: &sum},
	} {
		want := fmt.Sprintf("file %d %q %q life %q stale %v pending %v reason %q bytes %d sha256 %x\n",
			f.At, f.ID, f.Path, f.Life, f.Stale, f.Pending, f.Reason, len(f.Data), f.Digest())
		if got := string(f.AppendTo(nil)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Who wrote a file is seen from where the recipe finds it.
func TestTrustOfFiles(t *testing.T) {
	r := recipeOf(
		recipe.Source{Type: recipe.TypeFile, ID: "home", Path: "${AGENT_HOME}/system_prompt.md"},
		recipe.Source{Type: recipe.TypeFile, ID: "session", Path: "${SESSION}/notes.md"},
		recipe.Source{Type: recipe.TypeFile, ID: "beside", Path: "${RECIPE_DIR}/rules.md"},
		recipe.Source{Type: recipe.TypeFile, ID: "package", Path: "${RECIPE_DIR}/rules.md"},
		recipe.Source{Type: recipe.TypeFile, ID: "work", Path: "notes.md"},
		recipe.Source{Type: recipe.TypeComputed, ID: "made"},
	)
	r.Files = append(r.Files, recipe.File{Path: "node_modules/x/context.yaml", Imported: true, Package: "x"})
	r.Sources[3].Origin.File = "node_modules/x/context.yaml"
	r.Strategy = "mine"
	r.Strategies = []recipe.Strategy{{Name: "mine", Origin: r.Sources[3].Origin, Sections: []recipe.Section{
		{Name: "said", Text: "Do this."}, {Name: "read", Path: "${CWD}/issue.md", MaxTokens: 40}, {Name: "gone", Path: "gone.md", Required: false}, {Name: "design", From: "plan.design"}}}}
	in := inputOf(sampleLog(), 8000)
	in.Recipe = rehash(r)
	for i, s := range r.Sources {
		in.Files = append(in.Files, blocks.File{At: i, ID: s.Block, Path: strings.NewReplacer("${AGENT_HOME}/", "", "${SESSION}/", "", "${RECIPE_DIR}/", "", "notes", "/work/notes").Replace(s.Path), Data: []byte("content\n")})
	}
	in.Files = append(in.Files, blocks.File{At: blocks.OfSection, ID: "read", Path: "/work/issue.md", Data: []byte(strings.Repeat("a line of the issue\n", 50))},
		blocks.File{At: blocks.OfPlan, ID: "plan", Path: "context/plan.json", Data: []byte(samplePlan)})
	p := parseJSON(t, mustCompile(t, in))
	want := map[string]string{"home": "system owner", "session": "file owner", "beside": "file owner", "package": "file package", "work": "file workspace",
		"goal": "goal agent", // the plan's progress
		"made": "computed_file generator", "mine/said": "section package", "mine/read": "section workspace", "mine/design": "section agent"}
	for _, it := range p.Items {
		if got := it.Kind + " " + it.Trust; got != want[it.ID] {
			t.Errorf("%s: %s, want %s", it.ID, got, want[it.ID])
		}
		if it.ID == "mine/read" && (!it.Cut || it.Tokens > 40) {
			t.Errorf("the section with max_tokens 40: cut %v, %d tokens", it.Cut, it.Tokens)
		}
		delete(want, it.ID)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
