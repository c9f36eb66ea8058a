package main

import "github.com/spf13/cobra"

// registerPack adds the verbs of this package to root.
func registerPack(root *cobra.Command) {
	root.AddCommand(packCmd(), recipeCmd())
}
