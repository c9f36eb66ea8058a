package main

import "github.com/spf13/cobra"

// registerSearch adds the verbs of this package to root.
func registerSearch(root *cobra.Command) {
	root.AddCommand(searchCmd())
}
