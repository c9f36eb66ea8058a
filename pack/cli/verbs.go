package cli

import (
	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/cli"
)

// Register adds the verbs of this package to root.
func Register(root *cobra.Command) {
	root.AddCommand(packCmd(), recipeCmd())
}

func recipeCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "recipe",
		Short: "Check and show the inputs of packs",
		Long: `A recipe, context.yaml, lists what a session's prompt is made of. It is in the
agent's home, or in context/ of one session. Without one the built-in recipe
applies.`,
		Example: "  ctxfs recipe default > context.yaml\n  ctxfs recipe check context.yaml\n  ctxfs recipe show coder/s1",
	}
	return cli.Group(c, recipeCheckCmd(), recipeShowCmd(), recipeDefaultCmd(), recipeSchemaCmd())
}
