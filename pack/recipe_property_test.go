package pack

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// condition draws one of any form.
func condition(depth int) *rapid.Generator[recipe.Condition] {
	return rapid.Custom(func(t *rapid.T) recipe.Condition {
		several := func() []recipe.Condition {
			return rapid.SliceOfN(condition(depth-1), 1, 3).Draw(t, "conditions")
		}
		kinds := 8
		if depth == 0 {
			kinds = 5
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "form") {
		case 0:
			return recipe.Condition{When: recipe.TaskContains, Pattern: rapid.SampledFrom([]string{"some", "x", "words|call", "^$"}).Draw(t, "pattern")}
		case 1:
			return recipe.Condition{When: recipe.FileExists, Path: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "path")}
		case 2:
			return recipe.Condition{When: recipe.StateIs, States: []string{"running"}}
		case 3:
			return recipe.Condition{When: recipe.TurnAtLeast, N: rapid.IntRange(0, 6).Draw(t, "n")}
		case 4:
			return recipe.Condition{When: recipe.BudgetAtLeast, N: rapid.IntRange(0, 40000).Draw(t, "n")}
		case 5:
			return recipe.Condition{All: several()}
		case 6:
			return recipe.Condition{Any: several()}
		}
		c := condition(depth-1).Draw(t, "not")
		return recipe.Condition{Not: &c}
	})
}

// anyRecipe draws a recipe and the files of its sources, some missing, failed, stale or pending.
func anyRecipe(t *rapid.T) (*recipe.Recipe, []blocks.File) {
	var sources []recipe.Source
	var all []blocks.File
	small := rapid.Map(text(), func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 150)], "") })
	large := rapid.Map(rapid.IntRange(100, 3000), func(n int) string { return strings.Repeat("a line of what is large\n", n) })
	n := rapid.IntRange(0, 9).Draw(t, "sources")
	journal := rapid.IntRange(-1, n-1).Draw(t, "journal") // -1: none
	for k := range n {
		s := recipe.Source{Type: rapid.SampledFrom(allTypes).Draw(t, "type"), Block: fmt.Sprint("block ", k), Priority: rapid.IntRange(1, 3).Draw(t, "priority")}
		switch {
		case k == journal:
			s.Type = recipe.TypeJournal
		case s.Type == recipe.TypeJournal:
			s.Type = recipe.TypeFile
		}
		if s.Type == recipe.TypeJournal {
			s.MaxIterations = rapid.SampledFrom([]int{0, 0, 1, 2, 5}).Draw(t, "iterations")
			s.Step = rapid.IntRange(1, 3).Draw(t, "step")
			s.TruncateHead = rapid.IntRange(0, 3).Draw(t, "truncate") == 0
		} else if rapid.IntRange(0, 3).Draw(t, "elsewhere") == 0 {
			s.Phase = rapid.SampledFrom([]recipe.Phase{recipe.Stable, recipe.Session, recipe.Dynamic}).Draw(t, "phase")
		}
		switch rapid.IntRange(0, 4).Draw(t, "max_tokens") {
		case 0:
			s.MaxTokens = rapid.IntRange(1, 3000).Draw(t, "tokens")
		case 1:
			s.MaxTokens, s.Percent = rapid.IntRange(1, 10000).Draw(t, "percent"), true
		}
		if s.Type.Required() {
			s.MaxTokens, s.Percent = 0, false
		}
		if rapid.IntRange(0, 2).Draw(t, "conditional") == 0 && s.Type != recipe.TypeJournal {
			c := condition(2).Draw(t, "condition")
			s.Condition = &c
		}
		if k > 0 && s.Type != recipe.TypeJournal && sources[k-1].Type != recipe.TypeJournal && rapid.IntRange(0, 3).Draw(t, "fallback") == 0 {
			s.Fallback = sources[k-1].Fallback + 1
		} else if rapid.IntRange(0, 15).Draw(t, "error") == 0 {
			s.OnMissing = recipe.Error
		}
		for _, f := range sampleOf(s.Type, k) {
			switch {
			case s.Type.Required():
				f.Data = []byte(small.Draw(t, "required"))
			case s.Type.Computed() && rapid.IntRange(0, 5).Draw(t, "pending") == 0:
				f.Pending, f.Data = true, nil
			case rapid.IntRange(0, 5).Draw(t, "failed") == 0:
				f.Reason = "permission denied"
			case s.Type != recipe.TypeTools && s.Type != recipe.TypePlan && rapid.IntRange(0, 2).Draw(t, "own text") > 0:
				f.Data = []byte(rapid.OneOf(text(), large, large, rapid.Just("not \xff\xfe UTF-8 \xe4")).Draw(t, "content"))
			}
			f.ID = fmt.Sprint(f.ID, " of ", k)
			f.Stale = rapid.IntRange(0, 9).Draw(t, "stale") == 0
			if rapid.IntRange(0, 4).Draw(t, "there") > 0 {
				all = append(all, f)
			}
		}
		sources = append(sources, s)
	}
	r := recipeOf(sources...)
	r.ReserveTokens = rapid.SampledFrom([]int{0, 0, 100, 500}).Draw(t, "reserve")
	r.History.Low = rapid.SampledFrom([]float64{0.3, 0.55, 0.8}).Draw(t, "low")
	if rapid.IntRange(0, 2).Draw(t, "strategy") == 0 {
		r.Strategy = "mine"
		s := recipe.Strategy{Name: "mine", SystemPrompt: rapid.SampledFrom([]string{"", "Be mine.\n"}).Draw(t, "prompt")}
		for i := range rapid.IntRange(0, 3).Draw(t, "sections") {
			s.Sections = append(s.Sections, recipe.Section{Name: fmt.Sprint("part ", i), Text: text().Draw(t, "section"), MaxTokens: rapid.SampledFrom([]int{0, 50}).Draw(t, "section tokens")})
		}
		if rapid.Bool().Draw(t, "leaves out") {
			s.LeavesOut = []string{string(rapid.SampledFrom(allTypes).Draw(t, "left out"))}
		}
		r.Strategies = append(r.Strategies, s)
	}
	return rehash(r), all
}

// recipeInput is the input of the first n records with a drawn recipe.
func recipeInput(h *memHistory, n, budget int, r *recipe.Recipe, files []blocks.File) Input {
	in := h.input(n, budget, files...)
	in.Recipe, in.State, in.Exists, in.Errors = r, "running", map[string]bool{"a": true}, sampleErrors
	return in
}

// allowed reports whether a build may fail with err: a source is missing, or what is required does not fit.
func allowed(t *rapid.T, in Input, err error) bool {
	if errors.Is(err, ctxabi.ErrNoData) {
		for _, s := range in.Recipe.Sources {
			if s.OnMissing == recipe.Error && strings.Contains(err.Error(), s.Block) {
				return true
			}
		}
	}
	n, limit := (&in).required(testCounter)
	return errors.Is(err, ctxabi.ErrOverBudget) && n+minJournal > limit
}

// For random recipes, files and histories every pack keeps every promise.
func TestRecipeProperties(t *testing.T) {
	pure(t)
	rapid.Check(t, func(t *rapid.T) {
		h := wholeHistory(t)
		r, files := anyRecipe(t)
		in := recipeInput(h, h.len(), budget().Draw(t, "budget"), r, files)
		b, err := compile(in)
		if err != nil {
			if !allowed(t, in, err) {
				t.Fatal(err)
			}
			return
		}
		p := checkNumbers(t, in, b)
		checkAccounting(t, in, p)
		checkFraming(t, in, p, string(b.Markdown))
		again, err := compile(in)
		if err != nil {
			t.Fatal(err)
		}
		sameBuild(t, b, again)
		checkJournal(t, in, p, string(b.Markdown))
		for _, it := range p.Items {
			if it.Cut && it.Path == "" {
				t.Fatalf("%s is cut and no path gives the rest", it.ID)
			}
			for _, s := range r.Sources {
				if s.Block == it.ID && s.MaxTokens > 0 && !s.Percent && it.Tokens > s.MaxTokens {
					t.Fatalf("%s takes %d tokens, max_tokens is %d", it.ID, it.Tokens, s.MaxTokens)
				}
				if s.Block == it.ID && string(it.Phase) != string(s.Phase) {
					t.Fatalf("%s stands in %s", it.ID, it.Phase)
				}
			}
		}
	})
}

// checkJournal: the last request stands in every journal, and its max_tokens is kept.
func checkJournal(t *rapid.T, in Input, p packJSON, md string) {
	for _, s := range in.Recipe.Sources {
		if s.Type != recipe.TypeJournal || p.Framing == 0 {
			continue
		}
		takes := p.Framing - marksOutside(in, p, md)
		for _, it := range p.Items {
			if it.Phase == phaseJournal {
				takes += it.Tokens
			}
		}
		if s.MaxTokens > 0 && !s.Percent && takes > max(minJournal, s.MaxTokens) {
			t.Fatalf("the journal takes %d tokens, max_tokens is %d", takes, s.MaxTokens)
		}
		for line := in.Messages.Len(); line > 0; line-- {
			if record.IsUser(in.Messages.At(line)) {
				if !strings.Contains(md, fmt.Sprintf("\n## %d user", line)) {
					t.Fatalf("the last user record %d is not in the pack:\n%s", line, md)
				}
				return
			}
		}
	}
}

// marksOutside returns the tokens of the marks around blocks outside the journal.
func marksOutside(in Input, p packJSON, md string) (tokens int) {
	outside := map[string]bool{}
	for _, it := range p.Items {
		outside[it.ID] = outside[it.ID] || it.Phase != phaseJournal
	}
	begin, open := "", false
	for line := range strings.Lines(md) {
		label, ends := testMarks.ReadMark(line)
		id, heads := strings.CutPrefix(strings.TrimSuffix(line, "\n"), record.BlockHeading)
		switch {
		case heads && begin != "" && outside[id]:
			tokens, open = tokens+countText(in.Encoding, begin), true
		case ends && open:
			tokens, open = tokens+countText(in.Encoding, line), false
		}
		if begin = ""; label != ctxabi.Unlabeled {
			begin = line
		}
	}
	return tokens
}

// checkPlan: what is planned before generators run is what the pack is made by, though all other chains are left out.
func checkPlan(t *rapid.T, in Input, mm *Memo) {
	p, err := in.Plan(mm, testCounter)
	if err != nil {
		t.Fatal(err)
	}
	y, err := in.layout(NewMemo(), testCounter)
	if err != nil {
		t.Fatal(err)
	}
	for k := range y.recipe.Sources {
		if y.recipe.Sources[k].Type.Computed() && p.Wanted[k] != y.Wanted[k] {
			t.Fatalf("generator %d: planned %v, used %v", k, p.Wanted[k], y.Wanted[k])
		}
	}
	if p.Wanted = y.Wanted; !reflect.DeepEqual(p, y.Planned) {
		t.Fatalf("planned %+v, made by %+v", p, y.Planned)
	}
}

// Record by record with a random recipe, files edited in between: within an epoch the prefix only grows, and what
// was compiled step by step is what is compiled at once.
func TestRecipePrefixProperties(t *testing.T) {
	pure(t)
	suite.Check(t, 30, func(t *rapid.T) {
		h := wholeHistory(t)
		r, files := anyRecipe(t)
		limit := budget().Draw(t, "budget")
		mm := NewMemo()
		var before *Build
		for n := 0; n <= h.len(); n++ {
			if len(files) > 0 && rapid.IntRange(0, 4).Draw(t, "edit") == 0 {
				files = slices.Clone(files)
				f := &files[rapid.IntRange(0, len(files)-1).Draw(t, "edited")]
				if !r.Sources[f.At].Type.Required() {
					f.Data, f.Pending, f.Reason = []byte(text().Draw(t, "edit to")), false, ""
				}
			}
			in := recipeInput(h, n, limit, r, files)
			in.State = rapid.SampledFrom([]string{"running", "waiting"}).Draw(t, "state")
			if n%3 == 0 {
				checkPlan(t, in, mm)
			}
			b, err := CompileWith(&in, mm)
			if err != nil {
				if !allowed(t, in, err) {
					t.Fatal(err)
				}
				continue
			}
			if limit > 0 && b.Tokens > limit {
				t.Fatalf("%d tokens, the budget is %d", b.Tokens, limit)
			}
			if before != nil && before.Epoch == b.Epoch && !bytes.HasPrefix(b.Markdown[:b.Prefix], before.Markdown[:before.Prefix]) {
				t.Fatalf("record %d broke the prefix within epoch %s:\n%s\n---\n%s", n, b.Epoch, before.Markdown, b.Markdown)
			}
			before = b
			if n == h.len() || n%16 == 7 {
				whole, err := compile(in)
				if err != nil {
					t.Fatal(err)
				}
				sameBuild(t, b, whole)
			}
		}
	})
}

// What is shared out is never more than there is, and the journal keeps its least.
func TestShareProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
		budget, reserve := rapid.IntRange(1, 50000).Draw(t, "budget"), n("reserve", 3000)
		d := demand{required: n("required", 5000), whole: n("whole", 60000), explicit: n("explicit", 60000), footer: n("footer", 5000), standard: n("standard", 9000)}
		l := share(budget, reserve, d)
		if l.required+minJournal > l.limit {
			return
		}
		if sum := l.required + l.whole + l.head + l.footer; sum+l.room > l.limit {
			t.Fatalf("%+v: %d tokens of %d", l, sum+l.room, l.limit)
		}
		for _, x := range []int{l.whole, l.head, l.standard, l.footer} {
			if x < 0 {
				t.Fatalf("%+v", l)
			}
		}
		if least := min(max(minJournal, l.limit/8), l.limit-l.required) * 6 / 10; l.room < least {
			t.Fatalf("%+v: less than %d for the journal", l, least)
		}
		if standard := l.standard + min(l.footer, max(200, l.limit/20)); standard > l.limit*standardShare/1000+d.footer {
			t.Fatalf("%+v: %d tokens by default caps", l, standard)
		}
	})
}

// max_iterations against the plain meaning of the words: at every moment the newest N
// iterations are live, no more and no fewer, and the oldest k leave at a time.
func TestMaxIterationsIsExact(t *testing.T) {
	pure(t)
	rapid.Check(t, func(t *rapid.T) {
		most, step := rapid.IntRange(1, 5).Draw(t, "N"), rapid.IntRange(1, 3).Draw(t, "k")
		r := recipeOf(recipe.Source{Type: recipe.TypeJournal, MaxIterations: most, Step: step})
		l := newLog()
		if rapid.Bool().Draw(t, "system") {
			l.Append(message("system", "Answer briefly."))
		}
		mm := NewMemo()
		var starts []int // of the iterations, by line
		live := 0        // how many of them are live
		check := func() {
			in := inputOf(l.Prefix(l.Len()), rapid.SampledFrom([]int{0, 400_000}).Draw(t, "budget"))
			in.Recipe = r
			b, err := CompileWith(&in, mm)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			_, records, _ := readBack(string(b.Markdown))
			for _, rec := range records {
				var line int
				fmt.Sscan(rec, &line)
				got = append(got, line)
			}
			first := starts[len(starts)-live]
			for line := first; line <= l.Len(); line++ {
				if got[len(got)-1-(l.Len()-line)] != line {
					t.Fatalf("record %d of a live iteration is missing: %v (starts %v, %d live)", line, got, starts, live)
				}
			}
			for _, line := range got { // of what is older only what is always kept stands there
				if e := l.At(line); line < first && e.Role != ctxabi.System && e.Role != ctxabi.User {
					t.Fatalf("record %d is older than %d and stands there", line, first)
				}
			}
		}
		opens := func() {
			starts = append(starts, l.Len()+1)
			if live++; live > most {
				live = max(1, most+1-step)
			}
		}
		for i := range rapid.IntRange(1, 14).Draw(t, "iterations") {
			asked := rapid.IntRange(0, 2).Draw(t, "asked")
			for j := range asked {
				if j == 0 {
					opens()
				}
				l.Append(message("user", fmt.Sprint("request ", i, j)))
				check()
			}
			if asked == 0 {
				opens()
			}
			calls := rapid.IntRange(0, 3).Draw(t, "calls")
			var made []string
			for c := range calls {
				made = append(made, fmt.Sprintf(`{"id":"c%d_%d","name":"run","arguments":"{}"}`, i, c))
			}
			l.Append([]byte(`{"role":"assistant","content":"ok","tool_calls":[` + strings.Join(made, ",") + `]}`))
			check()
			for c := range calls {
				l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d_%d","content":"done"}`, i, c)))
				check()
			}
		}
	})
}
