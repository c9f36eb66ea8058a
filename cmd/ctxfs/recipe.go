package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

func recipeCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "recipe",
		Short: "Check and show what packs are made of",
		Long: `A recipe, context.yaml, lists what a session's prompt is made of. It is in the
agent's home, or in context/ of one session. Without one the built-in recipe
applies.`,
		Example: "  ctxfs recipe default > context.yaml\n  ctxfs recipe check context.yaml\n  ctxfs recipe show coder/s1",
	}
	return cli.Group(c, recipeCheckCmd(), recipeShowCmd(), recipeDefaultCmd(), recipeSchemaCmd())
}

func recipeSchemaCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of recipes, for editors",
		Long: `Print the JSON Schema of context.yaml. With it an editor completes keys and
marks mistakes. Write it to a file and name that file in the first line of a
recipe:

  # yaml-language-server: $schema=/home/me/.config/ctxfs-recipe.json`,
		Example: "  ctxfs recipe schema > ~/.config/ctxfs-recipe.json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(recipe.Schema())
			return err
		},
	}
}

func recipeDefaultCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "default",
		Short:   "Print the built-in recipe, to start from",
		Long:    "Print the recipe that applies if there is no other. A context.yaml with this text\nmeans the same; change what should be different. docs/recipe.md has every key, with\nan example.",
		Example: "  ctxfs recipe default > /ctx/home/$(id -u)/agent/coder/context.yaml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(recipe.DefaultYAML())
			return err
		},
	}
}

// recipeFile is a recipe on the disk, with the agent's home that its imports are found in.
type recipeFile struct {
	arg   string // as the user calls it
	home  string // directory that stands for the agent's home
	entry string // slash-separated, relative to home
}

// findRecipe returns which home a recipe belongs to: four directories up for a
// session's context/context.yaml, else the directory that holds it.
func findRecipe(arg string) (f recipeFile, err error) {
	if _, _, err := daemon.MountAround(arg); err != nil {
		return f, err
	}
	abs, err := filepath.Abs(arg)
	if err != nil {
		return f, err
	}
	f = recipeFile{arg, filepath.Dir(abs), filepath.Base(abs)}
	inSession, _ := path.Match("*/session/*/"+ctxabi.RecipeFile, lastNames(abs, 5))
	if inSession {
		f.home = filepath.Join(abs, "../../../..")
		f.entry = lastNames(abs, 4)
	}
	return f, nil
}

// lastNames returns the last n components of a path.
func lastNames(abs string, n int) string {
	tail := ""
	for range n {
		tail = path.Join(filepath.Base(abs), tail)
		abs = filepath.Dir(abs)
	}
	return tail
}

// load reads the recipe with all that it imports. What is wrong with it is recipe.Problems.
func (f recipeFile) load() (*recipe.Recipe, error) {
	home, err := os.OpenRoot(f.home)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	// A file that cannot be read at all is no mistake in a recipe.
	if _, err := readRegular(home, f.entry); err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(f.arg, `""`), err)
	}
	return recipe.Load(f.entry, func(name string) ([]byte, error) { return readRegular(home, path.Clean(name)) })
}

// readRegular reads a regular file below home; of one that is larger than any recipe only so much
// that this is seen. Its error does not name the file.
func readRegular(home *os.Root, name string) ([]byte, error) {
	file, err := home.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // a FIFO waits for nobody
	if err == nil {
		defer file.Close()
		var fi os.FileInfo
		switch fi, err = file.Stat(); {
		case err != nil:
		case fi.IsDir():
			return nil, errors.New("is a directory")
		case !fi.Mode().IsRegular():
			return nil, errors.New("it is not a regular file")
		default:
			var b []byte
			if b, err = io.ReadAll(io.LimitReader(file, ctxabi.MaxControl+1)); err == nil {
				return b, nil
			}
		}
	}
	var at *iofs.PathError
	switch {
	case errors.As(err, &at) && at.Err.Error() == "path escapes from parent":
		return nil, errors.New("it is a link that leads out of the agent's home")
	case errors.As(err, &at):
		return nil, at.Err
	}
	return nil, err
}

// inSession reports whether it is the recipe of one session.
func (f recipeFile) inSession() bool { return f.entry != path.Base(f.entry) }

// shown is what the user calls a file of the recipe.
func (f recipeFile) shown(name string) string {
	if name == f.entry {
		return f.arg
	}
	dir := filepath.Dir(f.arg)
	if f.inSession() {
		dir = filepath.Join(f.arg, "../../../..")
	}
	return filepath.Join(dir, name)
}
