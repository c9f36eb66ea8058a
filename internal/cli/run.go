package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// NewRoot returns a new root command with all verbs. The main program sets it.
var NewRoot func() *cobra.Command

// Run executes one command line and returns its exit code. It prints the error of the verb, and the
// usage line after wrong usage.
func Run(args []string, stdout, stderr io.Writer) int {
	root := NewRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	verb, err := root.ExecuteC()
	if err == nil {
		return ExitOK
	}
	var quiet Silent
	if !errors.As(err, &quiet) {
		fmt.Fprintln(stderr, "ctxfs:", Message(err))
	}
	code := ExitCode(err)
	if code == ExitUsage {
		fmt.Fprintf(stderr, "Usage: %s\nMore: %s --help\n", verb.UseLine(), verb.CommandPath())
	}
	return code
}

// Group adds sub-verbs to c, which has no action of its own: alone it prints its help, and an
// unknown sub-verb is wrong usage.
func Group(c *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.DisableFlagsInUseLine = true
	c.AddCommand(verbs...)
	return c
}
