package cli

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/eval"
	"github.com/ctxfs/ctxfs/internal/cli"
	packcli "github.com/ctxfs/ctxfs/pack/cli"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/section"
)

type evalFlags struct {
	budgets       []int
	cuts, jobs    int
	only, without []string
	encoding      string
	recipe, lost  string
	asJSON, quick bool
	alone         bool
	stretches     string
	derived       bool
	seeds         int
	options       eval.Options // what all of these mean
}

// quickCuts and quickBudgets are what --quick does with, unless other flags say more.
const quickCuts = 3

var quickBudgets = []int{4000}

func evalCmd() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval [flags] DIR...",
		Short: "Measure packs on your own history, and compare simpler ways",
		Long: `Replay sessions and build the pack at cuts through each of them. Measure how much
of what the agent used next is in the pack, how much of a pack is the beginning of
the next one, and what is left of tool outputs that were shortened. Do the same
with simpler ways to choose what an agent sees: the last messages, head and tail,
masked tool outputs, a search. eval asks no model and changes nothing.

DIR is a file of messages (one JSON object a line), the directory of a session in
a store or a mount, a directory that contains such files or sessions, or a .json
file of histories with questions, whose form docs/eval.md describes. Only the
messages count. Prompts, pins and other files of the session, and sources of a
recipe that need files, are left out for all ways.

The figures, one a column; higher is better, except for cost and what is per call:
  FRC     identifiers in the agent's next 5 messages that it had seen before: the
          share that is in the pack
  FRCctx  the same, in the line in which it was
  FarCtx  the same, of those last seen at least 20 messages ago
  FWC     rare plain words of these messages
  F5G     runs of five words of these messages
  prefix  tokens of a pack that are the beginning of the pack of the next call
  cost    of a token, if those cost 0.1 and all others 1.25
  effective_tokens, compactions_per_call  the same of a whole pack, in tokens; and
          how many compactions come to one call of the model
  fill    the share of the budget that a pack uses
  EvR, AnsIn  with questions, in a .json file or in NAME.questions.jsonl beside
          NAME.jsonl: evidence records that are in the pack, answers that are
  outputs    what is left of large tool outputs; a table of its own

--derived measures the notes that ctxfs derives from a history instead
(facts.jsonl, decisions.jsonl, todo.md). It plants statements into the sessions,
as people write them, between others that only look like statements, and looks
for them in the rows.

--stretches odd measures every other stretch of 20 calls of the model, --stretches
even the others. Choose settings by the one half, and judge them by the other.

exam asks what a reader learns from a prompt; see 'ctxfs eval exam'.

docs/eval.md has more, and how to judge the result.`,
		Example: `  ctxfs eval ~/sessions
  ctxfs eval --budgets 8000 --only frcctx,farctx --cuts 5 .
  ctxfs eval --recipe context.yaml --lost lost.jsonl /ctx/home/1000/agent/coder
  ctxfs eval --alone --without quotes ~/sessions
  ctxfs eval --derived ~/sessions
  ctxfs eval --quick --json examples/session | jq '.rows[] | select(.method == "ctxfs")'`,
		Args:    cobra.MinimumNArgs(1),
		PreRunE: func(c *cobra.Command, _ []string) error { return f.check(c.Flags().Changed) },
		RunE: func(c *cobra.Command, args []string) error {
			sessions, err := eval.Load(args, f.encoding, func(why string) { fmt.Fprintln(c.ErrOrStderr(), "ctxfs:", why) })
			if err != nil {
				return err
			}
			if f.derived {
				return f.runDerived(c, sessions)
			}
			result, err := f.run(c, sessions)
			if err != nil {
				return err
			}
			if f.asJSON {
				return cli.PrintJSON(c.OutOrStdout(), result)
			}
			return result.WriteMarkdown(c.OutOrStdout(), &f.options)
		},
	}
	fl := c.Flags()
	fl.IntSliceVar(&f.budgets, "budgets", []int{4000, 8000, 16000, 32000}, "`TOKENS` of a pack; several, separated by commas")
	fl.IntVar(&f.cuts, "cuts", 100, "most cuts through a session; 0: all")
	fl.IntVar(&f.jobs, "jobs", runtime.GOMAXPROCS(0), "how many replays run at a time")
	fl.StringSliceVar(&f.only, "only", nil, "measure only this `FIGURE`; several, separated by commas")
	fl.BoolVar(&f.alone, "alone", false, "measure ctxfs without the methods it is compared with")
	fl.StringVar(&f.stretches, "stretches", "", "measure only the `HALF` of the stretches: odd or even")
	fl.StringVar(&f.encoding, "encoding", "", "an encoding or a model's `NAME` (default o200k_base)")
	fl.StringVar(&f.recipe, "recipe", "", "compile by the recipe in `FILE`, to try its history settings")
	fl.StringArrayVar(&f.without, "without", nil,
		"leave out the `SECTION` of compacted records, to measure its worth: "+strings.Join(section.Names(), ", "))
	fl.StringVar(&f.lost, "lost", "", "write what the packs of ctxfs (or the notes) lost to `FILE`, a JSON object a line")
	fl.BoolVar(&f.asJSON, "json", false, "print a JSON object, with each session's figures")
	fl.BoolVar(&f.derived, "derived", false, "measure whether derived notes contain statements that are planted into the sessions")
	fl.IntVar(&f.seeds, "seeds", 20, "with --derived: how many `TIMES` statements are planted into each session")
	fl.BoolVar(&f.quick, "quick", false, "a short look: 3 cuts at 4000 tokens")
	c.AddCommand(evalExamCmd())
	return c
}

func (f *evalFlags) check(given func(string) bool) error {
	if f.quick && !given("cuts") {
		f.cuts = quickCuts
	}
	if f.quick && !given("budgets") {
		f.budgets = quickBudgets
	}
	for _, b := range f.budgets {
		if b < 500 {
			return cli.Usagef("--budgets %d: at least 500 tokens", b)
		}
	}
	if f.seeds < 1 {
		return cli.Usagef("--seeds must be at least 1")
	}
	if given("seeds") && !f.derived {
		return cli.Usagef("--seeds needs --derived")
	}
	if f.derived {
		for _, other := range []string{
			"budgets", "cuts", "only", "alone", "stretches", "recipe", "without", "quick", "encoding", "jobs",
		} {
			if given(other) {
				return cli.Usagef("--%s cannot be used with --derived, which builds no packs", other)
			}
		}
	}
	if f.cuts < 0 || f.jobs < 1 {
		return cli.Usagef("--cuts must not be negative, --jobs must be at least 1")
	}
	f.options = eval.Options{Budgets: f.budgets, Cuts: f.cuts, Encoding: f.encoding, Alone: f.alone, Jobs: f.jobs, Lost: f.lost != ""}
	var err error
	if f.options.Without, err = section.SetOf(f.without...); err != nil {
		return cli.Usagef("--without %w", err)
	}
	if f.stretches != "" {
		half, err := eval.ParseStretches(f.stretches)
		if err != nil {
			return cli.Usagef("--stretches %w", err)
		}
		f.options.Stretches = half
	}
	for _, name := range f.only {
		figure, err := eval.ParseFigure(name)
		if err != nil {
			return cli.Usagef("--only %w", err)
		}
		f.options.Only = append(f.options.Only, figure)
	}
	return nil
}

// runDerived prints both halves of the phrases: those that the finders were made with, and those that were held out.
func (f *evalFlags) runDerived(c *cobra.Command, sessions []*eval.Session) error {
	halves, lost, err := eval.RunHalves(sessions, f.seeds)
	if err == nil && f.lost != "" {
		err = eval.WriteLost(f.lost, lost)
	}
	if err != nil {
		return err
	}
	if f.asJSON {
		return cli.PrintJSON(c.OutOrStdout(), halves)
	}
	return eval.WriteDerived(c.OutOrStdout(), halves)
}

func (f *evalFlags) run(c *cobra.Command, sessions []*eval.Session) (*eval.Result, error) {
	o := &f.options
	if f.recipe != "" {
		at, err := packcli.FindRecipe(f.recipe)
		if err != nil {
			return nil, err
		}
		r, err := at.Load()
		if problems := (recipe.Problems)(nil); errors.As(err, &problems) {
			return nil, fmt.Errorf("%s has mistakes; 'ctxfs recipe check %s' shows them", f.recipe, f.recipe)
		}
		if err != nil {
			return nil, err
		}
		o.Recipe = eval.FromRecords(r)
	}
	tenth := 0
	o.Progress = func(done, of int) {
		if now := done * 10 / of; now > tenth {
			tenth = now
			fmt.Fprintf(c.ErrOrStderr(), "ctxfs: %d of %d replays\n", done, of)
		}
	}
	result, err := eval.Run(c.Context(), sessions, *o)
	if err != nil || f.lost == "" {
		return result, err
	}
	lost := result.Lost
	result.Lost = nil
	return result, eval.WriteLost(f.lost, lost)
}
