package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/agents/mcp/memory"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
)

func memoryCmd() *cobra.Command {
	var mount, agent, dir string
	c := &cobra.Command{
		Use:   "memory [flags] < command.json",
		Short: "Answer a command of Anthropic's memory tool from an agent's memory/",
		Long: `Read one command of the memory tool (memory_20250818: view, create, str_replace,
insert, delete, rename) as JSON from standard input, do it in memory/ of the
agent's home, and print the answer, word by word as the tool's documentation has
it. /memories is that directory; no path leads out of it. A pack shows those of
its files that fit the task best.

A refusal is an answer for the model, too: it is printed, and the exit code is 1.
A harness then sets is_error of the tool_result.

` + cli.ExitHelp,
		Example: `  echo '{"command":"view","path":"/memories"}' | ctxfs memory --agent coder
  jq -c .input tool_use.json | ctxfs memory --mount /ctx --agent coder
  ctxfs memory --dir ./memory < command.json      # any directory`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			notes := memory.At(dir)
			if dir == "" {
				if agent == "" {
					return cli.Usagef("whose memory? Give --agent AGENT or --dir DIR")
				}
				root, err := locate.Mount(mount)
				if err != nil {
					return err
				}
				home, err := locate.AgentDir(root, agent)
				if err != nil {
					return err
				}
				notes = memory.Of(home)
			}
			data, err := io.ReadAll(io.LimitReader(c.InOrStdin(), 4*memory.MaxFile))
			if err != nil {
				return err
			}
			command, err := memory.Parse(data)
			answer := ""
			if err == nil {
				answer, err = notes.Do(command)
			}
			var refused memory.Refusal
			if errors.As(err, &refused) {
				fmt.Fprintln(c.OutOrStdout(), string(refused))
				return cli.Silent{Code: cli.ExitFailed}
			}
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), answer)
			}
			return err
		},
	}
	cli.MountFlag(c, &mount)
	c.Flags().StringVar(&agent, "agent", "", "use memory/ of this `AGENT` of yours")
	c.Flags().StringVar(&dir, "dir", "", "use `DIR` as the memory instead")
	return c
}
