package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

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
	nameMissing(root)
	markRun(root)
	root.CompletionOptions.DisableDefaultCmd = true // ours has no PowerShell
	return root
}

// nameMissing makes each visible verb name the argument that is missing or too much, with an example, where cobra counts arguments.
func nameMissing(c *cobra.Command) {
	for _, sub := range c.Commands() {
		nameMissing(sub)
	}
	check := c.Args
	if check == nil || c.Hidden || c.HasSubCommands() {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err == nil || errors.As(err, new(usage.Error)) || len(args) == 1 && cobra.OnlyValidArgs(c, args) != nil {
			return err
		}
		wanted := required(c.Use)
		example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
		example, _, _ = strings.Cut(example, "  #")
		if example = strings.TrimSpace(example); example != "" {
			example = "; for example: " + example
		}
		if len(args) < len(wanted) {
			missing := strings.ReplaceAll(strings.Join(wanted[len(args):], " and "), "...", "")
			if len(wanted)-len(args) > 1 {
				return usage.Errorf("%s are missing%s", missing, example)
			}
			return usage.Errorf("%s is missing%s", missing, example)
		}
		if len(args) == 0 { // of the ones that its flags make needless
			return usage.Errorf("an argument is missing%s", example)
		}
		return usage.Errorf("%s takes fewer arguments: %q is too much%s", c.CommandPath(), args[len(args)-1], example)
	}
}

// required returns the names of the arguments that a verb needs, as the first line of its usage has them.
func required(use string) (names []string) {
	line, _, _ := strings.Cut(use, "\n")
	line, _, _ = strings.Cut(line, " < ") // standard input is no argument
	words := strings.Fields(line)
	for n := 1; n < len(words); n++ {
		switch word := strings.TrimLeft(words[n], "{"); {
		case strings.HasPrefix(word, "--"):
			n++ // its value
		case word != "|" && word[0] != '[':
			names = append(names, word)
		}
	}
	return names
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
