package cli

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// Report is the result of recipe check for one file.
type Report struct {
	File     string    `json:"file"`
	OK       bool      `json:"ok"`
	Problems []Problem `json:"problems"`
	Warnings []Problem `json:"warnings"`
}

// Problem is one mistake in a recipe file.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"`
}

func recipeCheckCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check [flags] FILE",
		Short: "Find the mistakes in a recipe",
		Long: `Check a recipe and all that it imports. It may be in any directory. Each mistake
is one line, FILE:LINE:COLUMN: what is wrong and what is allowed. "warning:" marks
what is right but unwise, such as a block that would change the beginning of the
prompt each turn. A warning is not a failure.

The directory of FILE is taken as the agent's home: imports are below it, and
packages in its node_modules/ or packages/. For context/context.yaml of a session
the home is that of its agent.

` + cli.ExitHelp,
		Example: "  ctxfs recipe check context.yaml\n  ctxfs recipe check context.yaml --json | jq -r '.problems[].text'",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := checkRecipe(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				err = cli.PrintJSON(c.OutOrStdout(), r)
			} else {
				err = r.Print(c.OutOrStdout())
			}
			if err == nil && !r.OK {
				err = cli.Silent{Code: cli.ExitFailed}
			}
			return err
		},
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// checkRecipe fails only where the file cannot be read.
func checkRecipe(arg string) (Report, error) {
	report := Report{File: arg, Problems: []Problem{}, Warnings: []Problem{}}
	f, err := FindRecipe(arg)
	if err != nil {
		return report, err
	}
	r, err := f.Load()
	var wrong recipe.Problems
	switch {
	case errors.As(err, &wrong):
		report.Problems = f.Problems(wrong)
	case err != nil:
		return report, err
	default:
		report.Warnings = f.Problems(r.Warnings())
		undefined, err := f.undefined(r)
		if err != nil {
			return report, err
		}
		if f.inSession() {
			report.Problems = f.Problems(undefined)
		} else { // the context/env of each session may define it
			report.Warnings = append(report.Warnings, f.Problems(undefined)...)
		}
		report.OK = len(report.Problems) == 0
	}
	return report, nil
}

// undefined lists the variables that neither the recipe nor, for a recipe of a session, its
// context/env defines.
func (f RecipeFile) undefined(r *recipe.Recipe) (recipe.Problems, error) {
	if !f.inSession() {
		return r.Undefined(nil), nil
	}
	env, err := os.ReadFile(filepath.Join(f.Home, path.Dir(path.Dir(f.Entry)), ctxabi.EnvFile))
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return nil, err
	}
	return r.Undefined(env), nil
}

// Problems converts the mistakes of a recipe for the output: with the file names of the user.
func (f RecipeFile) Problems(list recipe.Problems) []Problem {
	out := []Problem{}
	for _, p := range list {
		out = append(out, Problem{f.shown(p.File), p.Line, p.Column, p.Text})
	}
	return out
}

// Print writes one line for each problem and warning.
func (r Report) Print(out io.Writer) error {
	for _, p := range r.Problems {
		fmt.Fprintf(out, "%s:%d:%d: %s\n", p.File, p.Line, p.Column, p.Text)
	}
	for _, p := range r.Warnings {
		fmt.Fprintf(out, "%s:%d:%d: warning: %s\n", p.File, p.Line, p.Column, p.Text)
	}
	if r.OK {
		_, err := fmt.Fprintf(out, "%s: no mistakes\n", r.File)
		return err
	}
	return nil
}
