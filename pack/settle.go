package pack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// layout is a pack before its blocks are cut and its journal is rendered.
type layout struct {
	Planned
	in      *Input
	memo    *Memo
	counter *tokens.Counter
	history record.Records
	recipe  *recipe.Recipe
	files   map[int][]*blocks.File // by At
	limit   int                    // of tokens, before anything is shared out; 0: none

	plan     *ctxabi.Plan
	strategy recipe.Strategy
	wrong    string   // why it is not the strategy that was asked for; "": it is
	notes    []string // for the report
	prompt   bool     // the strategy's system prompt stands in the pack

	journal    journal.Policy
	zoned      bool // the journal shows delivered summaries
	limits     limits
	most       int           // tokens of the journal, by its max_tokens; 0: no cap of its own
	clock      *journal.Fold // of step 0, which says when compactions were
	blocks     []block       // uncut, in the order of the recipe, then the strategy's sections; those without text say why
	todo       string
	toolTokens int            // of the definitions of tools in native renderings
	missing    error          // a source that must yield something and does not
	times      map[int]lifted // see liftedTimes; nil: not looked for yet
}

// begin reads what decides which sources there are and what they ask for.
func (in *Input) begin(mm *Memo, c *tokens.Counter) *layout {
	y := &layout{in: in, memo: mm, counter: c, recipe: in.UsedRecipe(), files: map[int][]*blocks.File{}}
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

func (in *Input) layout(mm *Memo, c *tokens.Counter) (*layout, error) {
	y, journal, err := in.settled(mm, c)
	if err != nil {
		return nil, err
	}
	y.useSources(journal, func([]recipe.Source) bool { return true })
	y.useSections()
	return y, nil
}

// settled is a layout that knows its settled point and uses no source yet, and the index of the recipe's journal.
func (in *Input) settled(mm *Memo, c *tokens.Counter) (y *layout, journal int, err error) {
	mm.follow(in)
	y = in.begin(mm, c)
	y.history = in.History()
	journal = y.findJournal()
	y.findMost(journal)
	y.zoned = journal >= 0 && y.journal.Zoned() && (y.limit > 0 || y.most > 0)
	y.limitSummary()
	want := y.demand()
	y.limits = share(in.Budget, y.recipe.ReserveTokens, want)
	y.reserveTools()
	mm.Marks = in.labelMarks()
	mm.Use(y.limits.space())
	mm.Counter = c
	mm.Deliver(in.Summaries, c)
	mm.Decided = y.decisions()
	y.clock = mm.Fold(y.history, y.journal.Rules(y.limits.space(), 0))
	return y, journal, y.settle()
}

// reserveTools takes from the journal's room what the definitions of tools take in native renderings beyond their block in pack.md.
func (y *layout) reserveTools() {
	for k := range y.recipe.Sources {
		s := &y.recipe.Sources[k]
		if s.Type != recipe.TypeTools || y.leftOut(s) || y.facts().Verdict(s.Condition, true) != blocks.Yes {
			continue
		}
		for _, f := range y.usable(k) {
			y.toolTokens = native.ParseTools(f.Data).Tokens(y.counter)
		}
		if l := &y.limits; l.limit > 0 && l.room > 0 {
			more := max(0, y.toolTokens-capOf(s, l.limit))
			l.room = max(l.room-more, min(l.room, minJournal))
		}
	}
}

// readState reads the plan and the todo list.
func (y *layout) readState() {
	plans := y.files[blocks.OfPlan]
	for k := range y.recipe.Sources {
		switch y.recipe.Sources[k].Type {
		case recipe.TypePlan:
			plans = append(plans, y.files[k]...)
		case recipe.TypeTodo:
			y.readTodo(k)
		}
	}
	y.readTodo(blocks.OfTodo)
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
	y.strategy, y.wrong = blocks.ChooseStrategy(y.recipe, y.in.Agent, func(s recipe.Section) string {
		if text, _ := y.section(s); strings.TrimSpace(text) != "" {
			return ""
		}
		return blocks.WhyEmpty(s, y.plan)
	})
}

// section is what a section of a strategy says now, and where that is from.
func (y *layout) section(s recipe.Section) (text, source string) {
	var diff []byte
	for _, f := range y.files[blocks.OfDiff] {
		if f.Reason == "" {
			diff = f.Data
		}
	}
	var file *blocks.File
	for _, f := range y.files[blocks.OfSection] {
		if f.ID == s.Name && f.Reason == "" {
			file = f
		}
	}
	return blocks.SectionText(s, y.plan, diff, file)
}

// leftOut reports whether the strategy does without the source.
func (y *layout) leftOut(s *recipe.Source) bool {
	return slices.ContainsFunc(y.strategy.LeavesOut, func(name string) bool {
		return name == string(s.Type) || name == s.ID || name == s.Block
	})
}

// facts of the budget and the files: what does not change while the history grows.
func (y *layout) facts() *blocks.Facts {
	return &blocks.Facts{State: y.in.State, Exists: y.in.Exists, Limit: y.in.Budget}
}

// findJournal returns the index of the recipe's journal, -1 for none, and sets the rules of its fold.
func (y *layout) findJournal() int {
	for k := range y.recipe.Sources {
		s := &y.recipe.Sources[k]
		if s.Type == recipe.TypeJournal && !y.leftOut(s) && y.facts().Possible(s.Condition) {
			y.journal = journal.PolicyOf(y.recipe, s)
			y.journal.Without = y.in.Without
			return k
		}
	}
	y.journal = journal.PolicyOf(y.recipe, nil)
	return -1
}

// settle finds the settled point: the last compaction or, before any, the first request of the user.
func (y *layout) settle() (err error) {
	f := y.clock
	y.settled, y.Compactions = cmp.Or(f.First.Line, f.Opening), f.Compactions
	if f.Compactions > 0 {
		y.settled = f.Compacted
		if y.task, err = y.memo.Task(y.history, f.SettledUser.Line, f.SettledRequests); err != nil {
			return err
		}
	} else if y.task, err = y.memo.Request(y.history, y.settled); err != nil {
		return err
	}
	if y.current, err = y.memo.Task(y.history, f.Last.Line, f.Requests); err != nil {
		return err
	}
	for line := range strings.Lines(y.todo) {
		if _, open, item := blocks.TodoItem(line); open {
			y.current += "\n" + item
		}
	}
	return nil
}
