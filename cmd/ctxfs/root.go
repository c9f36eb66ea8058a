package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/transcript"
)

// Exit codes. They are part of what scripts rely on: see exitHelp.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitBusy   = 3
)

const exitHelp = `Exit codes:
  0  done
  1  failed, or problems were found (the reason is on standard error)
  2  wrong usage: unknown verb or flag, wrong number of arguments
  3  busy: another daemon serves the store, the mountpoint is in use, or
     another import into the session runs`

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

// inWords is what a person reads of an error: a refusal's own sentence where
// nothing was added to it, without operation and kind, which it repeats.
func inWords(err error) string {
	for {
		switch e := err.(type) {
		case failure:
			err = e.error
			continue
		case usageError:
			err = e.error
			continue
		case transcript.UsageError:
			err = e.Unwrap()
			continue
		}
		return ctxabi.Reason(err)
	}
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
		recipeCmd(), sessionCmd(), spaceCmd(), trustCmd(), verifyCmd(), headCmd(), fsckCmd(), gcCmd(), evalCmd(),
		mcpCmd(), memoryCmd(), snippetCmd(), hookCmd(),
		doctorCmd(), versionCmd(), completionCmd(), runnerCmd(), touchCmd(), genManCmd(),
	)
	completeArgs(root)
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

// failure is an error met while doing what was asked. Any error without it
// comes from cobra, before a verb ran: wrong usage.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// silent is a failure that was already told to the user.
type silent struct{ code int }

func (silent) Error() string { return "" }

// usageError is wrong usage that only the verb itself could see.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// markRun makes every verb's own errors a failure.
func markRun(c *cobra.Command) {
	for _, sub := range c.Commands() {
		markRun(sub)
	}
	if do := c.RunE; do != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			if err := do(c, args); err != nil {
				return failure{err}
			}
			return nil
		}
	}
}

func exitCode(err error) int {
	var said silent
	var usage usageError
	var choice transcript.UsageError
	var failed failure
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &said):
		return said.code
	case errors.As(err, &usage), errors.As(err, &choice), !errors.As(err, &failed):
		return exitUsage
	case errors.Is(err, ctxabi.ErrLocked), errors.As(err, new(busy)):
		return exitBusy
	}
	return exitFailed
}

// busy is a mountpoint that is in use.
type busy struct{ error }

func (b busy) Unwrap() error { return b.error }
