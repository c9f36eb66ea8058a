package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/agents/mcp"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
)

func snippetCmd() *cobra.Command {
	var mount, format string
	c := &cobra.Command{
		Use:   "snippet [flags] [SESSION]",
		Short: "Print the paragraph about its memory for an agent's system prompt",
		Long: `Print the paragraph that describes an agent's memory to it, for its system prompt:
where its session is, what it may write, and how to read what left the prompt. It
has fewer than 250 tokens, and every path in it exists.

Without SESSION the paragraph names $CTXFS_SESSION, or else the pattern of the
path, for prompts that are written before there is a session. --format md adds a
heading, for CLAUDE.md, AGENTS.md and the like.

For a SESSION, the command lets the agent's prompts ask for a summary before a
compaction, as summary_request: on does in a recipe.

` + locate.SessionHelp + `

` + cli.ExitHelp,
		Example: `  ctxfs snippet coder/s1
  ctxfs snippet . >> ../../system_prompt.md
  ctxfs snippet --format md >> CLAUDE.md`,
		Args: cobra.MaximumNArgs(1),
		PreRunE: func(*cobra.Command, []string) error {
			if format != "text" && format != "md" {
				return cli.Usagef("--format %q: text or md", format)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			dir, arg := "", os.Getenv(locate.SessionEnv)
			if len(args) > 0 {
				arg = args[0]
			}
			if arg != "" {
				if dir, err = locate.SessionDir(arg, mount, false); err != nil {
					return err
				}
				mcp.Ask(dir)
			} else {
				root, err := locate.Mount(mount)
				if err != nil {
					return err
				}
				dir = filepath.Join(root, "home", fmt.Sprint(os.Getuid()), ctxabi.AgentDir, "AGENT", ctxabi.SessionDir, "SESSION")
			}
			if format == "md" {
				fmt.Fprint(c.OutOrStdout(), "## Your memory\n\n")
			}
			fmt.Fprint(c.OutOrStdout(), mcp.Snippet(dir))
			return nil
		},
	}
	cli.MountFlag(c, &mount)
	c.Flags().StringVar(&format, "format", "text", "`FORMAT`: text, or md with a heading")
	c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "md"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}
