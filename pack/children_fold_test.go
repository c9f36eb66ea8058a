package pack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// A result stands in packs until a compaction comes behind two answers to it; then one line of it does.
func TestAShownResultFoldsAtACompaction(t *testing.T) {
	r := recipeOf(recipe.Source{Type: recipe.TypeJournal}, recipe.Source{Type: recipe.TypeChildren})
	var records []string
	const after = 4
	child := blocks.ChildResult{Name: "rev-1", Who: "rev/r1", Status: "done", Finished: true, Text: "First line.\nSecond line.\n", Bytes: 25, SHA256: "a", After: after}
	open := blocks.ChildResult{Name: "map", Status: "active"}
	folds, before := 0, ""
	for n := 1; n <= 120; n++ {
		records = append(records, string(message([]string{"assistant", "user"}[n%2], strings.Repeat(fmt.Sprintf("Message %d says this. ", n), 10))))
		in := inputOf(logOf(records...), 3000)
		in.Recipe, in.Children = r, []blocks.ChildResult{child, open}
		b := mustCompile(t, in)
		md := string(b.Markdown)
		whole := strings.Contains(md, "\n> Second line.\n")
		one := strings.Contains(md, "- rev-1: done, rev/r1, context/child/rev-1/result.md: First line.\n")
		if whole == one || !strings.Contains(md, "- map: active\n") {
			t.Fatalf("%d messages, %d compactions: whole %v, folded %v\n%s", n, b.Compactions, whole, one, md)
		}
		if n <= after+4 && one {
			t.Fatalf("folded at %d, before it can have been seen", n)
		}
		if state := fmt.Sprint(one); state != before {
			if before != "" && b.Compactions == 0 {
				t.Fatalf("it folds without a compaction, at %d", n)
			}
			before = state
			folds++
		}
	}
	if folds != 2 {
		t.Errorf("it changed %d times, want shown and folded", folds)
	}
}
