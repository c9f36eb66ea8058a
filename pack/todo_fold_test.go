package pack

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// Folding keeps each open item and counts all finished ones.
func TestFoldTodoProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat("  ", rapid.IntRange(0, 2).Draw(t, "depth")) + rapid.SampledFrom([]string{"- [x] done", "- [ ] open", "* [X] done", "* [ ] open", "words", "", "# Heading"}).Draw(t, "line")
		})
		lines := rapid.SliceOfN(line, 0, 20).Draw(t, "lines")
		for i := range lines {
			lines[i] += fmt.Sprint(" ", i)
		}
		text := strings.Join(lines, "\n") + "\n"
		folded := blocks.FoldTodo(text, "todo.md")
		done, all, next := progress(text)
		d, a, n := progress(folded)
		if n != next || a-d != all-done {
			t.Fatalf("%q has %d open, next %q; folded %q", text, all-done, next, folded)
		}
		for _, l := range lines {
			if strings.Contains(l, "[ ]") && strings.Count(folded, l+"\n") != strings.Count(text, l+"\n") {
				t.Fatalf("%q is gone of\n%s\n%s", l, text, folded)
			}
		}
		if done >= 2 && (d != 1 || !strings.Contains(folded, fmt.Sprintf("- [x] %d done, last: done", done))) {
			t.Fatalf("%d done:\n%s", done, folded)
		}
	})
}

// A list that is longer than its share shows what is open; what is done is a count.
func TestALongTodoFoldsWhatIsDone(t *testing.T) {
	var list strings.Builder
	for i := range 60 {
		fmt.Fprintf(&list, "- [x] finished piece of work number %d, which took long\n", i)
	}
	list.WriteString("- [ ] the open piece\n- [ ] the last piece\n")
	r := recipeOf(recipe.Source{Type: recipe.TypeJournal}, recipe.Source{Type: recipe.TypeTodo})
	in := inputOf(sampleLog(), 8000)
	in.Recipe = r
	in.Files = []blocks.File{{At: 1, ID: "todo", Path: "context/todo.md", Data: []byte(list.String())}}
	b := mustCompile(t, in)
	golden(t, "golden/todo_folded.md", b.Markdown)
	for _, it := range parseJSON(t, b).Items {
		if it.Kind == "todo" && (!it.Cut || it.Path != "context/todo.md") {
			t.Errorf("%+v", it)
		}
	}
	in.Budget = 0 // where there is no limit it stands whole
	if md := string(mustCompile(t, in).Markdown); !strings.Contains(md, list.String()) {
		t.Errorf("%s", md)
	}
}
