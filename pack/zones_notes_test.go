package pack

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/finds"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// noteItem is the item of a block of derived notes.
func noteItem(p packJSON, kind string) *item {
	for i := range p.Items {
		if it := &p.Items[i]; it.Kind == kind && it.Extra {
			return it
		}
	}
	return nil
}

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

// Derived notes appear before the conversation, only after a compaction and only if the budget is
// large enough. Each line quotes its record, and no other block or live record repeats it.
func TestDerivedNotesStandBehindTheBoundary(t *testing.T) {
	l := notedLog(300)
	b := mustCompile(t, inputOf(l, notedBudget))
	md := string(b.Markdown)
	it := noteItem(parseJSON(t, b), "facts")
	if it == nil || b.Compactions == 0 {
		t.Fatalf("no facts after %d compactions", b.Compactions)
	}
	if room := notedBudget * journal.ZoneNotes / 1000; it.Tokens > room || it.Phase != phaseJournal || it.Trust != "agent" {
		t.Errorf("%+v", it)
	}
	folded := regexp.MustCompile(`(?m)^## .* \(folded\) .*$`)
	facts, _, _ := strings.Cut(blockNamed(md, "facts ("), testMarks.End())
	lines := strings.Split(strings.TrimSpace(facts), "\n")[1:]
	if len(lines) < 2 {
		t.Fatalf("facts: %q", lines)
	}
	for _, line := range lines {
		text, source, _ := strings.Cut(strings.TrimPrefix(line, "- "), " (")
		src, err := ctxabi.ParseSource(strings.TrimSuffix(source, ")"))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		raw, err := l.Record(src.Span.From)
		if err != nil || !strings.Contains(ctxabi.DecodeMessage(raw).Text, text) {
			t.Errorf("%q does not stand in record %d", text, src.Span.From)
		}
		if n := strings.Count(folded.ReplaceAllString(md, ""), text); n != 1 {
			t.Errorf("%q stands %d times in the pack", text, n)
		}
	}
	for what, in := range map[string]Input{
		"a small budget": inputOf(l, 8000), "no budget": inputOf(l, 0), "no compaction": inputOf(notedLog(20), notedBudget),
		"the agent's own": inputOf(l, notedBudget, blocks.File{At: sourceOfType(recipe.TypeFacts), ID: "facts", Path: ctxabi.FactsFile, Data: []byte(`{"id":"a","text":"b"}` + "\n"), Life: ctxabi.OriginAgent}),
	} {
		if it := noteItem(parseJSON(t, mustCompile(t, in)), "facts"); it != nil {
			t.Errorf("%s: %+v", what, it)
		}
	}
}

func sourceOfType(kind recipe.Type) int {
	for i, s := range recipe.Default().Sources {
		if s.Type == kind {
			return i
		}
	}
	panic(kind)
}

// A row of the agent with the id of a derived one takes its place.
func TestOwnRowsReplaceDerivedOnes(t *testing.T) {
	l := notedLog(300)
	f := finds.New(nil)
	n, err := f.At(context.Background(), l, l.Len(), nil)
	if err != nil || len(n.Facts) < 8 {
		t.Fatalf("%d facts, %v", len(n.Facts), err)
	}
	shown := blockNamed(string(mustCompile(t, inputOf(l, notedBudget)).Markdown), "facts (")
	i := slices.IndexFunc(n.Facts, func(row ctxabi.FactRow) bool { return strings.Contains(shown, record.OneLine(row.Text)) })
	if i < 0 {
		t.Fatalf("none of them is shown:\n%s", shown)
	}
	row := n.Facts[i]
	text := record.OneLine(row.Text)
	own := blocks.File{At: sourceOfType(recipe.TypeFacts), ID: "facts", Path: ctxabi.FactsFile, Life: ctxabi.OriginMixed,
		Data: []byte(`{"id":"` + row.ID + `","text":"it may be restarted at noon"}` + "\n")}
	b := mustCompile(t, inputOf(l, notedBudget, own))
	md := string(b.Markdown)
	if strings.Contains(blockNamed(md, "facts ("), text) || noteItem(parseJSON(t, b), "facts") == nil {
		t.Errorf("the derived row is still there, or all of them are gone:\n%s", blockNamed(md, "facts ("))
	}
	if !strings.Contains(blockNamed(md, "facts\n"), "at noon") {
		t.Error("the agent's row is not shown")
	}
}

// The facts change with compactions alone, whatever is appended, and packs made one after the other are those made at once.
func TestDerivedNotesKeepThePrefix(t *testing.T) {
	l := notedLog(170)
	var c Compiler
	last, shown, changed := "", 0, 0
	compactions := 0
	for n := 150; n <= l.Len(); n++ {
		in := inputOf(l.Prefix(n), notedBudget)
		b, err := c.Compile(in)
		if err != nil {
			t.Fatal(err)
		}
		facts := blockNamed(string(b.Markdown), "facts (")
		if facts != "" {
			shown++
		}
		if facts != last && b.Compactions == compactions {
			t.Fatalf("record %d changed the facts without a compaction", n)
		}
		if facts != last {
			changed++
		}
		last, compactions = facts, b.Compactions
		if n%17 == 0 {
			if fresh := mustCompile(t, in); string(fresh.Markdown) != string(b.Markdown) || string(fresh.JSON()) != string(b.JSON()) {
				t.Fatalf("record %d: another pack when it is made at once", n)
			}
		}
	}
	if shown < 10 || changed < 1 || compactions < 1 {
		t.Errorf("%d packs with facts, %d changes, %d compactions", shown, changed, compactions)
	}
}

// Folding on, folding anew and reading what was kept give the same notes at every place.
func TestFindsAtAnyPlace(t *testing.T) {
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
	f := finds.New(nil)
	for _, places := range []int{40, 41, 200, 7, 0, 260, 41, 199, l.Len(), 100, 150, 99, 98, 97, 96, 95, 94, 93, 40} {
		n, err := f.At(context.Background(), l, min(places, l.Len()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(n.Facts, n.Decisions, n.Refs, n.Todo); got != want(min(places, l.Len())) {
			t.Errorf("at %d:\n%s\nwant\n%s", places, got, want(min(places, l.Len())))
		}
	}
}
