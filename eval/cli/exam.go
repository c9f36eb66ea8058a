package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/eval"
	"github.com/ctxfs/ctxfs/eval/exam"
	"github.com/ctxfs/ctxfs/internal/cli"
)

func evalExamCmd() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "exam",
		Short: "Ask readers what they learn from prompts, and add up their grades",
		Long: `An exam shows how well a reader answers questions about a history who sees
nothing but a prompt of it. Questions, answers and grades are JSON files, which
people or models write. ctxfs makes the prompts, hides whose they are, and adds
up the grades; it asks no model. docs/eval.md describes each step.`,
		Example: `  ctxfs eval exam prepare --out exam1 ~/sessions/long.jsonl
  ctxfs eval exam score exam1`,
	}, examPrepareCmd(), examScoreCmd())
}

func examPrepareCmd() *cobra.Command {
	var o exam.Options
	var methods []string
	c := &cobra.Command{
		Use:   "prepare [flags] --out DIR PATH...",
		Short: "Go on with an exam as far as its files allow",
		Long: `Cut sessions into histories, and write these to DIR. Once there are questions
about each of them in DIR/questions, write prompts of all methods and a folder for
each reader. Once there are all answers, write sheets for graders. Run the same
command again after each step: it prints what it waits for.

A long session is cut into up to six histories, so that a prompt holds at most 15 %
of one; a short one stays whole. No reader sees two prompts of one session.

PATH is as for 'ctxfs eval'. A method is one of
` + strings.Join(eval.MethodSlugs(), ", ") + `,
or NAME=DIR with prompts that were made elsewhere, a file P01.md for history P01.`,
		Example: `  ctxfs eval exam prepare --out exam1 --budget 8000 ~/sessions/long.jsonl
  ctxfs eval exam prepare --out exam2 --budget 1000 --methods last,ctxfs,summary=made ~/sessions/short`,
		Args: cobra.MinimumNArgs(1),
		PreRunE: func(*cobra.Command, []string) (err error) {
			if o.Budget < 500 {
				return cli.Usagef("--budget %d: at least 500 tokens", o.Budget)
			}
			if o.Parts < 0 {
				return cli.Usagef("--parts must not be negative")
			}
			if o.Methods, err = exam.ParseMethods(methods); err != nil {
				return cli.Usagef("--methods: %w", err)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			sessions, err := eval.Load(args, o.Encoding, func(why string) { fmt.Fprintln(c.ErrOrStderr(), "ctxfs:", why) })
			if err != nil {
				return err
			}
			status, err := exam.Prepare(sessions, o)
			if err != nil {
				return err
			}
			for _, why := range status.Doubts {
				fmt.Fprintln(c.ErrOrStderr(), "ctxfs:", why)
			}
			return status.WriteText(c.OutOrStdout())
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.Out, "out", "", "the `DIR` of the exam")
	fl.IntVar(&o.Budget, "budget", 8000, "`TOKENS` of a prompt")
	fl.StringSliceVar(&methods, "methods", exam.DefaultMethods, "the `METHODS` that are compared, separated by commas")
	fl.IntVar(&o.Parts, "parts", 0, "cut each session into `N` histories; 0: by its length")
	fl.StringVar(&o.Encoding, "encoding", "", "an encoding or a model's `NAME` (default o200k_base)")
	_ = c.MarkFlagRequired("out")
	return c
}

func examScoreCmd() *cobra.Command {
	var against string
	var asJSON bool
	c := &cobra.Command{
		Use:   "score [flags] DIR...",
		Short: "Add up the grades of finished exams",
		Long: `Print the mean grade of each method, for all questions and for each kind, and how
one method compares with the others: the mean difference of the grades of the same
question, with an interval that holds it in 95 of 100 cases. A kind with less than
40 questions is shown, not judged. Several exams of the same methods are added up
together.`,
		Example: `  ctxfs eval exam score exam1 exam2
  ctxfs eval exam score --json exam1 | jq '.kinds[0].means'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			score, err := exam.AddUp(args, against)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), score)
			}
			return score.WriteMarkdown(c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&against, "against", "", "the `METHOD` that the others are compared with (default ctxfs, or the first)")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}
