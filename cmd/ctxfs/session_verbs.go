package main

import "github.com/spf13/cobra"

// registerSession adds the verbs of this package to root.
func registerSession(root *cobra.Command) {
	root.AddCommand(sessionCmd(), spaceCmd(), headCmd(), historyCmd(), arrivalsCmd())
}
