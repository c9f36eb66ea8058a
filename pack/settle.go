package pack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/tokens"
)

// planned is what can be known of a pack before its generators run.
//
// The builder gathers the files that need no command, calls [Input.plan], runs
// the generators that are wanted, adds their outputs to Files and plans again:
// a computed fallback is wanted only when what stands before it in its chain
// came to nothing. When nothing new is wanted it compiles the same Input.
type planned struct {
	settled     int    // how many records the sources before the journal see
	compactions int    // what moved the settled point so far
	task        string // the last request of the user at the settled point
	current     string // the last request of the user now, and the open todos

	// wanted says for each source of the recipe whether its content can matter: its condition
	// holds, the strategy does not leave it out, and no source before it in its chain yields something or may still.
	wanted []bool
}

// plan finds the settled point and which sources are wanted. mm may be kept
// from one call to the next for the same session, and shared with compile; nil: a new one.
// That a source is missing is no error here.
func (in *Input) plan(mm *memo, c *tokens.Counter) (planned, error) {
	if mm == nil {
		mm = newMemo()
	}
	y, err := in.layout(mm, c)
	if err != nil {
		return planned{}, err
	}
	return y.planned, nil
}

// layout is a pack before its blocks are cut and its journal is rendered.
type layout struct {
	planned
	in      *Input
	memo    *memo
	counter *tokens.Counter
	history Records
	recipe  *recipe.Recipe
	files   map[int][]*File // by [File.At]
	limit   int             // of tokens, before anything is shared out; 0: none

	plan     *ctxabi.Plan
	strategy recipe.Strategy
	notes    []string // for the report
	prompt   bool     // the strategy's system prompt stands in the pack

	journal journalRule
	limits  limits
	most    int     // tokens of the journal, by its max_tokens; 0: no cap of its own
	clock   *fold   // of step 0, which says when compactions were
	blocks  []block // uncut, in the order of the recipe, then the strategy's sections; those without text say why
	todo    string
	missing error // a source that must yield something and does not
}

// begin reads what decides which sources there are and what they ask for.
func (in *Input) begin(mm *memo, c *tokens.Counter) *layout {
	y := &layout{in: in, memo: mm, counter: c, recipe: in.recipe(), files: map[int][]*File{}}
	for i := range in.Files {
		f := &in.Files[i]
		y.files[f.At] = append(y.files[f.At], f)
	}
	if in.Budget > 0 {
		y.limit = max(1, in.Budget-y.recipe.ReserveTokens)
	}
	y.readState()
	y.chooseStrategy()
	return y
}

func (in *Input) layout(mm *memo, c *tokens.Counter) (*layout, error) {
	mm.follow(in)
	y := in.begin(mm, c)
	y.history = in.history()
	j := y.findJournal()
	want := y.demand(j)
	y.limits, y.most = share(in.Budget, y.recipe.ReserveTokens, want), want.journal
	mm.use(y.limits)
	y.clock = mm.fold(y.history, y.journal.foldRules(y.limits, 0))
	if err := y.settle(); err != nil {
		return nil, err
	}
	y.useSources(j)
	return y, nil
}

// readState reads the plan and the todo list.
func (y *layout) readState() {
	plans := y.files[ofPlan]
	for k := range y.recipe.Sources {
		switch y.recipe.Sources[k].Type {
		case recipe.TypePlan:
			plans = append(plans, y.files[k]...)
		case recipe.TypeTodo:
			y.readTodo(k)
		}
	}
	y.readTodo(ofTodo)
	for _, f := range plans {
		if f.Reason != "" || len(f.Data) == 0 {
			continue
		}
		plan, err := ctxabi.ParsePlan(f.Data)
		if err != nil {
			y.notes = append(y.notes, fmt.Sprintf("%s: %v", f.Path, err))
			continue
		}
		y.plan = plan
		return
	}
}

func (y *layout) readTodo(at int) {
	for _, f := range y.files[at] {
		if f.Reason == "" && y.todo == "" {
			y.todo = string(f.Data)
		}
	}
}

func (y *layout) chooseStrategy() {
	has := func(s recipe.Section) bool {
		text, _ := y.section(s)
		return strings.TrimSpace(text) != ""
	}
	var note string
	if y.strategy, note = chooseStrategy(y.recipe, y.in.Agent, has); note != "" {
		y.notes = append(y.notes, note)
	}
}

// section is what a section of a strategy says now, and where that is from.
func (y *layout) section(s recipe.Section) (text, source string) {
	var diff []byte
	for _, f := range y.files[ofDiff] {
		if f.Reason == "" {
			diff = f.Data
		}
	}
	var file *File
	for _, f := range y.files[ofSection] {
		if f.ID == s.Name && f.Reason == "" {
			file = f
		}
	}
	return sectionText(s, y.plan, diff, file)
}

// leftOut says whether the strategy does without the source.
func (y *layout) leftOut(s *recipe.Source) bool {
	return slices.ContainsFunc(y.strategy.LeavesOut, func(name string) bool {
		return name == string(s.Type) || name == s.ID || name == s.Block
	})
}

// facts of the budget and the files: what does not change while the history grows.
func (y *layout) facts() *facts {
	return &facts{state: y.in.State, exists: y.in.Exists, limit: y.in.Budget}
}

// findJournal gives the index of the recipe's journal, -1 for none, and sets the rules of its fold.
func (y *layout) findJournal() int {
	for k := range y.recipe.Sources {
		s := &y.recipe.Sources[k]
		if s.Type == recipe.TypeJournal && !y.leftOut(s) && y.facts().possible(s.Condition) {
			y.journal = journalOf(y.recipe, s)
			return k
		}
	}
	y.journal = journalOf(y.recipe, nil)
	return -1
}

// demand sums up what the sources ask for. A source whose condition looks at the
// history counts as if it held.
func (y *layout) demand(journal int) demand {
	var d demand
	sources := y.recipe.Sources
	for k := 0; k < len(sources); {
		var most demand
		head := k
		for k == head || k < len(sources) && sources[k].Fallback > 0 {
			s, at := &sources[k], k
			k++
			if s.Type == recipe.TypeJournal || y.leftOut(s) || !y.facts().possible(s.Condition) {
				continue
			}
			n, yields := y.ask(at)
			most.add(s, n, y.limit)
			if yields && y.facts().verdict(s.Condition, true) == yes {
				for k < len(sources) && sources[k].Fallback > 0 {
					k++
				}
			}
		}
		d.required, d.whole, d.explicit = d.required+most.required, d.whole+most.whole, d.explicit+most.explicit
		d.footer, d.standard = d.footer+most.footer, d.standard+most.standard
	}
	for _, s := range y.strategy.Sections {
		if b := y.sectionBlock(s, 0); b.class == whole {
			d.whole += b.asked
		} else {
			d.explicit += s.MaxTokens
		}
	}
	if journal >= 0 {
		if s := &sources[journal]; s.MaxTokens > 0 {
			d.journal = max(minJournal, capOf(&recipe.Source{Type: recipe.TypeComputed, MaxTokens: s.MaxTokens, Percent: s.Percent}, y.limit))
			if y.limit == 0 && s.Percent {
				d.journal = 0
			}
		}
	}
	return d
}

// add lets a source of a chain, of which one is used, ask for n tokens.
func (d *demand) add(s *recipe.Source, n, limit int) {
	switch c := classOf(s); {
	case c == required:
		d.required = max(d.required, n)
	case c == whole:
		d.whole = max(d.whole, n)
	case c == explicit && s.Phase == recipe.Dynamic:
		d.footer = max(d.footer, n)
	case c == explicit:
		d.explicit = max(d.explicit, n)
	case s.Phase != recipe.Dynamic:
		d.standard = max(d.standard, n)
	}
}

// ask is how many tokens source k asks for, and whether it certainly yields something.
func (y *layout) ask(k int) (n int, yields bool) {
	s := &y.recipe.Sources[k]
	switch classOf(s) {
	case required, whole:
		blocks := y.contents(k, "", noCap)
		if s.Type == recipe.TypeSystemRole && len(blocks) == 0 {
			blocks = y.systemPrompt(k)
		}
		for i := range blocks {
			n += blocks[i].asked
			yields = yields || blocks[i].text != ""
		}
		return n, yields
	case explicit:
		if y.limit == 0 {
			return 0, false
		}
		return capOf(s, y.limit), false
	}
	if !s.Type.Computed() && len(y.files[k]) == 0 && !(s.Type == recipe.TypeErrors && len(y.in.Errors) > 0) {
		return 0, false
	}
	return scaled(defaultCaps[s.Type], y.limit), false
}

// settle finds the settled point: the last compaction or, before any, the first request of the user.
func (y *layout) settle() (err error) {
	f := y.clock
	user := f.first.line
	y.settled, y.compactions = f.first.line, f.compactions
	if f.compactions > 0 {
		y.settled, user = f.compacted, f.settledUser.line
	}
	if y.task, err = y.memo.request(y.history, user); err != nil {
		return err
	}
	if y.current, err = y.memo.request(y.history, f.last.line); err != nil {
		return err
	}
	for line := range strings.Lines(y.todo) {
		if open, ok := openTodo(line); ok {
			y.current += "\n" + open
		}
	}
	return nil
}

// openTodo gives the text of a line of a todo list that is an open item.
func openTodo(line string) (string, bool) {
	if done, all, _ := progress(line); all == 0 || done > 0 {
		return "", false
	}
	_, text, _ := strings.Cut(line, "]")
	return strings.TrimSpace(text), true
}

// useSources decides which sources are used and makes their blocks.
func (y *layout) useSources(journal int) {
	sources := y.recipe.Sources
	y.wanted = make([]bool, len(sources))
	y.journal.present = false
	for k := 0; k < len(sources); {
		end := k + 1
		for end < len(sources) && sources[end].Fallback > 0 {
			end++
		}
		y.useChain(k, end, journal)
		k = end
	}
	for i, s := range y.strategy.Sections {
		b := y.sectionBlock(s, len(sources)+i)
		if b.text != "" || s.Required {
			y.blocks = append(y.blocks, b)
		}
	}
}

// useChain uses the first source of from, from+1, … before end that yields something.
func (y *layout) useChain(from, end, journal int) {
	var left []block // why the others are not used
	why := func(k int, reason string) {
		b := y.blank(k, "")
		b.reason = reason
		left = append(left, b)
	}
	found, waiting, wanted := -1, false, false
	for k := from; k < end; k++ {
		s := &y.recipe.Sources[k]
		f := y.facts()
		f.turns, f.task = y.clock.turns, y.task
		if s.Phase == recipe.Dynamic {
			f.task = y.current
		}
		switch {
		case y.leftOut(s):
			why(k, "left out by the strategy "+y.strategy.Name)
			continue
		case !f.holds(s.Condition):
			why(k, "the condition does not hold: "+describe(s.Condition))
			continue
		case s.Type == recipe.TypeJournal:
			y.journal.present = y.journal.present || k == journal
			return
		case found >= 0:
			why(k, "not needed: "+y.recipe.Sources[found].Block+" yields something")
			continue
		case waiting && s.Type.Computed():
			why(k, "not needed yet")
			continue
		}
		wanted, y.wanted[k] = true, true
		if s.Type.Computed() && (len(y.files[k]) == 0 || y.files[k][0].Pending) {
			waiting = true
		}
		blocks := y.contents(k, f.task, noCap)
		if !slices.ContainsFunc(blocks, func(b block) bool { return b.text != "" }) {
			if s.Type == recipe.TypeSystemRole {
				if prompt := y.systemPrompt(k); len(prompt) > 0 {
					y.prompt, found = true, k
					y.blocks = append(y.blocks, prompt...)
					continue
				}
			}
			if len(blocks) == 0 {
				why(k, y.absence(k))
			}
			left = append(left, blocks...)
			continue
		}
		found = k
		y.blocks = append(y.blocks, blocks...)
	}
	for _, b := range left {
		// That a source of the built-in recipe has no file goes without saying.
		if b.reason != "missing" || b.source.Origin.File != "" {
			y.blocks = append(y.blocks, b)
		}
	}
	if head := &y.recipe.Sources[from]; found < 0 && wanted && head.OnMissing == recipe.Error && y.missing == nil && !y.pending(from, end) {
		var reasons []string
		for _, b := range left {
			reasons = append(reasons, fmt.Sprintf("%s (%s)", b.reason, b.path))
		}
		at := ""
		if head.Origin.File != "" {
			at = fmt.Sprintf(" (%s:%d)", head.Origin.File, head.Origin.Line)
		}
		y.missing = ctxabi.E("pack", ctxabi.PackFile, ctxabi.ErrNoData, "source %s%s yields nothing: %s; write it, or say on_missing: skip",
			head.Block, at, strings.Join(reasons, "; "))
	}
}

// pending says whether a generator of the chain has not given anything yet.
func (y *layout) pending(from, end int) bool {
	for k := from; k < end; k++ {
		if slices.ContainsFunc(y.files[k], func(f *File) bool { return f.Pending }) {
			return true
		}
	}
	return false
}

// absence is why source k has no content though none of its files says why.
func (y *layout) absence(k int) string {
	switch s := &y.recipe.Sources[k]; {
	case len(y.files[k]) == 0:
		return "missing"
	case y.files[k][0].Pending:
		return "its generator has not given anything yet"
	case s.Type.Selected():
		return "nothing of it suits the task"
	}
	return "empty"
}

// required gives the exact tokens of all that stands verbatim in the pack of these files, and the limit; 0: none.
// The input needs no history.
func (in *Input) required(c *tokens.Counter) (n, limit int) {
	y := in.begin(newMemo(), c)
	return y.demand(-1).required, y.limit
}
