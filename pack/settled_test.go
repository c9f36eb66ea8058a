package pack

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

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
		in := inputOf(l.Prefix(l.Len()), 8000)
		in.Recipe = r
		in.Files = []blocks.File{{At: 0, ID: "before", Path: "/b.md", Data: []byte("b\n")}, {At: 2, ID: "after", Path: "/a.md", Data: []byte("a\n")}}
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
		in.Recipe, in.Files = r, []blocks.File{{At: 1, ID: "hint", Path: "/h.md", Data: []byte("h\n")}, {At: blocks.OfTodo, ID: "todo", Path: "context/todo.md", Data: []byte(todo)}}
		if got := strings.Contains(string(mustCompile(t, in).Markdown), "# Context Block: hint\n"); got != want {
			t.Errorf("%q: %v", todo, got)
		}
	}
}
