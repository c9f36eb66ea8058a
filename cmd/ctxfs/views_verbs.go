package main

import "github.com/spf13/cobra"

// registerViews adds the verbs of this package to root.
func registerViews(root *cobra.Command) {
	root.AddCommand(whyCmd(), diffCmd(), statsCmd(), topCmd(), uiCmd())
}
