package cli

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
	packsource "github.com/ctxfs/ctxfs/pack/source"
)

func recipeShowCmd() *cobra.Command {
	var store string
	var asJSON bool
	var hide cli.RedactFlags
	c := &cobra.Command{
		Use:   "show [flags] SESSION",
		Short: "Show the recipe that a session's packs are made by",
		Long: `Show the recipe that applies to a session, as YAML: imports are merged, defaults
are filled in, and each part has the file and line that it is from. It names the
strategy that applies now; if that is not the one you asked for, it says what
that one lacks. If the recipe is wrong, it prints the mistakes and the recipe that
is used until you correct them: the last good one, or the built-in one. It only
reads files and runs no generator. Beside a daemon that redacts, and with --redact,
it shows no secrets.

` + locate.SessionHelp + `

` + cli.ExitHelp,
		Example: "  ctxfs recipe show coder/s1\n  cd /ctx/home/1000/agent/coder/session/s1 && ctxfs recipe show .\n  ctxfs recipe show coder/s1 --json | jq '.Sources[].Block'",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := hide.Complete(); err != nil {
				return err
			}
			at, err := locate.Session(args[0], store)
			if err != nil {
				return err
			}
			m, _ := daemon.AnsweringMount(at.Store)
			r, err := StoreRedactor(hide, at.Store, m.Point)
			if err != nil {
				return err
			}
			shown, err := ShowRecipe(at)
			show := func() error {
				redactRecipe(r, shown.Recipe)
				return withoutSecrets(c.OutOrStdout(), r, func(out io.Writer) error {
					if asJSON {
						return cli.PrintJSON(out, shown.Recipe)
					}
					return shown.print(out)
				})
			}
			var wrong recipe.Problems
			if errors.As(err, &wrong) {
				report := Report{Problems: shown.file.Problems(wrong)}
				err = errors.Join(withoutSecrets(c.ErrOrStderr(), r, report.Print), shown.fallBack(at))
				if shown.instead == "" {
					fmt.Fprintln(c.ErrOrStderr(), "ctxfs: until you correct this, ctxfs uses the last good recipe, or the built-in one; context/pack.report.md says which")
					return errors.Join(err, cli.Silent{Code: cli.ExitFailed})
				}
				fmt.Fprintln(c.ErrOrStderr(), "ctxfs: until you correct this, ctxfs uses", shown.instead+":")
				if err == nil {
					err = show()
				}
				return errors.Join(err, cli.Silent{Code: cli.ExitFailed})
			}
			if err != nil {
				return err
			}
			return show()
		},
	}
	cli.StoreFlag(c, &store)
	hide.Add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// ShownRecipe is the recipe of one session.
type ShownRecipe struct {
	session  string
	dir      string     // of the session
	file     RecipeFile // zero: the built-in recipe
	instead  string     // what applies because the file is wrong; "": the file does, or nobody can tell
	Recipe   *recipe.Recipe
	strategy string
	note     string
}

// ShowRecipe reads the recipe that applies to a session: through a mount of its store, or else from
// the store.
func ShowRecipe(at locate.Place) (s ShownRecipe, err error) {
	s.session = at.Ref.Path()
	root := at.Store
	if i, ok := daemon.AnsweringMount(at.Store); ok {
		if _, err := os.Stat(filepath.Join(i.Point, s.session, ctxabi.ContextDir)); err == nil {
			root = i.Point
		}
	}
	s.dir = filepath.Join(root, s.session)
	if _, err := os.Stat(s.dir); errors.Is(err, iofs.ErrNotExist) {
		return s, fmt.Errorf("there is no session %s in %s; one of another store is named by its path in the mount", s.session, root)
	} else if err != nil {
		return s, err
	}
	s.Recipe = recipe.Default()
	home := filepath.Join(root, at.Ref.AgentHome())
	for _, entry := range []string{path.Join(ctxabi.SessionDir, at.Ref.Session, ctxabi.RecipeFile), ctxabi.AgentRecipeFile} {
		if _, err := os.Stat(filepath.Join(home, entry)); errors.Is(err, iofs.ErrNotExist) {
			continue
		}
		s.file = RecipeFile{filepath.Join(home, entry), home, entry}
		if s.Recipe, err = s.file.Load(); err != nil {
			return s, err
		}
		break
	}
	return s, s.chooseStrategy(at)
}

// chooseStrategy finds the strategy that applies with s's recipe.
func (s *ShownRecipe) chooseStrategy(at locate.Place) error {
	plan, err := os.ReadFile(filepath.Join(s.dir, ctxabi.PlanFile))
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	diff, err := os.ReadFile(filepath.Join(s.dir, ctxabi.DiffFile))
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	s.strategy, s.note = blocks.StrategyOf(s.Recipe, at.Ref.Agent, plan, diff)
	return nil
}

// fallBack makes s the recipe that packs are made by while the file is wrong. No mount shows it: who may not read the store learns nothing.
func (s *ShownRecipe) fallBack(at locate.Place) error {
	store, err := cli.OpenToRead(at.Store)
	if errors.Is(err, iofs.ErrPermission) {
		return nil
	} else if err != nil {
		return err
	}
	defer store.Close()
	x, err := store.Session(at.Ref)
	if err != nil {
		return err
	}
	env, err := os.ReadFile(filepath.Join(s.dir, ctxabi.EnvFile))
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	s.instead = "the last good recipe"
	if s.Recipe = packsource.LastGoodRecipe(x, env); s.Recipe == nil {
		s.Recipe, s.instead = recipe.Default(), "the built-in recipe"
	}
	return s.chooseStrategy(at)
}

func (s ShownRecipe) print(out io.Writer) error {
	from := "the built-in recipe; there is no context.yaml"
	if s.file.Entry != "" {
		from = s.file.Arg
	}
	if s.instead != "" {
		from = s.instead + "; " + from + " is wrong"
	}
	fmt.Fprintf(out, "# session   %s\n# recipe    %s\n# strategy  %s\n", s.session, from, s.strategy)
	if s.note != "" {
		fmt.Fprintf(out, "#           %s\n", strings.ReplaceAll(s.note, "\n", "\n#           "))
	}
	for _, t := range s.Recipe.Strategies {
		if t.Name == s.strategy && len(t.LeavesOut) > 0 {
			fmt.Fprintf(out, "#           it leaves out %s\n", strings.Join(t.LeavesOut, ", "))
		}
	}
	// Built-in strategies that do not apply say nothing of this session.
	r := *s.Recipe
	r.Strategies = slices.DeleteFunc(slices.Clone(r.Strategies), func(t recipe.Strategy) bool {
		return t.Origin == (recipe.Origin{}) && (t.Name != s.strategy || len(t.Sections) == 0)
	})
	if len(r.Strategies) == 0 {
		r.Strategies = nil
	}
	_, err := out.Write(r.YAML())
	return err
}
