package main

import "github.com/spf13/cobra"

// registerRun adds the verbs of this package to root.
func registerRun(root *cobra.Command) {
	root.AddCommand(trustCmd(), runnerCmd())
}
