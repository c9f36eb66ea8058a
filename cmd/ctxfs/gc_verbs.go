package main

import "github.com/spf13/cobra"

// registerGC adds the verbs of this package to root.
func registerGC(root *cobra.Command) {
	root.AddCommand(gcCmd(), verifyCmd(), fsckCmd())
}
