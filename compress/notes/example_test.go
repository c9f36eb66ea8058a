package notes_test

import (
	"fmt"

	"github.com/ctxfs/ctxfs/compress/notes"
)

func ExampleState() {
	var state notes.State
	for i, r := range []notes.Record{
		{Role: "user", Text: "Make the refresh retry. Never push to main."},
		{Role: "assistant", Text: "Should we replace zap by slog?"},
		{Role: "user", Text: "yes, do that"},
	} {
		state.Add(notes.Position{Line: i + 1}, r.Role, notes.Find(r))
	}
	for _, f := range state.Facts() {
		fmt.Println(f.ID, f.Text, f.Source)
	}
	for _, d := range state.Decisions() {
		fmt.Println(d.ID, d.Decision, d.Source)
	}
	// Output:
	// f1 Never push to main. messages:1
	// d3 yes: Should we replace zap by slog? messages:2-3
}
