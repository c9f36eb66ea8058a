package pack

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

func TestMissingSourceNamesItself(t *testing.T) {
	r := recipeOf(recipe.Source{Type: recipe.TypeFile, ID: "design", Path: "${CWD}/design.md", OnMissing: recipe.Error},
		recipe.Source{Type: recipe.TypeFile, Block: "design.1", Path: "${CWD}/DESIGN.md", Fallback: 1}, recipe.Source{Type: recipe.TypeJournal})
	in := inputOf(sampleLog(), 8000)
	in.Recipe = r
	for _, files := range [][]blocks.File{nil, {{At: 0, ID: "design", Path: "/w/design.md", Reason: "permission denied"}}} {
		in.Files = files
		_, err := compile(in)
		if !errors.Is(err, ctxabi.ErrNoData) || !strings.Contains(err.Error(), "source design (context.yaml:2)") {
			t.Errorf("%+v: %v", files, err)
		}
		if len(files) > 0 && files[0].Reason != "" && !strings.Contains(err.Error(), files[0].Reason) {
			t.Errorf("the reason is missing: %v", err)
		}
		if _, err := in.Plan(nil, testCounter); err != nil {
			t.Errorf("plan: %v", err)
		}
	}
	// An empty file is there: it says that there is nothing to say.
	for _, f := range []blocks.File{{At: 0, Pending: true}, {At: 0, Path: "/w/design.md"}, {At: 0, Data: []byte("x")}, {At: 1, Data: []byte("x")}} {
		in.Files = []blocks.File{f}
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
	content := func(at int) blocks.File {
		return blocks.File{At: at, ID: r.Sources[at].Block, Path: fmt.Sprint("f", at), Data: []byte("content\n")}
	}
	failed := func(at int) blocks.File {
		return blocks.File{At: at, ID: r.Sources[at].Block, Path: fmt.Sprint("f", at), Reason: "exit status 1"}
	}
	for i, c := range []struct {
		files  []blocks.File
		wanted []bool
		block  string
	}{
		{nil, []bool{true, false, true, false}, ""},
		{[]blocks.File{{At: 0, Pending: true}, content(2)}, []bool{true, false, true, false}, "a.2"},
		{[]blocks.File{content(0), content(2)}, []bool{true, false, false, false}, "a"},
		{[]blocks.File{failed(0)}, []bool{true, true, true, false}, ""},
		{[]blocks.File{failed(0), content(1), content(2)}, []bool{true, true, false, false}, "a.1"},
		{[]blocks.File{failed(0), failed(1), content(2)}, []bool{true, true, true, false}, "a.2"},
	} {
		in.Files = c.files
		p, err := in.Plan(nil, testCounter)
		if err != nil || !slices.Equal(p.Wanted, c.wanted) {
			t.Errorf("%d: wanted %v, want %v (%v)", i, p.Wanted, c.wanted, err)
		}
		blocks, _, _ := readBack(string(mustCompile(t, in).Markdown))
		blocks = slices.DeleteFunc(blocks, func(id string) bool { return id == "goal" }) // it names what is still awaited
		if want := strings.Fields(c.block + " conversation"); !slices.Equal(blocks, want) {
			t.Errorf("%d: blocks %q, want %q", i, blocks, want)
		}
	}
}

// A plan that cannot be read is named in the report, and builds that fail leave no trace in later ones.
func TestBrokenPlanAndFailedBuilds(t *testing.T) {
	r := recipeOf(recipe.Source{Type: recipe.TypePlan}, recipe.Source{Type: recipe.TypeFile, ID: "a", OnMissing: recipe.Error}, recipe.Source{Type: recipe.TypeSummary}, recipe.Source{Type: recipe.TypeJournal})
	in := inputOf(sampleLog(), 8000)
	in.Recipe, in.Files = r, []blocks.File{{At: 0, ID: "plan", Path: "context/plan.json", Data: []byte(`{"goal":`)}, {At: 1, ID: "a", Path: "a.md", Data: []byte("a\n")}, {At: 2, ID: "summary", Path: "context/summary.md"}}
	if b := mustCompile(t, in); !strings.Contains(string(b.Report), "- note: context/plan.json: ") || strings.Contains(string(b.Markdown), "Block: plan") {
		t.Errorf("the broken plan:\n%s", b.Report)
	}
	in.Files[1].Data, in.Files[1].Reason = nil, "permission denied"
	mm := NewMemo()
	for i := range 50 {
		in.Files[2].Data = fmt.Appendf(nil, "summary %d\n", i)
		if _, err := CompileWith(&in, mm); !errors.Is(err, ctxabi.ErrNoData) {
			t.Fatal(err)
		}
	}
}
