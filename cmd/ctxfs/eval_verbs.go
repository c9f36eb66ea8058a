package main

import "github.com/spf13/cobra"

// registerEval adds the verbs of this package to root.
func registerEval(root *cobra.Command) {
	root.AddCommand(evalCmd())
}
