package main

import (
	"github.com/spf13/cobra"
)

func completionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish",

		DisableFlagsInUseLine: true,

		Short: "Print the completion script of a shell",
		Long:  "Print a script that teaches a shell to complete verbs, flags and paths.",
		Example: `  source <(ctxfs completion bash)                       # this shell only
  ctxfs completion bash > /usr/share/bash-completion/completions/ctxfs
  ctxfs completion zsh > "${fpath[1]}/_ctxfs"
  ctxfs completion fish > ~/.config/fish/completions/ctxfs.fish`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(c *cobra.Command, args []string) error {
			out := c.OutOrStdout()
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(out, true)
			case "zsh":
				return c.Root().GenZshCompletion(out)
			}
			return c.Root().GenFishCompletion(out, true)
		},
	}
}
