package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/usage"
)

// run executes one command line and gives its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	verb, err := root.ExecuteC()
	if err == nil {
		return exitOK
	}
	var quiet silent
	if !errors.As(err, &quiet) {
		fmt.Fprintln(stderr, "ctxfs:", inWords(err))
	}
	code := exitCode(err)
	if code == exitUsage {
		fmt.Fprintf(stderr, "Usage: %s\nMore: %s --help\n", verb.UseLine(), verb.CommandPath())
	}
	return code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "ctxfs",
		Short: "A filesystem that is an agent's memory",
		Long: `ctxfs keeps the memory of LLM agents as plain files. Mount a store. Then mkdir
makes a session, >> appends a message that nothing can take away again, and
cat context/pack.md prints a prompt that fits its token budget.

` + exitHelp,
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
	root.AddCommand(
		mountCmd(), umountCmd(),
		packCmd(), searchCmd(), whyCmd(), diffCmd(), statsCmd(), importCmd(), exportCmd(),
		recipeCmd(), sessionCmd(), spaceCmd(), trustCmd(), verifyCmd(), headCmd(), historyCmd(), arrivalsCmd(), fsckCmd(), gcCmd(), evalCmd(), clusterCmd(),
		installCmd(), uiCmd(), topCmd(), mcpCmd(), memoryCmd(), snippetCmd(), hookCmd(),
		doctorCmd(), versionCmd(), completionCmd(), runnerCmd(), hookImportCmd(), touchCmd(), genManCmd(),
	)
	completeArgs(root)
	usage.NameMissing(root)
	markRun(root)
	root.CompletionOptions.DisableDefaultCmd = true // ours has no PowerShell
	return root
}

// group makes c a verb that only holds others. Alone it prints its help; a word
// that is none of them is wrong usage.
func group(c *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.DisableFlagsInUseLine = true
	c.AddCommand(verbs...)
	return c
}
