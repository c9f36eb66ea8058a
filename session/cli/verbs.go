package cli

import "github.com/spf13/cobra"

// Register adds the verbs of this package to root.
func Register(root *cobra.Command) {
	root.AddCommand(sessionCmd(), spaceCmd(), headCmd(), arrivalsCmd())
}
