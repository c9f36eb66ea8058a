package cli

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
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

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

// RecipeFile is a recipe on disk and the home of the agent that contains its imports.
type RecipeFile struct {
	Arg   string // the argument of the user
	Home  string // directory that serves as the agent's home
	Entry string // slash-separated, relative to Home
}

// FindRecipe returns the recipe file that arg names. Its home is the directory of the file, and
// four directories above it for context/context.yaml of a session.
func FindRecipe(arg string) (f RecipeFile, err error) {
	if _, _, err := daemon.MountAround(arg); err != nil {
		return f, err
	}
	abs, err := filepath.Abs(arg)
	if err != nil {
		return f, err
	}
	f = RecipeFile{arg, filepath.Dir(abs), filepath.Base(abs)}
	inSession, _ := path.Match("*/session/*/"+ctxabi.RecipeFile, lastNames(abs, 5))
	if inSession {
		f.Home = filepath.Join(abs, "../../../..")
		f.Entry = lastNames(abs, 4)
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

// Load reads the recipe and its imports. Mistakes in them are an error of type recipe.Problems.
func (f RecipeFile) Load() (*recipe.Recipe, error) {
	home, err := os.OpenRoot(f.Home)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	// A file that cannot be read at all is no mistake in a recipe.
	if _, err := readRegular(home, f.Entry); err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(f.Arg, `""`), err)
	}
	return recipe.Load(f.Entry, func(name string) ([]byte, error) { return readRegular(home, path.Clean(name)) })
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
func (f RecipeFile) inSession() bool { return f.Entry != path.Base(f.Entry) }

// shown is what the user calls a file of the recipe.
func (f RecipeFile) shown(name string) string {
	if name == f.Entry {
		return f.Arg
	}
	dir := filepath.Dir(f.Arg)
	if f.inSession() {
		dir = filepath.Join(f.Arg, "../../../..")
	}
	return filepath.Join(dir, name)
}
