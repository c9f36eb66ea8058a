package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// makeRoot returns a new root command with all verbs. The main program sets it.
var makeRoot func() *cobra.Command

// run executes one command line and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	root := makeRoot()
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

// group makes c a verb that only holds others. Alone it prints its help; a word
// that is none of them is wrong usage.
func group(c *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.DisableFlagsInUseLine = true
	c.AddCommand(verbs...)
	return c
}

// addTo adds sub-verbs to a verb of another package, which registers before.
func addTo(root *cobra.Command, verb string, subs ...*cobra.Command) {
	parent, _, err := root.Find([]string{verb})
	if err != nil {
		panic(err)
	}
	parent.AddCommand(subs...)
}
