package pack

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// lines is a text of about n tokens.
func lines(n int) []byte { return []byte(strings.Repeat("some words that stand in one line\n", n/8)) }

// What each class of source is given when there is much of everything, at a limit of 8,000 beside a long session.
func TestWhoGetsHowMuch(t *testing.T) {
	pure(t)
	type source = recipe.Source
	journal := source{Type: recipe.TypeJournal}
	for _, c := range []struct {
		name    string
		sources []source
		asks    int            // tokens of each file
		least   map[string]int // tokens of a block
		most    map[string]int
		whole   []string // not cut
		journal int      // least of the journal
	}{
		{name: "a file is given whole", sources: []source{{Type: recipe.TypeFile, ID: "a"}, journal}, asks: 5000, whole: []string{"a"}, journal: 1000},
		{name: "but the journal keeps an eighth", sources: []source{{Type: recipe.TypeFile, ID: "a"}, journal}, asks: 20_000,
			least: map[string]int{"a": 6000}, most: map[string]int{"a": 7000}, journal: 350},
		{name: "max_tokens is given", sources: []source{{Type: recipe.TypeComputed, ID: "a", MaxTokens: 3000}, {Type: recipe.TypePipeline, ID: "b", MaxTokens: 2000}, journal}, asks: 9000,
			least: map[string]int{"a": 2900, "b": 1900}, most: map[string]int{"a": 3000, "b": 2000}, journal: 1000},
		{name: "as a share, too", sources: []source{{Type: recipe.TypeFile, ID: "a", MaxTokens: 1000, Percent: true}, journal}, asks: 9000,
			least: map[string]int{"a": 740}, most: map[string]int{"a": 800}},
		{name: "after the journal, too", sources: []source{journal, {Type: recipe.TypeComputed, ID: "a", MaxTokens: 2000, Phase: recipe.Dynamic}}, asks: 9000,
			least: map[string]int{"a": 1900}, most: map[string]int{"a": 2000}, journal: 1000},
		{name: "a smaller priority is served first", sources: []source{{Type: recipe.TypeComputed, ID: "a", MaxTokens: 6000}, {Type: recipe.TypeComputed, ID: "b", MaxTokens: 6000, Priority: 5}, journal}, asks: 9000,
			least: map[string]int{"b": 5900}, most: map[string]int{"a": 1100}, journal: 250},
		{name: "of two files as well", sources: []source{{Type: recipe.TypeFile, ID: "a"}, {Type: recipe.TypeFile, ID: "b", Priority: 5}, journal}, asks: 5000, whole: []string{"b"},
			most: map[string]int{"a": 2100}},
		{name: "default caps scale with the limit", sources: []source{{Type: recipe.TypeComputed, ID: "a"}, {Type: recipe.TypeSummary}, journal, {Type: recipe.TypeTodo}}, asks: 9000,
			least: map[string]int{"a": 850, "todo": 300}, most: map[string]int{"a": 1000, "todo": 400}, journal: 4000},
		{name: "what has no condition that holds gets nothing", sources: []source{{Type: recipe.TypeFile, ID: "a", Condition: &recipe.Condition{When: recipe.BudgetAtLeast, N: 9000}}, journal}, asks: 5000,
			most: map[string]int{"a": 0}, journal: 4000},
		{name: "the journal has a cap", sources: []source{{Type: recipe.TypeJournal, MaxTokens: 1000}}, most: map[string]int{"journal": 1000}, journal: 300},
	} {
		r := recipeOf(c.sources...)
		in := inputOf(longLog(400), 8000)
		in.Recipe = r
		for i, s := range r.Sources {
			if s.Type != recipe.TypeJournal {
				in.Files = append(in.Files, blocks.File{At: i, ID: s.Block, Path: s.Block + ".md", Data: lines(c.asks)})
			}
		}
		b := mustCompile(t, in)
		p := parseJSON(t, b)
		given, cut := map[string]int{"journal": p.Framing}, map[string]bool{}
		for _, it := range p.Items {
			id := it.ID
			if it.Phase == phaseJournal {
				id = "journal"
			}
			given[id] += it.Tokens
			cut[id] = it.Cut
		}
		for id, n := range c.least {
			if given[id] < n {
				t.Errorf("%s: %s is given %d tokens, not %d", c.name, id, given[id], n)
			}
		}
		for id, n := range c.most {
			if given[id] > n {
				t.Errorf("%s: %s is given %d tokens, more than %d", c.name, id, given[id], n)
			}
		}
		for _, id := range c.whole {
			if given[id] == 0 || cut[id] {
				t.Errorf("%s: %s is cut", c.name, id)
			}
		}
		if given["journal"] < c.journal {
			t.Errorf("%s: the journal is given %d tokens", c.name, given["journal"])
		}
		if n := count(t, "", b.Markdown); n > 8000 || n != b.Tokens {
			t.Errorf("%s: %d tokens, %d stated", c.name, n, b.Tokens)
		}
	}
}

// reserve_tokens are kept free, and without a limit max_tokens still cut.
func TestReserveAndNoLimit(t *testing.T) {
	r := recipeOf(recipe.Source{Type: recipe.TypeFile, ID: "a", MaxTokens: 300}, recipe.Source{Type: recipe.TypeFile, ID: "b"}, recipe.Source{Type: recipe.TypeJournal, MaxTokens: 2000})
	in := inputOf(longLog(400), 8000)
	in.Recipe, in.Files = r, []blocks.File{{At: 0, ID: "a", Path: "a.md", Data: lines(2000)}, {At: 1, ID: "b", Path: "b.md", Data: lines(9000)}}
	r.ReserveTokens = 3000
	if b := mustCompile(t, in); b.Tokens > 5000 || b.Tokens < 4000 {
		t.Errorf("%d tokens of 8000 with 3000 reserved", b.Tokens)
	}
	in.Budget = 0
	p := parseJSON(t, mustCompile(t, in))
	journal := p.Framing
	for _, it := range p.Items {
		switch {
		case it.ID == "a" && (!it.Cut || it.Tokens > 300), it.ID == "b" && it.Cut:
			t.Errorf("%+v", it)
		case it.Phase == phaseJournal:
			journal += it.Tokens
		}
	}
	if journal > 2000 || journal < 500 {
		t.Errorf("the journal takes %d tokens, max_tokens is 2000", journal)
	}
}

// One large file without max_tokens is cut in any case; it must not take what the small blocks ask for as well.
func TestLargeFileStarvesSmallBlocks(t *testing.T) {
	l := share(4000, 1000, demand{whole: 50_000, standard: 300, explicit: 200})
	if l.standard < 150 || l.head < 350 || l.whole < 1000 || l.room < 375 {
		t.Errorf("%+v", l)
	}
	if l := share(4000, 0, demand{whole: 3000, standard: 900}); l.whole != 3000 {
		t.Errorf("a file that fits is cut: %+v", l)
	}
}
