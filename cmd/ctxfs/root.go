package main

import (
	"github.com/spf13/cobra"

	agentscli "github.com/ctxfs/ctxfs/agents/cli"
	evalcli "github.com/ctxfs/ctxfs/eval/cli"
	fscli "github.com/ctxfs/ctxfs/fs/cli"
	gccli "github.com/ctxfs/ctxfs/gc/cli"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/usage"
	packcli "github.com/ctxfs/ctxfs/pack/cli"
	runcli "github.com/ctxfs/ctxfs/run/cli"
	searchcli "github.com/ctxfs/ctxfs/search/cli"
	sessioncli "github.com/ctxfs/ctxfs/session/cli"
	viewscli "github.com/ctxfs/ctxfs/views/cli"
)

// packages register the verbs of their folders. A package that adds sub-verbs to a verb follows the
// package of that verb.
var packages = []func(root *cobra.Command){
	fscli.Register, packcli.Register, searchcli.Register, sessioncli.Register, gccli.Register, runcli.Register,
	viewscli.Register, agentscli.Register, evalcli.Register,
}

func init() { cli.NewRoot = newRoot }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "ctxfs",
		Short: "A filesystem that is an agent's memory",
		Long: `ctxfs keeps the memory of LLM agents as plain files. Mount a store. Then mkdir
makes a session, >> appends a message that nothing can take away again, and
cat context/pack.md prints a prompt that fits its token budget.

` + cli.ExitHelp,
		Example: `  ctxfs mount /ctx                                   # serve the default store
  mkdir -p /ctx/home/$(id -u)/agent/coder/session/s1
  cd /ctx/home/$(id -u)/agent/coder/session/s1
  echo '{"role":"user","content":"hi"}' >> messages.jsonl
  cat context/pack.md
  ctxfs umount /ctx`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       thisVersion().String(), // makes --version and -v
	}
	root.SetVersionTemplate("ctxfs {{.Version}}\n")
	for _, register := range packages {
		register(root)
	}
	root.AddCommand(doctorCmd(), versionCmd(), completionCmd(), genManCmd())
	cli.CompleteArgs(root)
	usage.NameMissing(root)
	cli.MarkFailures(root)
	root.CompletionOptions.DisableDefaultCmd = true // ours has no PowerShell
	return root
}
