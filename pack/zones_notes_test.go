package pack

import (
	"fmt"
	"strings"
	"testing"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/pack/record"
)

func blockNamed(md, name string) string {
	_, block, found := strings.Cut(md, record.BlockHeading+name)
	if !found {
		return ""
	}
	block, _, _ = strings.Cut(block, "\n"+record.BlockHeading)
	block, _, _ = strings.Cut(block+"\n", "\n"+testMarks.End())
	return block
}

const notedBudget = 20000

// Folding on, folding anew and reading what was kept give the same notes at every place.
func TestNotesAtAnyPlace(t *testing.T) {
	l := notedLog(120)
	want := func(places int) string {
		var n derived.State
		for at := 1; at <= places; at++ {
			r, err := record.ExcerptOf(l, at)
			if err != nil {
				t.Fatal(err)
			}
			s := derived.Record{Role: l.At(at).Role.String(), Text: r.Text, Result: r.Result, Failed: r.Failed, Bytes: r.Bytes}
			if r.Result {
				s.Tool = r.Name
			}
			for _, c := range r.Calls {
				s.Calls = append(s.Calls, derived.Call{Name: c.Name, Arguments: c.Arguments})
			}
			n.Add(derived.Position{Line: at}, l.At(at).Role.String(), derived.Find(s))
		}
		return fmt.Sprint(n.Facts(), n.Decisions(), n.Refs(), n.Todo())
	}
	mm := NewMemo()
	for _, places := range []int{40, 41, 200, 7, 0, 260, 41, 199, l.Len(), 100, 150, 99, 98, 97, 96, 95, 94, 93, 40} {
		n := mm.Notes(l, min(places, l.Len()))
		if got := fmt.Sprint(n.Facts(), n.Decisions(), n.Refs(), n.Todo()); got != want(min(places, l.Len())) {
			t.Errorf("at %d:\n%s\nwant\n%s", places, got, want(min(places, l.Len())))
		}
	}
}
